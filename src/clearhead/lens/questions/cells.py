"""Exact weights of chosen queries and keys, and of no others."""

import torch
from jaxtyping import Float
from torch import Tensor

from .ask import OFF, checked, rows_add_up
from .edges import Edges
from .scores import row_scores
from .source import Source
from .summaries import Rows
from .sweep import CPU_PAIRS, GPU_PAIRS, LogSum, settled, sweep


def exact(
    source: Source, known: Rows | None, *, rows: slice, columns: slice, groups: slice
) -> tuple[Float[Tensor, "b h r c"], Rows]:
    """The cells of all query heads of these key/value heads, and the lse they were made with.

    With it the weights of all keys of a row add up to 1: where the kernel told a lse with which
    they do not, it is worked out again.

    Args:
        known: The lse of every row, where a pass over all of them has settled it.
    """
    shared = source.sizes[1] // source.request.k_BGSD.shape[1]
    heads = slice(groups.start * shared, groups.stop * shared)

    def made(lse: Rows) -> Tensor:
        taken_Bhr = lse.lse_BHT[:, heads]
        return cells(source, taken_Bhr, rows=rows, columns=columns, groups=groups)

    if known is not None:
        lse = Rows(known.lse_BHT[:, :, rows], known.origin)
    elif source.lse_BHT is None or columns != slice(0, source.sizes[3]):
        lse = lse_of(source, rows, heads)
    else:
        lse = told(source, source.lse_BHT, rows)
        found = made(lse)  # with every key: whether they add up is seen without another q·k
        if rows_add_up(source, lse.lse_BHT[:, heads], found.sum(-1), heads, rows):
            return found, lse
        lse = worked_out(source, rows)
    return made(lse), lse


def cells(
    source: Source, lse_BHr: Tensor, *, rows: slice, columns: slice, groups: slice
) -> Float[Tensor, "b h r c"]:
    """Exact weights of these queries and keys, for all query heads of these key/value heads."""
    shared = source.sizes[1] // source.request.k_BGSD.shape[1]
    shape = (
        source.sizes[0],
        (groups.stop - groups.start) * shared,
        rows.stop - rows.start,
        columns.stop - columns.start,
    )
    weights = torch.empty(shape, dtype=source.wide, device=source.device)
    for part in pieces(source, columns, rows.stop - rows.start):
        inside = slice(part.start - columns.start, part.stop - columns.start)
        with torch.no_grad():
            scores = row_scores(source, rows, part, groups)
            weights[..., inside] = scores.sub_(lse_BHr[..., None]).exp_()
    return weights


def pieces(source: Source, columns: slice, height: int) -> list[slice]:
    """The keys in pieces whose scores, in full precision, stay small."""
    pairs = 16 * CPU_PAIRS if source.device.type == "cpu" else GPU_PAIRS
    batch, heads, _, _ = source.sizes
    longest = max(256, pairs // max(batch * heads * height, 1))
    starts = range(columns.start, columns.stop, longest)
    return [slice(start, min(start + longest, columns.stop)) for start in starts]


def lse_of(source: Source, rows: slice, heads: slice) -> Rows:
    """The lse of a few rows, without a pass over the others: the kernel's, where it is right.

    Args:
        heads: Those for which it must be.
    """
    own = worked_out(source, rows)
    if source.lse_BHT is None:
        return own
    lse = told(source, source.lse_BHT, rows)
    off = (own.lse_BHT - lse.lse_BHT)[:, heads].expm1().abs()
    return lse if bool((off <= OFF).all()) else own


def told(source: Source, lse_BHT: Tensor, rows: slice) -> Rows:
    """The lse of a few rows as the kernel told it."""
    return Rows(settled(source, lse_BHT)[:, :, rows], "announced")


def worked_out(source: Source, rows: slice) -> Rows:
    """The lse of a few rows, from their scores."""
    collector = LogSum(source)
    every = Edges.of(slice(0, source.sizes[3]), 1)
    nothing = torch.zeros(source.sizes[:3], dtype=source.wide, device=source.device)
    sweep(source, [collector], rows=rows, columns=every, lse_BHT=nothing)
    found = settled(source, collector.total())[:, :, rows]
    return Rows(checked(source, found), "recomputed")
