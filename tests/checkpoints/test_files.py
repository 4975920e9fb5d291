"""Weight files are read whole or refused, and no code in them ever runs."""

import json
import pickle
import random
from argparse import Namespace

import pytest
import torch
from safetensors.torch import save_file

from clearhead.checkpoints.files import read_file, read_torch, read_weights
from clearhead.foundation.errors import FileError

WEIGHTS = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(4), "c": torch.zeros(0, 2)}


def same(found, expected):
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def sharded(folder, name, save):
    """Write the weights in two shards with an index."""
    shards = {"a": f"1-of-2-{name}", "b": f"2-of-2-{name}", "c": f"2-of-2-{name}"}
    for shard in set(shards.values()):
        save({key: WEIGHTS[key] for key in WEIGHTS if shards[key] == shard}, folder / shard)
    (folder / f"{name}.index.json").write_text(json.dumps({"weight_map": shards}))
    return shards


@pytest.mark.parametrize(
    ("name", "save"), [("model.safetensors", save_file), ("pytorch_model.bin", torch.save)]
)
def test_weights_are_read_whole_and_in_shards(tmp_path, name, save):
    save(WEIGHTS, tmp_path / name)
    same(read_weights(tmp_path), WEIGHTS)
    (tmp_path / name).unlink()
    sharded(tmp_path, name, save)
    same(read_weights(tmp_path), WEIGHTS)


def test_safetensors_come_before_a_torch_file(tmp_path):
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    torch.save({"a": torch.zeros(1)}, tmp_path / "pytorch_model.bin")
    same(read_weights(tmp_path), WEIGHTS)


def test_an_older_torch_file_is_read_too(tmp_path):
    torch.save(WEIGHTS, tmp_path / "pytorch_model.bin", _use_new_zipfile_serialization=False)
    same(read_weights(tmp_path), WEIGHTS)


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"has no weights: model.safetensors .* or pytorch_model"):
        read_weights(tmp_path)


def test_a_missing_shard_is_refused_by_name(tmp_path):
    shards = sharded(tmp_path, "model.safetensors", save_file)
    (tmp_path / shards["b"]).unlink()
    with pytest.raises(
        FileError, match=r"2-of-2-model.safetensors is missing: the weights are not"
    ):
        read_weights(tmp_path)


@pytest.mark.parametrize("index", ["{}", '{"weight_map": 3}', '{"weight_map": {"a": 3}}'])
def test_an_index_without_shards_is_refused(tmp_path, index):
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(FileError, match=r"index.json does not say which file holds which weight"):
        read_weights(tmp_path)


def test_a_shard_outside_the_folder_is_refused(tmp_path):
    save_file(WEIGHTS, tmp_path / "outside.safetensors")
    folder = tmp_path / "folder"
    folder.mkdir()
    shards = {name: "../outside.safetensors" for name in WEIGHTS}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    with pytest.raises(FileError, match=r"outside.safetensors.*lies outside .*folder"):
        read_weights(folder)


def test_damaged_settings_are_refused(tmp_path):
    for text in ("", "{", "not json"):
        (tmp_path / "model.safetensors.index.json").write_text(text)
        with pytest.raises(FileError, match=r"index.json is not JSON .* damaged. Copy it again"):
            read_weights(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"index.json is not JSON"):
        read_weights(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text("[1, 2]")
    with pytest.raises(FileError, match=r"index.json holds list where settings were wanted"):
        read_weights(tmp_path)


@pytest.mark.parametrize("size", [0, 4, 30, -1])
def test_a_safetensors_file_cut_short_is_refused(tmp_path, size):
    save_file(WEIGHTS, tmp_path / "model.safetensors")
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:size])
    expected = rf"cannot be read .* cut short or damaged \({len(whole[:size]):,} bytes\). Copy it"
    with pytest.raises(FileError, match=expected):
        read_weights(tmp_path)


@pytest.mark.parametrize("size", [0, 4, 30, -1])
def test_a_torch_file_cut_short_is_refused(tmp_path, size):
    torch.save(WEIGHTS, tmp_path / "pytorch_model.bin")
    whole = (tmp_path / "pytorch_model.bin").read_bytes()
    (tmp_path / "pytorch_model.bin").write_bytes(whole[:size])
    with pytest.raises(FileError, match=r"pytorch_model.bin cannot be opened .* or it is damaged"):
        read_weights(tmp_path)


def older(weights, path):
    torch.save(weights, path, _use_new_zipfile_serialization=False)


# A damaged first byte is a version torch does not know, which it says before it fails.
@pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning")
@pytest.mark.parametrize(
    ("name", "save"),
    [("a.safetensors", save_file), ("a.bin", torch.save), ("b.bin", older)],
)
def test_whatever_is_damaged_the_answer_is_a_sentence(tmp_path, name, save):
    save(WEIGHTS, tmp_path / name)
    whole, draw, refused = (tmp_path / name).read_bytes(), random.Random(0), 0
    for _ in range(150):
        damaged = bytearray(whole[: draw.randrange(len(whole))] if draw.random() < 0.3 else whole)
        for _ in range(min(len(damaged), draw.randint(1, 8))):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        (tmp_path / name).write_bytes(damaged)
        try:
            read_file(tmp_path / name)
        except FileError:
            refused += 1
    assert refused > 50


class Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (self.path.touch, ())


@pytest.mark.parametrize("name", ["pytorch_model.bin", "a.pt"])
@pytest.mark.parametrize(
    "wrap",
    [
        torch.save,
        lambda value, path: path.write_bytes(pickle.dumps(value, 2)),
        lambda value, path: path.write_bytes(pickle.dumps(value, 4)),
    ],
)
def test_a_file_that_would_run_code_is_refused_and_runs_none(tmp_path, name, wrap):
    trace = tmp_path / "it ran"
    wrap({"a": Bomb(trace)}, tmp_path / name)
    expected = r"cannot be opened without running code it brings.*Convert it to safetensors where"
    with pytest.raises(FileError, match=expected) as refused:
        read_torch(tmp_path / name)
    assert "`weights_only` set to `False`" not in str(refused.value)
    assert not trace.exists()


def test_a_file_that_would_need_a_class_says_which(tmp_path):
    torch.save({"a": torch.zeros(1), "args": Namespace(width=2)}, tmp_path / "a.pt")
    expected = r"damaged \(Unsupported global: GLOBAL argparse.Namespace [^.]*\)\. Convert it"
    with pytest.raises(FileError, match=expected):
        read_torch(tmp_path / "a.pt")


def test_a_file_without_named_weights_is_refused(tmp_path):
    torch.save([1, 2], tmp_path / "a.pt")
    with pytest.raises(FileError, match=r"a.pt holds list where named weights were wanted"):
        read_torch(tmp_path / "a.pt")


def test_a_file_with_more_than_weights_is_refused(tmp_path):
    torch.save({"epoch": 3, "a": torch.zeros(2)}, tmp_path / "pytorch_model.bin")
    with pytest.raises(FileError, match=r"holds 'epoch', which is not a tensor: weights were"):
        read_file(tmp_path / "pytorch_model.bin")
