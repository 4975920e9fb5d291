"""Examples on disk: what was written is read at any place, and nothing half-written is taken."""

import numpy as np
import pytest

from clearhead.data import open_store, store, write_store
from clearhead.foundation.errors import FileError


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(store, "ROWS", 7)


def drawn(count):
    draw = np.random.default_rng(0)
    return [
        tuple(draw.integers(0, 70_000, draw.integers(0, 9)).tolist() for _ in range(2))
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [1, 6, 7, 8, 21, 40])
def test_every_example_is_read_as_it_was_written(tmp_path, count):
    examples = drawn(count)
    path = tmp_path / "a" / "train.arrow"
    assert write_store(path, ("source", "target"), iter(examples)) == count
    found = open_store(path)
    assert len(found) == count
    assert found.names == ("source", "target")
    for number in np.random.default_rng(1).permutation(count):
        assert tuple(ids.tolist() for ids in found[int(number)]) == tuple(
            list(ids) for ids in examples[number]
        )
    numbers = np.random.default_rng(2).integers(0, count, 50)
    wanted = [[len(ids) for ids in examples[number]] for number in numbers]
    assert found.lengths(numbers).tolist() == wanted


def test_until_all_is_written_there_is_no_file(tmp_path):
    def breaking():
        yield from drawn(10)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_store(tmp_path / "train.arrow", ("source", "target"), breaking())
    assert not (tmp_path / "train.arrow").exists()
    assert write_store(tmp_path / "train.arrow", ("source", "target"), drawn(3)) == 3


def test_a_damaged_store_is_told(tmp_path):
    path = tmp_path / "train.arrow"
    write_store(path, ("source", "target"), drawn(30))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileError, match=r"train.arrow cannot be read as stored examples"):
        open_store(path)
    with pytest.raises(FileError, match=r"remove the folder .*, and it is made again"):
        open_store(tmp_path / "nothing.arrow")
