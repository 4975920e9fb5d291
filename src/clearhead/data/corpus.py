"""Which files a run learns from, and their rows one by one, each with the place it is from."""

import gzip
import json
import lzma
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import zip_longest
from pathlib import Path
from typing import Literal

from ..config import setting
from ..foundation.errors import FileError, InputError, nearest
from ..foundation.log import log

PACKED = (".gz", ".xz")
TABLES = (".tsv", ".jsonl")


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Examples in files: one table, or one text file for each column, their lines in step."""

    files: tuple[str, ...] = setting(
        help="one table (.tsv, .jsonl), or one text file a column; .gz and .xz too"
    )
    columns: tuple[str, ...] = setting(
        (), help="of a table: the columns in the task's order; its own names when left out"
    )
    flaws: Literal["refuse", "drop"] = setting(
        "refuse", help="what to do with a row that cannot be used; dropped rows are counted"
    )

    def without_effect(self) -> dict[str, str]:
        """Columns belong to tables."""
        if len(self.files) > 1:
            return {"columns": "text files are one column each"}
        return {}


@dataclass(frozen=True)
class Row:
    """One example as text: a field for each column that was asked for."""

    fields: tuple[str, ...]


@dataclass(frozen=True)
class Flaw:
    """A row that cannot be used: where it stands, and why."""

    place: str
    reason: str


def rows_of(corpus: Corpus, names: Sequence[str]) -> Iterator[Row]:
    """Every row that can be used.

    Args:
        names: What the task calls its columns.
    """
    dropped: list[Flaw] = []
    for found in _found(corpus, names):
        if isinstance(found, Row):
            yield found
            continue
        if corpus.flaws == "refuse":
            raise InputError(
                f"{found.place}: {found.reason}. Mend the file, or leave such rows out with "
                'flaws = "drop".'
            )
        dropped.append(found)
    if dropped:
        log("data").warning(
            f"{len(dropped)} rows of {', '.join(corpus.files)} were left out; the first: "
            f"{dropped[0].place}: {dropped[0].reason}."
        )


def _found(corpus: Corpus, names: Sequence[str]) -> Iterator[Row | Flaw]:
    paths = paths_of(corpus)
    kind = _kind(paths[0]) if paths else ""
    if len(paths) == 1 and kind in TABLES:
        return _table(paths[0], kind, names, corpus.columns or tuple(names))
    tables = [path for path in paths if _kind(path) in TABLES]
    if tables:
        raise InputError(
            f"{len(paths)} files were given and {tables[0]} is a table: a table holds all columns, "
            "so give it alone; several files are one text file a column."
        )
    if len(paths) != len(names):
        raise InputError(
            f"{len(paths)} text files were given and this task reads {len(names)} columns "
            f"({', '.join(names)}): give one text file for each, or one table, which ends in "
            f"{' or '.join(TABLES)}."
        )
    return _beside(paths, names)


def paths_of(corpus: Corpus) -> list[Path]:
    """Its files, each of which is there."""
    paths = [Path(file) for file in corpus.files]
    for path in paths:
        if not path.is_file():
            raise FileError(
                f"{path} is no file.{_close(path)} Give the files that the examples are in."
            )
    return paths


def _close(path: Path) -> str:
    there = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    return nearest(path.name, there)


def _kind(path: Path) -> str:
    """The ending that says what is inside, behind the one that says how it is packed."""
    return Path(path.stem).suffix if path.suffix in PACKED else path.suffix


def opened(path: Path) -> BufferedIOBase:
    """A file's bytes, unpacked."""
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "rb")
    return lzma.LZMAFile(path) if path.suffix == ".xz" else path.open("rb")


def _beside(paths: Sequence[Path], names: Sequence[str]) -> Iterator[Row | Flaw]:
    """Lines side by side; files of different lengths cannot be told apart and are refused."""
    with ExitStack() as stack:
        files = [stack.enter_context(opened(path)) for path in paths]
        for number, lines in enumerate(zip_longest(*_lines(files, paths)), start=1):
            if None in lines:
                short, long = (paths[i] for i in (lines.index(None), _some(lines)))
                raise InputError(
                    f"{short} ends before line {number} and {long} does not: the lines of both "
                    "must be in step. Give files of equal length."
                )
            place = f"{paths[0]}, line {number}"
            yield _row([line for line in lines if line is not None], names, place)


def _some(lines: Sequence[bytes | None]) -> int:
    return next(i for i, line in enumerate(lines) if line is not None)


def _lines(files: Sequence[BufferedIOBase], paths: Sequence[Path]) -> list[Iterator[bytes]]:
    return [_unpacked(file, path) for file, path in zip(files, paths, strict=True)]


def _unpacked(file: BufferedIOBase, path: Path) -> Iterator[bytes]:
    """Lines, or a sentence where a packed file is damaged. A mark of byte order is no text."""
    try:
        for number, line in enumerate(file):
            yield line if number else line.removeprefix(BOM_UTF8)
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{path} is damaged or cut short ({error}). Copy it again.") from error


def _row(lines: Sequence[bytes], names: Sequence[str], place: str) -> Row | Flaw:
    fields = []
    for line, name in zip(lines, names, strict=True):
        try:
            text = line.decode("utf-8").strip("\r\n")
        except UnicodeDecodeError as error:
            return Flaw(place, f"{name} is not UTF-8 (byte {error.start + 1})")
        if not text.strip():
            return Flaw(place, f"{name} is empty")
        fields.append(text)
    return Row(tuple(fields))


def _table(
    path: Path, kind: str, names: Sequence[str], columns: Sequence[str]
) -> Iterator[Row | Flaw]:
    if len(columns) != len(names):
        raise InputError(
            f"{len(columns)} columns were named and this task reads {len(names)} "
            f"({', '.join(names)}): name one for each."
        )
    with opened(path) as file:
        lines = _unpacked(file, path)
        if kind == ".tsv":
            yield from _tsv(lines, path, names, columns)
        else:
            yield from _jsonl(lines, path, names, columns)


def _tsv(
    lines: Iterator[bytes], path: Path, names: Sequence[str], columns: Sequence[str]
) -> Iterator[Row | Flaw]:
    """A table whose first line names the columns; tabs stand for nothing else."""
    header = next(lines, b"").decode("utf-8", "replace").rstrip("\r\n").split("\t")
    wrong = next((column for column in columns if column not in header), None)
    if wrong is not None:
        raise InputError(
            f"{path} has no column {wrong!r}.{nearest(wrong, header)} Its first line names: "
            f"{', '.join(header)}."
        )
    places = [header.index(column) for column in columns]
    for number, line in enumerate(lines, start=2):
        cells, place = line.rstrip(b"\r\n").split(b"\t"), f"{path}, line {number}"
        if len(cells) != len(header):
            yield Flaw(place, f"{len(cells)} columns where the first line names {len(header)}")
        else:
            yield _row([cells[at] for at in places], names, place)


def _jsonl(
    lines: Iterator[bytes], path: Path, names: Sequence[str], columns: Sequence[str]
) -> Iterator[Row | Flaw]:
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        try:
            found = json.loads(line)
        except ValueError as error:
            yield Flaw(place, f"it is not JSON ({error})")
            continue
        cells = [found.get(column) if isinstance(found, dict) else None for column in columns]
        missing = [c for c, cell in zip(columns, cells, strict=True) if not isinstance(cell, str)]
        if missing:
            yield Flaw(place, f"it has no text under {missing[0]!r}")
        else:
            # Half a letter (a lone surrogate) is kept as it is, and found to be no text.
            raw = [str(cell).encode("utf-8", "surrogatepass") for cell in cells]
            yield _row(raw, names, place)
