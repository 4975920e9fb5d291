"""Our own folders on disk: nothing twice, nothing half, nothing mistaken for something else."""

from dataclasses import replace

import pytest
import ready
import tiny
import torch
from safetensors import safe_open

from clearhead.checkpoints import folder as own
from clearhead.checkpoints.folder import read_own, write_own
from clearhead.checkpoints.parts import Parts, Provenance
from clearhead.foundation.errors import ConfigError, FileError
from clearhead.models import build

SPEC = ready.ENCODER


def parts(spec=SPEC, *, seed: int = 0, **changes) -> Parts:
    given = {"vocabulary": ready.vocabulary(), "provenance": Provenance(source=f"seed {seed}")}
    network = tiny.made(spec, seed=seed, dtype=torch.float32)
    return Parts(network=network, architecture=spec, **given | changes)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_holds_what_it_says(tmp_path):
    write_own(parts(), tmp_path / "deep" / "model")
    assert set(contents(tmp_path / "deep" / "model")) == {
        "clearhead.toml",
        "model.safetensors",
        "provenance.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }


@pytest.mark.parametrize("shared", [True, False])
def test_a_table_both_sides_use_is_stored_once(tmp_path, shared):
    spec = replace(tiny.TRANSLATORS["encoder-decoder, shared words"], shared_words=shared)
    write_own(parts(spec), tmp_path)
    with safe_open(tmp_path / "model.safetensors", "pt") as stored:
        tables = [name for name in stored.keys() if name.endswith("input.words.weight")]  # noqa: SIM118
    assert len(tables) == (1 if shared else 2)
    network = read_own(tmp_path).network
    assert (network.encoder.input.words is network.decoder.input.words) == shared


def test_weights_in_half_precision_come_back_as_the_same_numbers(tmp_path):
    given = parts()
    given.network.bfloat16()
    write_own(given, tmp_path)
    after = read_own(tmp_path).network.state_dict()
    for name, weight in given.network.state_dict().items():
        assert after[name].dtype == torch.float32
        assert torch.equal(after[name], weight.float())


def test_a_model_may_be_written_over_its_own_folder(tmp_path):
    write_own(parts(seed=0), tmp_path)
    again = read_own(tmp_path)
    write_own(again, tmp_path)
    write_own(parts(seed=1), tmp_path)
    found = read_own(tmp_path)
    assert found.provenance.source == "seed 1"
    wanted = parts(seed=1).network.state_dict()
    assert all(torch.equal(found.network.state_dict()[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("step", ["save_file", "write_json", "to_toml"])
def test_a_write_that_fails_leaves_the_old_model_as_it_was(tmp_path, monkeypatch, step):
    write_own(parts(seed=0), tmp_path)
    before = contents(tmp_path)

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(own, step, fail)
    deeper = replace(SPEC, stack=replace(SPEC.stack, layers=3))
    with pytest.raises(OSError, match="No space left"):
        write_own(parts(deeper, seed=1), tmp_path)
    assert contents(tmp_path) == before


def test_a_vocabulary_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    write_own(parts(), tmp_path)
    before, given = contents(tmp_path), parts(seed=1)

    def fail(folder):
        (folder / "tokenizer.json").write_text("{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(given.vocabulary, "save", fail)
    with pytest.raises(OSError, match="No space left"):
        write_own(given, tmp_path)
    assert contents(tmp_path) == before


def rewritten(folder, old: str, new: str) -> None:
    path = folder / "clearhead.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_newer_format_is_refused_whatever_else_is_new_in_it(tmp_path):
    write_own(parts(), tmp_path)
    rewritten(tmp_path, "format = 1", 'format = 2\nunheard_of = "yes"')
    with pytest.raises(
        FileError, match=r"has format 2 and this Clearhead reads up to 1: update Clearhead"
    ):
        read_own(tmp_path)


def test_settings_that_are_wrong_are_named(tmp_path):
    write_own(parts(), tmp_path)
    rewritten(tmp_path, 'activation = "gelu"', 'activation = "gulu"')
    with pytest.raises(ConfigError, match=r"activation is 'gulu'.*Did you mean 'gelu'"):
        read_own(tmp_path)
    (tmp_path / "clearhead.toml").write_text("format = ", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"clearhead\.toml is not TOML"):
        read_own(tmp_path)


def test_settings_of_another_model_are_refused(tmp_path):
    write_own(parts(), tmp_path)
    rewritten(tmp_path, "layers = 2", "layers = 1")
    with pytest.raises(FileError, match=r"weights hold stack\.blocks\.1\..* has no place"):
        read_own(tmp_path)
    rewritten(tmp_path, "layers = 1", "layers = 3")
    with pytest.raises(FileError, match=r"weights have no stack\.blocks\.2\..* asks for"):
        read_own(tmp_path)


@pytest.mark.parametrize("kept", [0, 5, 300, -10])
def test_weights_that_are_cut_short_are_refused(tmp_path, kept):
    write_own(parts(), tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(
        FileError, match=r"model.safetensors cannot be read .* cut short or damaged"
    ):
        read_own(tmp_path)


def test_a_folder_with_a_model_in_another_form_is_left_alone(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(FileError, match=r"model in another form \(config.json\).* give a new"):
        write_own(parts(), tmp_path)
    assert set(contents(tmp_path)) == {"config.json"}


def test_an_old_vocabulary_is_not_taken_for_the_new_model_s(tmp_path):
    write_own(parts(), tmp_path)
    with pytest.raises(FileError, match=r"holds a vocabulary and this model has none.* give a new"):
        write_own(parts(vocabulary=None), tmp_path)


def test_fresh_weights_are_stored_as_they_are(tmp_path):
    """A network that was just built, in training, straight to disk and back."""
    network = build(SPEC).train()
    write_own(replace(parts(), network=network), tmp_path)
    found = read_own(tmp_path).network
    assert not found.training
    assert all(torch.equal(found.state_dict()[k], v) for k, v in network.state_dict().items())
