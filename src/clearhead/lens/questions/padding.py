"""Which queries are padding, told from the mask alone."""

import torch
from torch import Tensor

from .source import Source


def real_queries(source: Source) -> Tensor | None:
    """The queries whose own key some query may see; None where all are, or the mask has gaps."""
    batch, _, queries, keys = source.sizes
    stretches = source.stretches
    if stretches is None or queries > keys:
        return None
    start = (stretches.start_BT - source.request.first).expand(batch, queries)
    stop = (stretches.stop_BT - source.request.first).expand(batch, queries)
    steps = torch.zeros(batch, keys + 1, dtype=torch.int64, device=source.device)
    ones = (stop > start).to(torch.int64)
    steps.scatter_add_(1, start.clamp(0, keys).long(), ones)
    steps.scatter_add_(1, stop.clamp(0, keys).long(), -ones)
    real = steps.cumsum(1)[:, keys - queries : keys] > 0
    return None if bool(real.all()) else real
