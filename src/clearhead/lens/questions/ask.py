"""Questions put to a source: each gathers its collectors and makes one pass."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ...foundation.errors import InputError
from . import fused, plain
from .collectors import Blocks, Mass, Spans, Top
from .edges import Edges
from .scores import weights_on
from .source import Source
from .summaries import Rows, Summaries
from .sweep import row_sums, settled, sweep

OFF = 1e-3  # how far from 1 a row may add up before the kernel's lse is not taken


def rows_of(source: Source) -> Rows:
    """The lse that the kernel told, or one worked out from the scores."""
    if source.lse_BHT is None:
        return recomputed(source)
    return Rows(settled(source, source.lse_BHT), "announced")


def recomputed(source: Source) -> Rows:
    """The lse of every row, worked out from its scores."""
    found = row_sums(source) if fused.refuses(source) else fused.row_sums(source)
    return Rows(checked(source, found), "recomputed")


def checked(source: Source, lse_BHT: Tensor) -> Tensor:
    """The same numbers, or an error that says where the first NaN is from."""
    if not bool(lse_BHT.isnan().any()):
        return lse_BHT
    for name, tensor in (("query", source.request.q_BHTD), ("key", source.request.k_BGSD)):
        wrong = tensor.isnan().any(-1).nonzero()
        if len(wrong):
            example, head, place = wrong[0].tolist()
            raise InputError(
                f"{source.site}: {name} {place} of head {head} in example {example} is not a "
                "number (NaN), so nothing can be said of its attention. Look for the layer below "
                "whose output is NaN first."
            )
    raise InputError(f"{source.site}: the scores are not numbers (NaN). Look at its bias and mask.")


def summaries(
    source: Source, rows: Rows, *, size: int | None = None, top: int | None = None
) -> tuple[Summaries, Rows]:
    """All of them in one pass, with a map of `size` blocks and the `top` keys where asked for.

    The rows come back, worked out again where the kernel's own did not add up to 1.
    """
    _, _, queries, keys = source.sizes
    if not queries * keys:
        raise InputError(
            f"{source.site} has {queries} queries and {keys} keys, so there is nothing to see: "
            "run the model on at least one token."
        )
    way = plain if fused.refuses(source, top) else fused
    found = way.summaries(source, rows, size=size, top=top)
    if rows.origin == "announced" and not adds_up(source, rows.lse_BHT, found.mass_BHT):
        return summaries(source, recomputed(source), size=size, top=top)
    return found, rows


@torch.no_grad()
def adds_up(source: Source, lse_BHT: Tensor, mass_BHT: Tensor) -> bool:
    """Whether every row has the mass it must have."""
    every = slice(0, source.sizes[1]), slice(0, source.sizes[2])
    return rows_add_up(source, lse_BHT, mass_BHT, *every)


def rows_add_up(
    source: Source, lse_Bhr: Tensor, mass_Bhr: Tensor, heads: slice, rows: slice
) -> bool:
    """Whether these rows of these heads have the mass they must have."""
    wanted: Tensor | float = 1.0
    sinks_H = source.request.scores.sinks
    if sinks_H is not None:
        wanted = 1 - (sinks_H[heads].to(lse_Bhr)[:, None] - lse_Bhr).exp()
    off = (mass_Bhr - wanted).abs()
    if source.weighs_all_BT is None:
        off.masked_fill_(source.blind_BT[:, None, rows], 0.0)
    return bool((off <= OFF).all())


def weight_of(source: Source, rows: Rows, columns_BT: Tensor) -> Float[Tensor, "b h t"]:
    """Every query's weight on one key each; 0 where there is none, or it may not be seen."""
    return weights_on(source, rows.lse_BHT, columns_BT)


def region(
    source: Source, rows: Rows, *, part: slice, columns: slice, size: int
) -> tuple[Blocks, Float[Tensor, "b h t"]]:
    """A map of a region in at most `size` × `size` blocks, and the mass of each query in it."""
    row_edges, column_edges = Edges.of(part, size), Edges.of(columns, size)
    blocks, mass = Blocks(source, row_edges, column_edges), Mass(source)
    sweep(source, [blocks, mass], rows=part, columns=column_edges, lse_BHT=rows.lse_BHT)
    return blocks, mass.sums_BHT[:, :, part]


def top_keys(source: Source, rows: Rows, count: int) -> Top:
    """The strongest keys of every query."""
    _, _, queries, keys = source.sizes
    if not fused.refuses(source, count):
        found = fused.summaries(source, rows, top=count).top
        assert found is not None
        return found
    top = Top(source, count)
    every = Edges.of(slice(0, keys), 1)
    sweep(source, [top], rows=slice(0, queries), columns=every, lse_BHT=rows.lse_BHT)
    return top


def span_masses(source: Source, rows: Rows, spans: Mapping[str, slice]) -> Float[Tensor, "..."]:
    """Of each query the mass of each span: [batch, heads, queries, spans]."""
    found = Spans(source, list(spans.values()))
    low = min((span.start for span in spans.values()), default=0)
    high = max((span.stop for span in spans.values()), default=0)
    if low < high:
        edges = Edges.of(slice(low, high), 1)
        every = slice(0, source.sizes[2])
        sweep(source, [found], rows=every, columns=edges, lse_BHT=rows.lse_BHT)
    return found.sums_BHTn


def columns_mass(source: Source, rows: Rows, columns: Sequence[int]) -> Float[Tensor, "b h t"]:
    """Of each query the weights of these keys together."""
    shape = (source.sizes[0], source.sizes[2])
    total = torch.zeros(source.sizes[:3], dtype=source.wide, device=source.device)
    for column in columns:
        at_BT = torch.full(shape, column, dtype=torch.long, device=source.device)
        total += weight_of(source, rows, at_BT)
    return total
