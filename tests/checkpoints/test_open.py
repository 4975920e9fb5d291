"""Whatever a model is stored as, one function opens it; our own folders keep all there is."""

import json

import pytest
import small_vocabularies as small
import torch
from huggingface_hub.errors import LocalEntryNotFoundError
from published import Published, text
from small_gguf import written
from tiny import ALL

from clearhead.checkpoints.folder import read_own, write_own
from clearhead.checkpoints.foreign.huggingface import read_folder
from clearhead.checkpoints.open import open_parts
from clearhead.checkpoints.parts import Parts, Provenance
from clearhead.foundation.errors import CannotError, FileError
from clearhead.models import build
from clearhead.tokens import Sounds, read_vocabulary

LLAMA = Published(
    "LlamaForCausalLM",
    "LlamaConfig",
    {
        "vocab_size": 40,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 64,
    },
)


def logits(parts):
    with torch.no_grad():
        return parts.network(text(1, 2, 7)).logits_BTV


def test_a_folder_a_file_and_our_own_folder_are_told_apart(tmp_path):
    theirs = LLAMA.draw()
    theirs.save_pretrained(tmp_path / "folder")
    written(tmp_path / "a.gguf", theirs, "llama")
    write_own(read_folder(tmp_path / "folder"), tmp_path / "own")
    expected = logits(open_parts(tmp_path / "folder"))
    assert torch.equal(logits(open_parts(str(tmp_path / "own"))), expected)
    assert torch.equal(logits(open_parts(tmp_path / "a.gguf")), expected)


@pytest.mark.parametrize("name", ALL)
def test_our_own_folder_gives_back_every_bit(tmp_path, name):
    network = build(ALL[name]).eval()
    given = Parts(
        network=network,
        architecture=ALL[name],
        vocabulary=None,
        provenance=Provenance(source="here", notes={"why": "a test"}, settings={"a": [1]}),
        preparation=Sounds(bands=8, seconds=1),
    )
    write_own(given, tmp_path)
    found = read_own(tmp_path)
    assert found.architecture == ALL[name]
    assert found.provenance == given.provenance
    assert found.preparation == given.preparation
    before, after = network.state_dict(), found.network.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)


def test_a_vocabulary_comes_along(tmp_path):
    small.unigram(tmp_path)
    theirs = LLAMA.draw()
    theirs.save_pretrained(tmp_path)
    parts = read_folder(tmp_path)
    write_own(parts, tmp_path / "own")
    again = read_own(tmp_path / "own").vocabulary
    for each in small.SENTENCES:
        assert again.encode(each) == parts.vocabulary.encode(each)
    assert again.specials == read_vocabulary(tmp_path).specials


def test_a_newer_format_is_refused(tmp_path):
    theirs = LLAMA.draw()
    theirs.save_pretrained(tmp_path)
    write_own(read_folder(tmp_path), tmp_path / "own")
    path = tmp_path / "own" / "clearhead.toml"
    path.write_text(path.read_text().replace("format = 1", "format = 2"))
    with pytest.raises(FileError, match=r"has format 2 and this Clearhead reads up to 1: update"):
        read_own(tmp_path / "own")


def test_a_model_on_the_hub_is_fetched_and_opened(tmp_path, monkeypatch):
    LLAMA.draw().save_pretrained(tmp_path)
    asked: list[str] = []

    def fetch(repository, **_):
        asked.append(repository)
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert torch.equal(logits(open_parts("hf:owner/name")), logits(open_parts(tmp_path)))
    assert asked == ["owner/name"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LocalEntryNotFoundError("no network\nmore"), "no network"),
        (ConnectionResetError(), "ConnectionResetError"),
    ],
)
def test_a_model_that_cannot_be_fetched_says_why_and_what_else_would_do(monkeypatch, error, reason):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    expected = rf"owner/name could not be fetched from the hub \({reason}\). Check the name and"
    with pytest.raises(FileError, match=expected):
        open_parts("hf:owner/name")


@pytest.mark.parametrize("name", ["mini-lm", "nowhere/at/all"])
def test_a_name_that_is_nothing_is_refused_with_what_could_be_meant(name):
    expected = rf"no file or folder '{name}', and no model of that name.* minilm, smollm2, whisper"
    with pytest.raises(FileError, match=expected):
        open_parts(name)


def test_a_paper_s_own_sizes_are_not_opened_as_if_they_had_weights():
    expected = r"comes without weights.* info transformer-big.* build\(transformer_big\(\)\)"
    with pytest.raises(CannotError, match=expected):
        open_parts("transformer-big")
    with pytest.raises(FileError, match=r"Did you mean 'transformer-base'\?"):
        open_parts("transformer-bas")


def test_a_folder_without_a_config_says_what_it_holds(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    expected = r"is a folder without clearhead.toml or config.json \(it holds notes.txt\). Give"
    with pytest.raises(FileError, match=expected):
        open_parts(tmp_path)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(
        FileError, match=r"notes\.txt is a file, and no model of .* we read\. Give a"
    ):
        open_parts(tmp_path / "notes.txt")


def test_a_config_that_is_not_json_is_refused(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FileError, match=r"config.json is not JSON .* damaged. Copy it again"):
        open_parts(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps([1]))
    with pytest.raises(FileError, match=r"config.json holds list where settings were wanted"):
        open_parts(tmp_path)
