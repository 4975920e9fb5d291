"""Files to rows: what is in them, and what is wrong with them, by file and line."""

import gzip
import json
import logging
import lzma

import pytest

from clearhead.data import Corpus, rows_of
from clearhead.foundation.errors import FileError, InputError

NAMES = ("source", "target")
PAIRS = [("one cat", "eine Katze"), ("two\u2028dogs", "zwei Hunde"), ("三只鸟", "drei Vögel ")]
WRITERS = {
    "": lambda path, data: path.write_bytes(data),
    ".gz": lambda path, data: path.write_bytes(gzip.compress(data)),
    ".xz": lambda path, data: path.write_bytes(lzma.compress(data)),
}


def corpus(*paths, **settings):
    return Corpus(files=tuple(map(str, paths)), **settings)


def fields(*paths, **settings):
    return [row.fields for row in rows_of(corpus(*paths, **settings), NAMES)]


@pytest.mark.parametrize("packed", WRITERS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_of_two_files_stand_beside_each_other(tmp_path, packed, ends):
    paths = [tmp_path / f"{side}.txt{packed}" for side in ("en", "de")]
    for place, path in enumerate(paths):
        WRITERS[packed](path, "".join(pair[place] + ends for pair in PAIRS).encode())
    assert fields(*paths) == PAIRS


@pytest.mark.parametrize("packed", WRITERS)
def test_tables_give_the_columns_that_are_named(tmp_path, packed):
    table = tmp_path / f"pairs.tsv{packed}"
    lines = ["id\ttarget\tsource", *(f"{i}\t{b}\t{a}" for i, (a, b) in enumerate(PAIRS))]
    WRITERS[packed](table, "\n".join(lines).encode())
    assert fields(table) == PAIRS
    assert fields(table, columns=("target", "id"))[1] == ("zwei Hunde", "1")
    lines = [json.dumps({"source": a, "target": b, "id": 3}) for a, b in PAIRS]
    table = tmp_path / f"pairs.jsonl{packed}"
    WRITERS[packed](table, "\n".join(lines).encode())
    assert fields(table) == PAIRS


FLAWED = {
    "empty.tsv": ("source\ttarget\na\tb\n \tc\nd\te\n", "line 3: source is empty"),
    "short.tsv": ("source\ttarget\na\tb\nc\nd\te\n", r"line 3: 1 columns where the first line"),
    "broken.jsonl": (
        '{"source": "a", "target": "b"}\n{"sour\n{"source": "d", "target": "e"}',
        "line 2: it is not JSON",
    ),
    "other.jsonl": (
        '{"source": "a", "target": "b"}\n["c"]\n{"source": "d", "target": "e"}',
        "line 2: it has no text under 'source'",
    ),
    "number.jsonl": (
        '{"source": "a", "target": "b"}\n{"source": "c", "target": 3}\n'
        '{"source": "d", "target": "e"}',
        "line 2: it has no text under 'target'",
    ),
}


@pytest.mark.parametrize("name", FLAWED)
def test_a_flaw_is_refused_with_its_place_or_dropped_and_counted(tmp_path, name, caplog):
    text, message = FLAWED[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        fields(path)
    with caplog.at_level(logging.WARNING, "clearhead"):
        assert fields(path, flaws="drop") == [("a", "b"), ("d", "e")]
    assert f"1 rows of {path} were left out" in caplog.text


def test_bytes_that_are_no_text_are_told(tmp_path):
    for name, data in (("en", b"a\nb\xff\nc\n"), ("de", b"d\ne\nf\n")):
        (tmp_path / name).write_bytes(data)
    paths = (tmp_path / "en", tmp_path / "de")
    with pytest.raises(InputError, match=r"en, line 2: source is not UTF-8 \(byte 2\)"):
        fields(*paths)
    assert fields(*paths, flaws="drop") == [("a", "d"), ("c", "f")]


@pytest.mark.parametrize("short", [0, 1])
def test_files_of_different_lengths_are_refused(tmp_path, short):
    paths = [tmp_path / "en", tmp_path / "de"]
    for place, path in enumerate(paths):
        path.write_text("a\n" * (2 if place == short else 3))
    with pytest.raises(InputError, match=rf"{paths[short].name} ends before line 3 and"):
        fields(*paths, flaws="drop")


def test_files_that_are_not_there_or_too_few_are_told(tmp_path):
    (tmp_path / "train.en").write_text("a\n")
    with pytest.raises(FileError, match=r"train.em is no file. Did you mean 'train.en'"):
        fields(tmp_path / "train.em", tmp_path / "train.en")
    with pytest.raises(InputError, match=r"1 text files were given and this task reads 2 columns"):
        fields(tmp_path / "train.en")
    table = tmp_path / "pairs.tsv"
    table.write_text("source\tgoal\na\tb\n")
    with pytest.raises(InputError, match=r"no column 'target'. Its first line names: source, goal"):
        fields(table)
    with pytest.raises(InputError, match=r"1 columns were named and this task reads 2"):
        fields(table, columns=("source",))


@pytest.mark.parametrize("packed", [".gz", ".xz"])
def test_a_packed_file_cut_short_is_told(tmp_path, packed):
    path = tmp_path / f"pairs.tsv{packed}"
    WRITERS[packed](path, ("source\ttarget\n" + "a b c\td e f\n" * 2000).encode())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileError, match=r"pairs.tsv.* is damaged or cut short"):
        fields(path)


def test_tables_are_not_read_as_columns(tmp_path):
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_text("source\ttarget\na\tb\n")
    with pytest.raises(InputError, match=r"2 files were given and .*a.tsv is a table: .* give it"):
        fields(tmp_path / "a.tsv", tmp_path / "b.tsv")


def test_a_mark_of_byte_order_is_no_text(tmp_path):
    for name, text in (("en", "a\nc\n"), ("de", "b\nd\n"), ("t.tsv", "source\ttarget\na\tb\n")):
        (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert fields(tmp_path / "en", tmp_path / "de") == [("a", "b"), ("c", "d")]
    assert fields(tmp_path / "t.tsv") == [("a", "b")]


def test_half_a_letter_and_damaged_bytes_are_told(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"source": "\\ud800", "target": "b"}\n')
    with pytest.raises(InputError, match=r"line 1: source is not UTF-8"):
        fields(tmp_path / "a.jsonl")
    packed = bytearray(gzip.compress(b"source\ttarget\n" + b"a b c d\te f\n" * 3000))
    packed[60:80] = bytes(20)
    (tmp_path / "a.tsv.gz").write_bytes(packed)
    with pytest.raises((FileError, InputError)):
        fields(tmp_path / "a.tsv.gz")
