"""Statistics worked out while the model runs, for watching that keeps no queries and no keys."""

from dataclasses import dataclass

from torch import Tensor

from ...attention import Request
from ..questions import ask
from ..questions.answers import Lse
from ..questions.source import Blind, Source

MAP = 128  # blocks a side


@dataclass(frozen=True, kw_only=True)
class Tally:
    """The summaries of one call of one site, and which queries of it are padding."""

    found: ask.Summaries
    lse: Lse
    start: int

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
    start: int,
) -> Tally:
    """Answer the questions inside the call."""
    source = Source(site=site, request=request, lse_BHT=lse_BHT, blind=blind)
    found, rows = ask.summaries(
        source,
        ask.rows_of(source),
        size=MAP if "map" in statistics else None,
        top=top if "top" in statistics else None,
    )
    return Tally(found=found, lse=rows.origin, start=start)
