"""`clearhead convert`: one form to the other and back, never over anything."""

import os
import stat

import pytest
import ready
import torch
from published import Published
from safetensors.torch import load_file
from typed import refused, typed

from clearhead import load

GPT2 = Published(
    "GPT2LMHeadModel", "GPT2Config", {"vocab_size": 13, "n_embd": 16, "n_layer": 2, "n_head": 4}
)


def theirs(folder):
    GPT2.draw().save_pretrained(folder)
    ready.vocabulary().save(folder)
    return folder


def test_theirs_becomes_ours_and_theirs_again_without_losing_a_bit(capsys, tmp_path):
    first = theirs(tmp_path / "theirs")
    there = typed(capsys, "convert", first, tmp_path / "ours")
    back = typed(capsys, "convert", tmp_path / "ours", tmp_path / "back", "--to", "huggingface")
    assert (there.code, back.code) == (0, 0)
    assert there.out == f"{first} → {tmp_path / 'ours'} (clearhead)\n"
    before, after = (load_file(path / "model.safetensors") for path in (first, tmp_path / "back"))
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    ids = torch.tensor([[1, 5, 2]])
    said = [load(path, device="cpu").network(ids).logits_BTV for path in (first, tmp_path / "ours")]
    assert torch.equal(*said)
    assert load(tmp_path / "ours", device="cpu").generate("the cat", max_tokens=4) == load(
        first, device="cpu"
    ).generate("the cat", max_tokens=4)


@pytest.mark.parametrize("form", ["clearhead", "huggingface"])
def test_whoever_may_read_the_folder_may_read_the_weights(capsys, tmp_path, form):
    first, new = theirs(tmp_path / "theirs"), tmp_path / "new"
    before = os.umask(0o027)
    try:
        assert typed(capsys, "convert", first, new, "--to", form).code == 0
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in new.iterdir()} == {0o640}
    assert not [path.name for path in new.iterdir() if path.name.startswith(".")]


def test_nothing_is_written_over(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path / "model")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    told = refused(typed(capsys, "convert", tmp_path / "model", tmp_path / "full"))
    assert told == f"{tmp_path / 'full'} is already there and not empty: give a new folder."
    told = refused(typed(capsys, "convert", tmp_path / "model", tmp_path / "full" / "notes.txt"))
    assert "already there" in told
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["notes.txt"]


def test_an_empty_folder_is_filled(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    assert typed(capsys, "convert", tmp_path / "model", tmp_path / "empty").code == 0
    assert load(tmp_path / "empty", device="cpu").config == ready.ENCODER


def test_a_place_that_cannot_be_written_to_is_named(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path / "model")
    (tmp_path / "file").write_text("")
    told = refused(typed(capsys, "convert", tmp_path / "model", tmp_path / "file" / "new"))
    assert told == f"{tmp_path / 'file' / 'new'} cannot be used: Not a directory."
    assert "read-only" not in told


def test_an_unknown_form_is_refused(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path / "model")
    told = refused(typed(capsys, "convert", tmp_path / "model", tmp_path / "new", "--to", "onnx"))
    assert told == "There is no form 'onnx' to save a model in. There are: clearhead, huggingface."
    assert not (tmp_path / "new").exists()


def test_a_model_of_our_own_has_no_foreign_form(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path / "model")
    words = ("convert", tmp_path / "model", tmp_path / "new", "--to", "huggingface")
    told = refused(typed(capsys, *words))
    assert "does not come from a family others publish" in told
    assert told.endswith("Save it as a Clearhead folder instead.")
