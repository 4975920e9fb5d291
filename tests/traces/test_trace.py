"""A trace is read back as it was written, and a file that is none is told so in a sentence."""

import json
import stat

import numpy as np
import pytest
from safetensors.numpy import save_file

from clearhead.foundation.errors import FileError, InputError, ShapeError
from clearhead.traces import Array, Note, Trace, open_trace
from clearhead.traces.disk import FORMAT, KEY

HEADER = {"kind": "x", "axes": {}, "labels": {}, "notes": [], "about": {}}


def small() -> Trace:
    return Trace(
        kind="explanation",
        arrays={
            "z": Array(np.array([[1.5, -np.inf], [np.nan, 1e-300]]), ("query", "key")),
            "a": Array(np.arange(6.0, dtype=np.float32).reshape(2, 3).T, ("width", "query")),
            "flags": Array(np.array([True, False, True]), ("place",)),
            "order": Array(np.array([2, 0], dtype=np.int64), ("query",)),
            "empty": Array(np.zeros((0, 4)), ("none", "four")),
            "one": Array(np.array(7.0), ()),
        },
        labels={"query": ("银行", "bank"), "key": ("", "\n")},
        notes=(Note("z", "seen", {"share": 0.5, "names": ["a"]}), Note("", "whole")),
        about={"site": "encoder.0.self", "layer": 0, "ok": True, "nothing": None},
    )


def written(path, metadata):
    save_file({"a": np.zeros(2)}, path, metadata=metadata)
    return path


def test_a_trace_is_read_back_to_the_last_bit(tmp_path):
    small().save(tmp_path / "x.trace")
    again = open_trace(str(tmp_path / "x.trace"))
    assert list(again.arrays) == list(small().arrays)
    for name, array in small().arrays.items():
        assert again[name].axes == array.axes
        assert again[name].values.dtype == array.values.dtype
        np.testing.assert_array_equal(again[name].values, array.values, strict=True)
    assert again.labels == small().labels
    assert list(again.notes) == list(small().notes)
    assert (again.about, again.kind) == (small().about, small().kind)


def test_saving_again_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    small().save(tmp_path / "x.trace")
    Trace(kind="other", arrays={}).save(tmp_path / "x.trace")
    assert open_trace(tmp_path / "x.trace").kind == "other"
    assert [path.name for path in tmp_path.iterdir()] == ["x.trace"]


def test_whoever_may_read_other_new_files_may_read_a_trace(tmp_path):
    small().save(tmp_path / "x.trace")
    (tmp_path / "other").touch()
    wanted = stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert stat.S_IMODE((tmp_path / "x.trace").stat().st_mode) == wanted


def test_notes_are_found_by_what_they_are_about():
    assert [note.says for note in small().notes_about("z")] == ["seen"]
    assert [note.says for note in small().notes_about("")] == ["whole"]
    assert "z" in small()
    assert "y" not in small()


def test_an_entry_that_is_not_there_is_answered_with_those_that_are():
    with pytest.raises(InputError, match=r"no 'flag'. Did you mean 'flags'\? It has: z, a, flags"):
        small()["flag"]


@pytest.mark.parametrize("axes", [("query",), ("query", "query"), ("a", "b", "c")])
def test_an_axis_without_a_name_of_its_own_is_refused(axes):
    with pytest.raises(ShapeError, match=r"shape \(2, 3\) wants 2 different axis names"):
        Array(np.zeros((2, 3)), axes)


def test_labels_that_do_not_cover_an_axis_are_refused():
    with pytest.raises(ShapeError, match="a has 3 places along 'key' and there are 2 labels"):
        Trace(kind="x", arrays={"a": Array(np.zeros(3), ("key",))}, labels={"key": ("a", "b")})


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileError, match=r"There is no trace file .*nowhere\.trace. Check the path"):
        open_trace(tmp_path / "nowhere.trace")


def test_a_file_that_was_cut_short_is_told(tmp_path):
    small().save(tmp_path / "x.trace")
    whole = (tmp_path / "x.trace").read_bytes()
    for length in (0, 4, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.trace").write_bytes(whole[:length])
        with pytest.raises(FileError, match=r"cut\.trace is damaged, or is no trace \(.*Copy it"):
            open_trace(tmp_path / "cut.trace")


def test_weights_are_no_trace(tmp_path):
    path = written(tmp_path / "model.safetensors", None)
    with pytest.raises(FileError, match="a safetensors file without a trace in it"):
        open_trace(path)


def test_a_trace_of_a_newer_clearhead_is_refused_with_the_remedy(tmp_path):
    path = written(tmp_path / "x.trace", {KEY: json.dumps({"format": FORMAT + 1})})
    with pytest.raises(FileError, match=rf"newer Clearhead: its format is {FORMAT + 1}.*Update"):
        open_trace(path)


@pytest.mark.parametrize(
    ("header", "how"),
    [
        ("{", "its header is no JSON"),
        ("[]", "does not say which format"),
        ('{"format": "1"}', "does not say which format"),
        (json.dumps({"format": 1}), "do not fit together"),
        (json.dumps({"format": 1} | HEADER | {"axes": {"b": []}}), "do not fit together"),
        (json.dumps({"format": 1} | HEADER | {"notes": [["a"]]}), "do not fit together"),
        (json.dumps({"format": 1} | HEADER | {"labels": 3}), "do not fit together"),
        (json.dumps({"format": 1} | HEADER | {"axes": {"a": []}}), "wants 1 different axis"),
    ],
)
def test_a_header_that_does_not_hold_together_is_told(tmp_path, header, how):
    path = written(tmp_path / "x.trace", {KEY: header})
    with pytest.raises(FileError, match=rf"x\.trace is damaged: .*{how}"):
        open_trace(path)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    with pytest.raises(FileError, match=r"cannot be written to .*x\.trace .*Give a file in a fol"):
        small().save(tmp_path / "no" / "x.trace")
