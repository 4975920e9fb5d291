"""One file: arrays as safetensors has them, and beside them one JSON header in the metadata."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ..foundation.errors import FileError
from ..foundation.readers import let_the_usual_readers_in

FORMAT = 1
KEY = "clearhead.trace"


@dataclass(frozen=True)
class Stored:
    """What a file holds: arrays by name, and the header that says what they are."""

    arrays: Mapping[str, NDArray[Any]]
    header: Mapping[str, Any]


def write(stored: Stored, path: Path) -> None:
    """Write the whole file or none of it: an interrupted run leaves what was there before."""
    header = json.dumps({"format": FORMAT, **stored.header}, ensure_ascii=False)
    # (`ascontiguousarray` would give a single number an axis.)
    arrays = {name: np.require(values, requirements="C") for name, values in stored.arrays.items()}
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        save_file(arrays, beside, metadata={KEY: header})
        let_the_usual_readers_in(beside)
        beside.replace(path)
    except (OSError, SafetensorError) as error:
        beside.unlink(missing_ok=True)
        raise FileError(
            f"The trace cannot be written to {path} ({error}). Give a file in a folder that is "
            "there and may be written to."
        ) from error


def read(path: Path) -> Stored:
    """Return what `write` wrote; refuse anything else, saying what it is."""
    if not path.is_file():
        raise FileError(f"There is no trace file {path}. Check the path.")
    try:
        with safe_open(path, framework="numpy") as file:
            header = _header(path, (file.metadata() or {}).get(KEY))
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise FileError(
            f"{path} is damaged, or is no trace ({error}). Copy it again, or record it again."
        ) from error
    return Stored(arrays, header)


def _header(path: Path, text: str | None) -> Mapping[str, Any]:
    if text is None:
        raise FileError(
            f"{path} is a safetensors file without a trace in it. A trace is what "
            "`clearhead explain --save FILE.trace` writes."
        )
    try:
        header = json.loads(text)
    except ValueError as error:
        raise damaged(path, f"its header is no JSON: {error}") from error
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise damaged(path, "its header does not say which format it has")
    if header["format"] > FORMAT:
        raise FileError(
            f"{path} was written by a newer Clearhead: its format is {header['format']} and this "
            f"one reads up to {FORMAT}. Update with `pip install --upgrade clearhead`."
        )
    return header


def damaged(path: Path, how: str) -> FileError:
    """The error for a file that is a trace and does not hold together."""
    return FileError(f"{path} is damaged: {how}. Copy it again, or record it again.")
