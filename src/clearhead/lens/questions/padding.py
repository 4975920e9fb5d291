"""What is told from the mask alone: which queries are padding, how many may see a key."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from .source import Source


def real_queries(source: Source) -> Tensor | None:
    """The queries whose own key some query may see; None where all are, or the mask has gaps."""
    _, _, queries, keys = source.sizes
    if source.stretches is None or queries > keys:
        return None
    real = onlookers(source, torch.ones_like(source.blind_BT))[:, keys - queries : keys] > 0
    return None if bool(real.all()) else real


def onlookers(source: Source, counted_BT: Bool[Tensor, "b t"]) -> Int[Tensor, "b s"]:
    """How many of the queries that count may see each key."""
    batch, _, queries, keys = source.sizes
    stretches = source.stretches
    if stretches is None:
        counts = torch.zeros(batch, keys, dtype=torch.int64, device=source.device)
        for rows, seen_Brs in source.seen_by_rows():
            counts += (seen_Brs & counted_BT[:, rows, None]).sum(1)
        return counts
    start = (stretches.start_BT - source.request.first).expand(batch, queries)
    stop = (stretches.stop_BT - source.request.first).expand(batch, queries)
    steps = torch.zeros(batch, keys + 1, dtype=torch.int64, device=source.device)
    ones = ((stop > start) & counted_BT).to(torch.int64)
    steps.scatter_add_(1, start.clamp(0, keys).long(), ones)
    steps.scatter_add_(1, stop.clamp(0, keys).long(), -ones)
    return steps.cumsum(1)[:, :keys]
