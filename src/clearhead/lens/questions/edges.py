"""A stretch of places cut into blocks as even as can be: the longer ones come first."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad


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
        starts = [run.start + i * run.width for run in self.runs for i in range(run.count)]
        return [*starts, self.stop]

    def add_up(self, values_r: Tensor, dim: int) -> Tensor:
        """Sums over the places of each block, along `dim`."""
        at = [self.bounds()[i] - self.start for i in range(self.count + 1)]
        running = pad(values_r.movedim(dim, -1).cumsum(-1), (1, 0))
        edges = torch.tensor(at, device=values_r.device)
        return (running[..., edges[1:]] - running[..., edges[:-1]]).movedim(-1, dim)

    def blocks_of(self, places: slice) -> list[tuple[int, slice]]:
        """Which blocks these places touch, and where within the slice each lies."""
        found = []
        bounds = self.bounds()
        for block in range(self.count):
            low, high = max(bounds[block], places.start), min(bounds[block + 1], places.stop)
            if low < high:
                found.append((block, slice(low - places.start, high - places.start)))
        return found


def _parts(run: Run, number: int, longest: int) -> list[Run]:
    """One block of a run in pieces that fit."""
    start = run.start + number * run.width
    return [
        Run(start + at, min(longest, run.width - at), run.block + number, 1)
        for at in range(0, run.width, longest)
    ]
