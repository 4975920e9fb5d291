"""Every example's ids in one memory-mapped Arrow file: written once, read at any place.

The name of the file is what it was made from: other data, another vocabulary or other settings
are another file, and what is the same is not made again.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..foundation.errors import FileError

ROWS = 16_384  # examples a record batch: every one but the last is full, so a place is arithmetic
Ids = NDArray[np.int32]
Given = Sequence[int] | Ids
Example = tuple[Ids, ...]


def write_store(path: Path, names: Sequence[str], examples: Iterable[Sequence[Given]]) -> int:
    """Write the ids of all examples; says how many. Until all are written there is no file."""
    schema = pa.schema([(name, pa.list_(pa.int32())) for name in names])
    path.parent.mkdir(parents=True, exist_ok=True)
    part, count = path.with_suffix(".part"), 0
    waiting: list[Sequence[Given]] = []
    with pa.OSFile(str(part), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for example in examples:
            waiting.append(example)
            if len(waiting) == ROWS:
                writer.write(_batch(waiting, schema))
                count, waiting = count + ROWS, []
        if waiting:
            writer.write(_batch(waiting, schema))
            count += len(waiting)
    part.replace(path)
    return count


def _batch(examples: Sequence[Sequence[Given]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        pa.array(column, type=schema.field(0).type) for column in zip(*examples, strict=True)
    ]
    return pa.record_batch(columns, schema=schema)


def open_store(path: Path) -> "Store":
    """What was written there."""
    try:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
    except (pa.ArrowInvalid, OSError) as error:
        raise FileError(
            f"{path} cannot be read as stored examples ({error}): remove the folder {path.parent}, "
            "and it is made again."
        ) from error
    return Store(reader)


class Store:
    """Examples by number. What is read is a view of the file: memory stays flat."""

    def __init__(self, reader: pa.RecordBatchFileReader) -> None:
        self.reader = reader
        self.names = tuple(reader.schema.names)
        batches = reader.num_record_batches
        last = reader.get_batch(batches - 1).num_rows if batches else 0
        self.count: int = max(batches - 1, 0) * ROWS + last
        self._views: dict[int, Mapping[str, tuple[Ids, Ids]]] = {}

    @cached_property
    def longest(self) -> int:
        """How many ids the longest field of all examples has."""
        return max(
            (
                int(np.diff(starts).max())
                for batch in range(self.reader.num_record_batches)
                for starts, _ in self._view(batch).values()
            ),
            default=0,
        )

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> Example:
        """One example, a field for each name."""
        view, row = self._view(number // ROWS), number % ROWS
        return tuple(values[starts[row] : starts[row + 1]] for starts, values in view.values())

    def lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """How many ids these examples have, [examples, fields]."""
        found = np.empty((len(numbers), len(self.names)), dtype=np.int32)
        batches, rows = np.divmod(numbers, ROWS)
        for batch in np.unique(batches):
            here = batches == batch
            for column, (starts, _) in enumerate(self._view(int(batch)).values()):
                found[here, column] = starts[rows[here] + 1] - starts[rows[here]]
        return found

    def _view(self, batch: int) -> Mapping[str, tuple[Ids, Ids]]:
        """Of one record batch, where each example begins, and all ids: memory of the file."""
        if batch not in self._views:
            found = self.reader.get_batch(batch)
            self._views[batch] = {
                name: (found.column(name).offsets.to_numpy(), found.column(name).values.to_numpy())
                for name in self.names
            }
        return self._views[batch]
