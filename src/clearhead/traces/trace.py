"""The trace: named arrays with named axes, labels for the places along an axis, and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..foundation.errors import InputError, ShapeError, nearest
from .disk import Stored, damaged, read, write

Facts = Mapping[str, Any]  # what JSON can hold


BFLOAT16 = "bfloat16"


@dataclass(frozen=True, eq=False)
class Array:
    """Numbers, and the name of every axis they have.

    Args:
        stored_as: `bfloat16` where `values` are the 16 bits of such numbers, which numpy has no
            name for; otherwise empty.
    """

    values: NDArray[Any]
    axes: tuple[str, ...]
    stored_as: str = ""

    def __post_init__(self) -> None:
        if self.stored_as and (self.stored_as != BFLOAT16 or self.values.dtype != np.uint16):
            raise ShapeError(
                f"An array of {self.values.dtype} was said to be stored as {self.stored_as!r}: "
                f"only the 16 bits of {BFLOAT16} numbers, as uint16, need to be named."
            )
        if len(self.axes) != self.values.ndim or len(set(self.axes)) != len(self.axes):
            raise ShapeError(
                f"An array of shape {self.values.shape} wants {self.values.ndim} different axis "
                f"names and was given {list(self.axes)}. Name each axis once."
            )

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers as numpy can work with them."""
        if not self.stored_as:
            return self.values
        return (self.values.astype(np.uint32) << 16).view(np.float32)


@dataclass(frozen=True)
class Note:
    """One thing worth knowing: about which entry, what it says (a key), and with which numbers.

    `about` is empty when it is about the whole trace.
    """

    about: str
    says: str
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What was seen.

    Args:
        kind: What was recorded, for whoever draws it: `explanation`, or `attention`.
        arrays: The entries, in the order they are to be read.
        labels: Axis name to one label for each place along it, such as the tokens.
        about: Where this comes from: model, site, head, whatever is not an array.
    """

    kind: str
    arrays: Mapping[str, Array]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: Sequence[Note] = ()
    about: Facts = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, array in self.arrays.items():
            for axis, size in zip(array.axes, array.values.shape, strict=True):
                if axis in self.labels and len(self.labels[axis]) != size:
                    raise ShapeError(
                        f"{name} has {size} places along {axis!r} and there are "
                        f"{len(self.labels[axis])} labels for it. Give one label a place."
                    )

    def __getitem__(self, name: str) -> Array:
        if name not in self.arrays:
            raise InputError(
                f"This trace has no {name!r}.{nearest(name, self.arrays)} "
                f"It has: {', '.join(self.arrays)}."
            )
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def notes_about(self, name: str) -> list[Note]:
        """The notes about one entry; about the whole trace for an empty name."""
        return [note for note in self.notes if note.about == name]

    def save(self, path: str | Path) -> None:
        """Write the trace into one file, which `open_trace` reads back to the last bit."""
        header = {
            "kind": self.kind,
            "axes": {name: list(array.axes) for name, array in self.arrays.items()},
            "labels": {axis: list(labels) for axis, labels in self.labels.items()},
            "notes": [[note.about, note.says, dict(note.facts)] for note in self.notes],
            "about": dict(self.about),
        }
        stored_as = {name: array.stored_as for name, array in self.arrays.items()}
        header["stored_as"] = {name: of for name, of in stored_as.items() if of}
        arrays = {name: array.values for name, array in self.arrays.items()}
        write(Stored(arrays, header), Path(path))


def open_trace(path: str | Path) -> Trace:
    """The trace that was saved in this file."""
    place = Path(path)
    stored = read(place)
    header = stored.header
    stored_as = header.get("stored_as", {})
    try:
        return Trace(
            kind=header["kind"],
            arrays={
                name: Array(stored.arrays[name], tuple(axes), stored_as.get(name, ""))
                for name, axes in header["axes"].items()
            },
            labels={axis: tuple(labels) for axis, labels in header["labels"].items()},
            notes=[Note(about, says, facts) for about, says, facts in header["notes"]],
            about=header["about"],
        )
    except (KeyError, AttributeError, TypeError, ValueError) as error:
        raise damaged(place, f"header and arrays do not fit together ({error!r})") from error
    except ShapeError as error:
        raise damaged(place, str(error)) from error
