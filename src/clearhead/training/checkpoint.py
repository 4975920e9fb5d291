"""What changes in a run, on disk: whole or not at all, checked, the same bytes for the same run.

checkpoints/000300/weights.safetensors      the network
                   optimiser.safetensors    AdamW's two moments of every weight
                   state.json               step, position in the data, journal, best, settings
                   sums.json                SHA-256 of the three

Nothing of the clock, the machine or the folder is in them. A checkpoint is written beside, brought
to disk, and given its name last; one that does not agree with its sums is passed over, loudly.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from ..foundation.errors import FileError
from ..foundation.log import log

WEIGHTS, OPTIMISER, STATE, SUMS = (
    "weights.safetensors",
    "optimiser.safetensors",
    "state.json",
    "sums.json",
)
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """All that changes: tensors by name, and the rest as plain values."""

    weights: Mapping[str, Tensor]
    optimiser: Mapping[str, Tensor]
    state: Mapping[str, Any]


def write(folder: Path, step: int, checkpoint: Checkpoint, *, keep: int) -> Path:
    """Write the checkpoint of a step, and remove those before the last `keep`."""
    made = folder / f"{step:06}"
    part = folder / f"{step:06}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    save_file(dict(checkpoint.weights), part / WEIGHTS)
    save_file(dict(checkpoint.optimiser), part / OPTIMISER)
    _write_json(part / STATE, {"format": FORMAT, **checkpoint.state})
    _write_json(part / SUMS, {name: _sum(part / name) for name in (WEIGHTS, OPTIMISER, STATE)})
    for file in part.iterdir():
        _to_disk(file)
    _to_disk(part)
    shutil.rmtree(made, ignore_errors=True)
    part.replace(made)
    _to_disk(folder)
    passed_over = [name for name in names(folder) if int(name) > step]  # damaged, and behind us
    left = [name for name in names(folder) if int(name) <= step]
    for old in [*passed_over, *left[:-keep]]:
        shutil.rmtree(folder / old)
    return made


def names(folder: Path) -> list[str]:
    """The checkpoints of a folder, the oldest first."""
    there = folder.iterdir() if folder.is_dir() else ()
    return sorted((each.name for each in there if each.name.isdecimal()), key=int)


def latest(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that is whole; None where there is none.

    One that is damaged is passed over and said so; where all are, that is an error.
    """
    there = names(folder)
    for name in reversed(there):
        wrong = flaw_of(folder / name)
        if wrong is None:
            return read(folder / name)
        log("training").warning(
            f"The checkpoint {folder / name} is damaged ({wrong}) and is passed over: the run goes "
            "on from the one before."
        )
    if there:
        raise FileError(
            f"All {len(there)} checkpoints in {folder} are damaged, so the run cannot go on. Copy "
            "one back, or begin again with another folder (into=…)."
        )
    return None


def flaw_of(checkpoint: Path) -> str | None:
    """What is wrong with a checkpoint's files; None when they are as they were written."""
    try:
        sums = json.loads((checkpoint / SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return f"{SUMS} cannot be read"
    if not isinstance(sums, dict):
        return f"{SUMS} says nothing"
    for name in (WEIGHTS, OPTIMISER, STATE):
        file = checkpoint / name
        if not file.is_file():
            return f"{name} is missing"
        if sums.get(name) != _sum(file):
            return f"{name} is not what was written"
    return None


def read(checkpoint: Path) -> Checkpoint:
    """A checkpoint whose files are whole."""
    state = json.loads((checkpoint / STATE).read_text(encoding="utf-8"))
    if state["format"] > FORMAT:
        raise FileError(
            f"{checkpoint} has format {state['format']} and this Clearhead reads up to {FORMAT}: "
            "update Clearhead (pip install --upgrade clearhead)."
        )
    return Checkpoint(
        weights=load_file(checkpoint / WEIGHTS),
        optimiser=load_file(checkpoint / OPTIMISER),
        state=state,
    )


def _sum(file: Path) -> str:
    with file.open("rb") as opened:
        return file_digest(opened, "sha256").hexdigest()


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _to_disk(path: Path) -> None:
    """What was written is on the disk itself when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
