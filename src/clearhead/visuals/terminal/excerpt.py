"""Which rows and columns of an array are shown when not all of them fit, and how wide they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from ...traces import Array, Trace
from ..numbers import aligned, places_for

WHOLE = 8  # up to so many rows are all shown
SOME = 3  # of more keys, the ones looked at most
LABEL = 16  # cells a row's name may take
HEADING = 8  # cells a column's name may ask for


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """The part of an array that is shown.

    `places` are the decimals of a number, `label` and `cell` the cells of a name and of a number.
    """

    rows: Sequence[int]
    columns: Sequence[int]
    values: NDArray[Any]
    row_names: Sequence[str]
    column_names: Sequence[str]
    more_rows: int
    more_columns: int
    places: int
    label: int
    cell: int


def excerpt_of(trace: Trace, array: Array, width: int, *, beside: int = 0) -> Excerpt:
    """What fits into `width` cells when a number takes `beside` cells more than its digits."""
    values = array.values
    rows = _rows(trace, array)
    row_names = [_names(trace, array, 0)[row] for row in rows]
    places = places_for(values[rows].ravel())
    digits = max((len(aligned(number, places)) for number in values[rows].ravel()), default=1)
    column_names = _names(trace, array, 1)
    if array.axes[1] in trace.labels:
        digits = max(digits, min(max(map(cell_len, column_names), default=1), HEADING))
    cell = digits + beside
    rest = cell + 5 + len(f" … +{values.shape[1]}")  # what a line needs for one number at least
    label = min(max(map(cell_len, row_names), default=1), LABEL, width // 3, width - rest)
    label = max(label, 1)
    columns = _columns(trace, array, width - label - 3, cell + 2)
    return Excerpt(
        rows=rows,
        columns=columns,
        values=values[np.ix_(rows, columns)],
        row_names=row_names,
        column_names=[column_names[column] for column in columns],
        more_rows=len(values) - len(rows),
        more_columns=values.shape[1] - len(columns),
        places=places,
        label=label,
        cell=cell,
    )


def _names(trace: Trace, array: Array, axis: int) -> Sequence[str]:
    if not array.axes[axis]:  # made for the screen: there is one row, and it needs no name
        return ("",)
    size = array.values.shape[axis]
    return trace.labels.get(array.axes[axis]) or tuple(map(str, range(size)))


def _rows(trace: Trace, array: Array) -> list[int]:
    count = len(array.values)
    if count <= WHOLE:
        return list(range(count))
    if array.axes[0] == "query":
        return [int(trace.about["query"])]
    if array.axes[0] == "key":
        return sorted(top_keys(trace, SOME))
    return list(range(SOME))


def _columns(trace: Trace, array: Array, room: int, cell: int) -> list[int]:
    """All columns, or as many as leave room to say how many more there are."""
    count = array.values.shape[1]
    if count * cell <= room:
        return list(range(count))
    fitting = max(1, (room - len(f" … +{count}")) // cell)
    if array.axes[1] == "key":
        return sorted(top_keys(trace, fitting))
    return list(range(min(fitting, count)))


def top_keys(trace: Trace, count: int) -> list[int]:
    """The keys the chosen query looks at most, the first of them first."""
    weights = trace["weights"].values[int(trace.about["query"])]
    return [int(place) for place in np.argsort(-weights, kind="stable")[:count]]
