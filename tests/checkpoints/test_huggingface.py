"""Hugging Face folders that cannot be read as they are get a sentence that says why."""

import json

import pytest
import torch
from published import PUBLISHED, Published, ours_says, text
from safetensors.torch import load_file, save_file

from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.checkpoints.parts import Parts, Provenance
from clearhead.foundation.errors import CannotError, FileError, UnknownModelError
from clearhead.tokens import Pictures, Sounds

CASE = next(case for case in PUBLISHED if case.model == "BertForSequenceClassification")


@pytest.fixture
def folder(tmp_path):
    CASE.draw().save_pretrained(tmp_path)
    return tmp_path


def change(folder, **settings):
    path = folder / "config.json"
    config = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({key: each for key, each in config.items() if each is not ...}))


def weights(folder, keep=lambda name: True, **more):
    path = folder / "model.safetensors"
    stored = {name: weight for name, weight in load_file(path).items() if keep(name)}
    save_file(stored | more, path)


def test_a_folder_without_a_config_is_refused(folder):
    (folder / "config.json").unlink()
    with pytest.raises(FileError, match=r"config.json is missing: config.json was wanted there"):
        read_folder(folder)


def test_an_architecture_we_do_not_know_is_answered_with_those_we_do(folder):
    change(folder, architectures=["BertForMaskdLM"], model_type="bert")
    expected = r"'BertForMaskdLM' is not one we know. Did you mean 'BertForMaskedLM'\? Known: Bart"
    with pytest.raises(UnknownModelError, match=expected):
        read_folder(folder)
    change(folder, architectures=None, model_type="mamba")
    with pytest.raises(UnknownModelError, match=r"The architecture 'mamba' is not one we know"):
        read_folder(folder)


def test_code_that_comes_with_a_model_is_never_run(folder):
    (folder / "modeling.py").write_text("raise SystemExit('this code was run')")
    change(folder, auto_map={"AutoModel": "modeling.Model"}, model_type=...)
    with pytest.raises(CannotError, match=r"brings its own code \(auto_map\), which is never run"):
        read_folder(folder)


def test_a_config_without_a_size_is_refused(folder):
    change(folder, hidden_size=...)
    with pytest.raises(FileError, match=r"config has no 'hidden_size', which a bert needs"):
        read_folder(folder)


def test_an_activation_we_do_not_know_is_refused(folder):
    change(folder, hidden_act="gelu_nwe")
    expected = r"activation 'gelu_nwe' is not known here. Did you mean 'gelu_new'\? Known: gelu"
    with pytest.raises(UnknownModelError, match=expected):
        read_folder(folder)


def test_weights_that_are_missing_are_named(folder):
    weights(folder, lambda name: "layer.1." not in name)
    expected = r"have no bert.encoder.layer.1.attention.output.LayerNorm.bias, .* and 11 more"
    with pytest.raises(FileError, match=expected):
        read_folder(folder)


def test_weights_there_is_no_place_for_are_named(folder):
    weights(folder, extra=torch.zeros(2))
    with pytest.raises(FileError, match=r"hold extra, for which this architecture has no place"):
        read_folder(folder)


def test_weights_of_another_size_are_named_with_both_sizes(folder):
    change(folder, vocab_size=41)
    expected = r"input.words.weight is \(40, 16\) and the config asks for \(41, 16\)"
    with pytest.raises(FileError, match=expected):
        read_folder(folder)


def test_half_precision_is_read_as_float32(folder):
    whole = read_folder(folder).network
    path = folder / "model.safetensors"
    save_file({name: weight.half() for name, weight in load_file(path).items()}, path)
    halved = read_folder(folder).network
    for (name, mine), other in zip(halved.named_parameters(), whole.parameters(), strict=True):
        assert mine.dtype == torch.float32
        assert torch.equal(mine, other.half().float()), name


def test_what_is_read_can_learn_and_has_dropout_off(folder):
    network = read_folder(folder).network
    assert not network.training
    ours_says(network, text(1, 2, 5))
    network(text(1, 2, 5)).labels_BC.sum().backward()
    assert all(weight.grad is not None for weight in network.output.parameters())


def test_reading_weights_again_changes_no_file(folder):
    before = (folder / "model.safetensors").read_bytes()
    network = read_folder(folder).network
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_model_of_our_own_has_no_foreign_form(folder, tmp_path):
    parts = read_folder(folder)
    own = Parts(
        network=parts.network,
        architecture=parts.architecture,
        vocabulary=None,
        provenance=Provenance(source="here"),
    )
    with pytest.raises(FileError, match=r"no foreign form .* Families: bert, .* Clearhead folder"):
        write_folder(own, tmp_path / "again")


@pytest.mark.parametrize("preparation", [Pictures(size=(12, 12)), Sounds(bands=8, seconds=1)])
def test_how_pictures_and_sound_are_taken_comes_along(folder, preparation, tmp_path):
    preparation.save(folder)
    parts = read_folder(folder)
    assert parts.preparation == preparation
    write_folder(parts, tmp_path / "again")
    assert read_folder(tmp_path / "again").preparation == preparation


def test_names_of_labels_come_along(folder, tmp_path):
    names = {"0": "bad", "1": "good", "2": "so so"}
    change(folder, id2label=names)
    write_folder(read_folder(folder), tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text())["id2label"] == names


def test_a_class_nobody_names_is_the_plain_one_of_its_kind(tmp_path):
    Published("BertModel", "BertConfig", CASE.settings).draw().save_pretrained(tmp_path)
    change(tmp_path, architectures=None)
    assert read_folder(tmp_path).provenance.published_as == "BertModel"
