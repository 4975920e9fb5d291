"""OpenAI's .pt files say what the model they hold says in `transformers`."""

import base64
import json

import pytest
import small_vocabularies as small
import torch
from openai_names import theirs_from
from published import TOLERANCE, VOCABULARY, Published, text
from transformers import AutoTokenizer, WhisperTokenizer
from transformers.models.whisper.tokenization_whisper import LANGUAGES as THEIR_LANGUAGES

from clearhead.checkpoints.foreign import whisper_file
from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.checkpoints.foreign.whisper_file import read_whisper
from clearhead.foundation.errors import FileError
from clearhead.tokens import Sounds, whisper_vocabulary
from clearhead.tokens.whisper_words import FIXED, LANGUAGES

CASE = Published(
    "WhisperForConditionalGeneration",
    "WhisperConfig",
    {
        "vocab_size": VOCABULARY,
        "d_model": 16,
        "num_mel_bins": 8,
        "max_source_positions": 10,
        "max_target_positions": 20,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "pad_token_id": 1,
        "bos_token_id": 2,
        "eos_token_id": 3,
        "decoder_start_token_id": 2,
    },
)
DIMS = {
    "n_mels": 8,
    "n_vocab": VOCABULARY,
    "n_audio_ctx": 10,
    "n_audio_state": 16,
    "n_audio_head": 4,
    "n_audio_layer": 2,
    "n_text_ctx": 20,
    "n_text_state": 16,
    "n_text_head": 2,
    "n_text_layer": 3,
}


def written(path, theirs, *, lost="", **changes):
    dims = {key: value for key, value in (DIMS | changes).items() if key != lost}
    torch.save({"dims": dims, "model_state_dict": theirs_from(theirs.state_dict())}, path)
    return path


def test_logits_are_those_of_the_model_it_holds(tmp_path):
    theirs = CASE.draw()
    parts = read_whisper(written(tmp_path / "a.pt", theirs))
    bands = torch.randn(3, 8, 20, generator=torch.Generator().manual_seed(1))
    ids = text(2, 3, 9)
    with torch.no_grad():
        ours = parts.network(bands, ids).logits_BTV
        expected = theirs(bands, decoder_input_ids=ids).logits
    torch.testing.assert_close(ours, expected, atol=TOLERANCE, rtol=0)
    assert parts.preparation == Sounds(bands=8)


def test_it_can_be_written_as_a_hugging_face_folder(tmp_path):
    theirs = CASE.draw()
    write_folder(read_whisper(written(tmp_path / "a.pt", theirs)), tmp_path / "folder")
    again = type(theirs).from_pretrained(tmp_path / "folder", pad_token_id=1)
    for (name, mine), other in zip(again.named_parameters(), theirs.parameters(), strict=True):
        assert torch.equal(mine, other), name
    assert read_folder(tmp_path / "folder").preparation == Sounds(bands=8)


@pytest.mark.parametrize(("size", "end"), [(51864, 50256), (51865, 50257), (51866, 50257)])
def test_special_ids_of_the_published_sizes_are_known(tmp_path, size, end):
    theirs = Published(CASE.model, CASE.config, CASE.settings | {"vocab_size": size}).draw()
    settings = read_whisper(written(tmp_path / "a.pt", theirs, n_vocab=size)).provenance.settings
    assert settings["eos_token_id"] == settings["pad_token_id"] == end
    assert settings["decoder_start_token_id"] == end + 1


def test_without_its_vocabulary_the_model_works_and_a_note_says_what_to_install(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(whisper_file, "installed_file", lambda *_: None)
    theirs = Published(CASE.model, CASE.config, CASE.settings | {"vocab_size": 51865}).draw()
    parts = read_whisper(written(tmp_path / "a.pt", theirs, n_vocab=51865))
    assert parts.vocabulary is None
    assert "pip install --no-deps openai-whisper" in parts.provenance.notes["vocabulary"]


def test_a_model_of_another_size_has_a_vocabulary_of_its_own(tmp_path):
    parts = read_whisper(written(tmp_path / "a.pt", CASE.draw()))
    assert parts.vocabulary is None
    assert "none of Whisper's own vocabularies" in parts.provenance.notes["vocabulary"]


def test_a_file_with_something_else_is_refused(tmp_path):
    torch.save({"weight": torch.zeros(2)}, tmp_path / "a.pt")
    with pytest.raises(FileError, match=r"a.pt has no dims and no model_state_dict: .* Whisper"):
        read_whisper(tmp_path / "a.pt")


def test_a_file_without_all_sizes_is_refused(tmp_path):
    theirs = CASE.draw()
    for path in (
        written(tmp_path / "a.pt", theirs, lost="n_mels"),
        written(tmp_path / "b.pt", theirs, n_text_state=24),
    ):
        with pytest.raises(FileError, match=r"gives the sizes .*, and n_vocab, n_mels.* wanted"):
            read_whisper(path)


def test_languages_are_those_of_transformers_in_their_order():
    assert LANGUAGES.split() == list(THEIR_LANGUAGES)


@pytest.fixture
def tiktoken(tmp_path):
    """A small vocabulary as OpenAI's package has it, and how many tokens it has."""
    small.byte_level(tmp_path, "whisper", ())
    ids = small.read(tmp_path)
    visible = {chr(byte): byte for byte in (*range(33, 127), *range(161, 173), *range(174, 256))}
    rest = [byte for byte in range(256) if byte not in visible.values()]
    bytes_of = visible | {chr(256 + number): byte for number, byte in enumerate(rest)}
    lines = [
        base64.b64encode(bytes(bytes_of[letter] for letter in token)) + f" {rank}".encode()
        for token, rank in ids.items()
    ]
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path, len(ids)


def test_a_tiktoken_file_has_the_ids_of_transformers(tiktoken, tmp_path):
    path, count = tiktoken
    ours = whisper_vocabulary(path, count + FIXED + 99)
    assert ours.size == count + FIXED + 99
    special = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|zh|>"]
    theirs = WhisperTokenizer(
        vocab=small.read(tmp_path),
        merges=[tuple(line.split()) for line in merges(tmp_path)],
        extra_special_tokens=special[1:],
    )
    for each in small.SENTENCES:
        if "<" not in each:
            expected = theirs(each, add_special_tokens=False)["input_ids"]
            assert list(ours.encode(each, specials=False).ids) == expected, each
    assert [ours.find(token) for token in special] == [count, count + 1, count + 2, count + 3]
    assert ours.find("<|nospeech|>") == count + FIXED + 99 - 1501 - 2
    assert ours.find("<|30.00|>") == ours.size - 1
    assert ours.specials.start == count + 1
    assert ours.specials.ends == (count,)
    pieces = ours.encode("ok").pieces
    assert pieces[:2] == ("<|startoftranscript|>", "<|notimestamps|>")
    assert pieces[-1] == "<|endoftext|>"


def merges(folder):
    lines = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def test_what_is_saved_opens_in_transformers(tiktoken, tmp_path):
    path, count = tiktoken
    ours = whisper_vocabulary(path, count + FIXED + 3)
    ours.save(tmp_path / "saved")
    (tmp_path / "saved" / "config.json").write_text(json.dumps({"model_type": "whisper"}))
    theirs = AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert len(theirs) == ours.size
    for each in small.SENTENCES:
        assert tuple(theirs(each)["input_ids"]) == ours.encode(each).ids


@pytest.mark.parametrize("languages", [0, 101])
def test_a_vocabulary_of_another_model_is_refused(tiktoken, languages):
    path, count = tiktoken
    expected = rf"leaves {languages} for languages; 1 to 100 were wanted"
    with pytest.raises(FileError, match=expected):
        whisper_vocabulary(path, count + FIXED + languages)


@pytest.mark.parametrize("line", [b"IQ==", b"I 3", b"IQ== x", b"IQ== 0 1"])
def test_a_damaged_vocabulary_is_refused(tiktoken, line):
    path, count = tiktoken
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(FileError, match=rf"line {count + 1}: a token in base64 and its rank"):
        whisper_vocabulary(path, count + FIXED + 3)
