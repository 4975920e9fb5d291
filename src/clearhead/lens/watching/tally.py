"""Statistics worked out while the model runs, for watching that keeps no queries and no keys."""

from dataclasses import dataclass, replace

from torch import Tensor

from ...attention import Request
from ..questions import ask
from ..questions.answers import Lse
from ..questions.padding import real_queries
from ..questions.source import Blind, Source
from ..questions.summaries import Summaries

MAP = 128  # blocks a side


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The summaries of one call of one site, and which queries of it are padding.

    Args:
        shift: How many keys that were seen before stand before the first of this call.
    """

    found: Summaries
    lse: Lse
    padded_BT: Tensor | None
    queries: int
    shift: int

    def tensors(self) -> list[Tensor]:
        """All that takes memory."""
        found = [value for value in vars(self.found).values() if isinstance(value, Tensor)]
        blocks, top = self.found.blocks, self.found.top
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
    return Tally(
        found=found, lse=rows.origin, padded_BT=padded_BT, queries=request.queries, shift=shift
    )
