"""A stretch of places cut into blocks as even as can be: the longer ones come first."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Run:
    """Blocks of one width side by side: the first is block `block` and begins at place `start`."""

    start: int
    width: int
    block: int
    count: int

    @property
    def stop(self) -> int:
        """The place behind the last block."""
        return self.start + self.width * self.count


@dataclass(frozen=True)
class Edges:
    """`count` blocks over the places from `start` to `stop`; never more blocks than places."""

    start: int
    stop: int
    count: int

    @classmethod
    def of(cls, places: slice, blocks: int) -> "Edges":
        """At most this many blocks over these places."""
        return cls(places.start, places.stop, max(1, min(blocks, places.stop - places.start)))

    @property
    def runs(self) -> tuple[Run, ...]:
        """The blocks as at most two runs of equal width."""
        width, longer = divmod(self.stop - self.start, self.count)
        one = Run(self.start, width + 1, 0, longer)
        two = Run(one.stop, width, longer, self.count - longer)
        return tuple(run for run in (one, two) if run.count)

    def tiles(self, longest: int) -> list[Run]:
        """The runs cut into pieces of at most `longest` places: whole blocks, or parts of one."""
        pieces = []
        for run in self.runs:
            if run.width > longest:
                pieces += [part for i in range(run.count) for part in _parts(run, i, longest)]
                continue
            each = longest // max(run.width, 1)
            for block in range(0, run.count, each):
                count = min(each, run.count - block)
                start = run.start + block * run.width
                pieces.append(Run(start, run.width, run.block + block, count))
        return pieces

    def bounds(self) -> list[int]:
        """Where each block begins, and where the last one ends."""
        return self._bounds

    @cached_property
    def _bounds(self) -> list[int]:
        starts = [run.start + i * run.width for run in self.runs for i in range(run.count)]
        return [*starts, self.stop]

    def parts(self, places: slice) -> tuple[int, list[slice]]:
        """The first block that these places touch, and the part of them in it and in each next."""
        bounds = self._bounds
        first = bisect_right(bounds, places.start) - 1
        found = []
        for block in range(first, self.count):
            low, high = max(bounds[block], places.start), min(bounds[block + 1], places.stop)
            if low >= high:
                break
            found.append(slice(low - places.start, high - places.start))
        return first, found


def _parts(run: Run, number: int, longest: int) -> list[Run]:
    """One block of a run in pieces that fit."""
    start = run.start + number * run.width
    return [
        Run(start + at, min(longest, run.width - at), run.block + number, 1)
        for at in range(0, run.width, longest)
    ]
