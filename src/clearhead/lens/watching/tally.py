"""Statistics worked out while the model runs, for watching that keeps no queries and no keys."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..questions import ask
from ..questions.answers import Lse
from ..questions.collectors import Blocks, Top
from ..questions.source import Source
from .wanted import Wanted

MAP = 128  # blocks a side
NUMBERS = {
    "received": ("received_BHS",),
    "entropy": ("entropy_BHT",),
    "peak": ("peak_BHT",),
    "distance": ("signed_BHT", "absolute_BHT"),
    "sink": ("sink_BHT",),
}


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The summaries of one call of one site, and which queries of it are padding.

    Args:
        numbers: What was asked for and is one number a query or a key, by its name in Summaries.
        sizes: Batch, heads, queries and keys of the call.
        step: Which call of the model this was.
        shift: How many keys that were seen before stand before the first of this call.
    """

    numbers: Mapping[str, Tensor]
    blocks: Blocks | None
    top: Top | None
    lse: Lse
    padded_BT: Tensor | None
    sizes: tuple[int, int, int, int]
    step: int
    shift: int

    @property
    def rows(self) -> int:
        """How many rows the batch of this call had."""
        return self.sizes[0]

    @property
    def queries(self) -> int:
        """How many queries each of them had."""
        return self.sizes[2]

    def tensors(self) -> list[Tensor]:
        """All that takes memory."""
        found, blocks, top = list(self.numbers.values()), self.blocks, self.top
        found += [] if blocks is None else [blocks.sums, blocks.logs, blocks.counts]
        found += [] if self.padded_BT is None else [self.padded_BT]
        return found + ([] if top is None else [top.logs_BHTk, top.keys_BHTk])

    def moved(self, way: Callable[[Tensor], Tensor]) -> "Tally":
        """The same with every tensor put through a function that keeps all axes but the first."""
        blocks, top = copy(self.blocks), copy(self.top)
        if blocks is not None:
            blocks.sums, blocks.logs, blocks.counts = map(
                way, (blocks.sums, blocks.logs, blocks.counts)
            )
        if top is not None:
            top.logs_BHTk, top.keys_BHTk = way(top.logs_BHTk), way(top.keys_BHTk)
        return replace(
            self,
            numbers={name: way(numbers) for name, numbers in self.numbers.items()},
            blocks=blocks,
            top=top,
            padded_BT=None if self.padded_BT is None else way(self.padded_BT),
        )


def tallied(source: Source, wanted: Wanted, *, step: int, shift: int) -> Tally:
    """Answer the questions inside the call."""
    statistics = wanted.statistics
    found, rows = ask.summaries(
        source,
        ask.rows_of(source),
        size=MAP if "map" in statistics else None,
        top=wanted.top if "top" in statistics else None,
    )
    names = [name for asked in sorted(statistics & set(NUMBERS)) for name in NUMBERS[asked]]
    return Tally(
        numbers={name: getattr(found, name) for name in names},
        blocks=found.blocks,
        top=found.top,
        lse=rows.origin,
        padded_BT=None if source.real_BT is None else ~source.real_BT,
        sizes=source.sizes,
        step=step,
        shift=shift,
    )


def along(tally: Tally, rows: Tensor, goes_on: Sequence[bool]) -> Tally:
    """The summaries of these rows of the batch: the way each hypothesis came.

    Args:
        goes_on: Which of them had not ended before this call; the queries of the others are left
            out, and give no key anything.
    """
    taken = tally.moved(lambda numbers: numbers[rows.to(numbers.device)])
    taken = replace(taken, sizes=(len(rows), *tally.sizes[1:]))
    if all(goes_on):
        return taken
    device = next(iter(taken.tensors())).device
    on_W = torch.tensor(goes_on, device=device)
    ended_WT = ~on_W[:, None].expand(-1, tally.queries)
    padded_WT = ended_WT if taken.padded_BT is None else ended_WT | taken.padded_BT
    numbers = dict(taken.numbers)
    if "received_BHS" in numbers:
        received_WHS = numbers["received_BHS"]
        numbers["received_BHS"] = received_WHS * on_W[:, None, None].to(received_WHS)
    return replace(taken, numbers=numbers, padded_BT=padded_WT)
