"""Statistics worked out while the model runs, for watching that keeps no queries and no keys."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from ...attention import Request
from ..questions import ask
from ..questions.answers import Lse
from ..questions.collectors import Blocks, Top
from ..questions.padding import real_queries
from ..questions.source import Blind, Source

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
        shift: How many keys that were seen before stand before the first of this call.
    """

    numbers: Mapping[str, Tensor]
    blocks: Blocks | None
    top: Top | None
    lse: Lse
    padded_BT: Tensor | None
    queries: int
    shift: int

    def tensors(self) -> list[Tensor]:
        """All that takes memory."""
        found, blocks, top = list(self.numbers.values()), self.blocks, self.top
        found += [] if blocks is None else [blocks.sums, blocks.logs, blocks.counts]
        return found + ([] if top is None else [top.logs_BHTk, top.keys_BHTk])


def tallied(
    site: str,
    request: Request,
    lse_BHT: Tensor | None,
    blind: Blind,
    statistics: frozenset[str],
    top: int,
    shift: int,
) -> Tally:
    """Answer the questions inside the call."""
    source = Source(site=site, request=request, lse_BHT=lse_BHT, blind=blind)
    real_BT = None if site.endswith("cross") else real_queries(source)
    source = replace(source, real_BT=real_BT)
    found, rows = ask.summaries(
        source,
        ask.rows_of(source),
        size=MAP if "map" in statistics else None,
        top=top if "top" in statistics else None,
    )
    padded_BT = None if real_BT is None else ~real_BT
    names = [name for asked in sorted(statistics & set(NUMBERS)) for name in NUMBERS[asked]]
    return Tally(
        numbers={name: getattr(found, name) for name in names},
        blocks=found.blocks,
        top=found.top,
        lse=rows.origin,
        padded_BT=padded_BT,
        queries=request.queries,
        shift=shift,
    )
