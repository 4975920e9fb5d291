"""One pass over all tiles of a site, for everything that was asked at once.

Memory is O(n): a tile of scores lives until every collector has seen it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ...attention.masks import Tiles
from .edges import Edges, Run
from .scores import FORBIDDEN, tile_scores
from .source import Source, allowed

LONGEST = 4096  # keys a tile
CPU_PAIRS, GPU_PAIRS = 2**18, 2**26  # scores a tile: what fits the cache, what fills the chip


@dataclass(frozen=True, eq=False)
class Tile:
    """The scores of some queries and some keys, and what several collectors want of them."""

    source: Source
    rows: slice
    columns: Run
    heads: slice
    scores: Float[Tensor, "b h r c"]
    lse: Float[Tensor, "b h r"]
    whole: bool  # every pair is allowed

    @cached_property
    def weights(self) -> Float[Tensor, "b h r c"]:
        """The weights of these pairs."""
        return (self.scores - self.lse[..., None]).exp_()

    @cached_property
    def block_mass(self) -> Float[Tensor, "b h r n"]:
        """Of each query, the weight of each block of keys."""
        mass: Tensor = self._in_blocks(self.weights).sum(-1)
        return mass

    @cached_property
    def block_peaks(self) -> Float[Tensor, "b h r n"]:
        """Of each query, the largest score in each block of keys."""
        return self._in_blocks(self.scores).amax(-1)

    @cached_property
    def allowed(self) -> Bool[Tensor, "b r c"]:
        """Who may look at whom."""
        return allowed(self.source, self.rows, self.keys)

    @property
    def keys(self) -> slice:
        """The keys of this tile."""
        return slice(self.columns.start, self.columns.stop)

    def _in_blocks(self, pairs: Tensor) -> Tensor:
        return pairs.view(*pairs.shape[:-1], self.columns.count, self.columns.width)


@runtime_checkable
class Collector(Protocol):
    """Keeps what it needs of every tile; says at the end what came of it."""

    def see(self, tile: Tile) -> None: ...


@dataclass(frozen=True)
class Plan:
    """Which queries and keys to visit, and in tiles of what size."""

    rows: slice
    columns: Edges
    groups: int
    height: int
    longest: int


def plan(source: Source, rows: slice, columns: Edges) -> Plan:
    """Tiles as large as suits the device."""
    batch, heads, _, _ = source.sizes
    groups = source.request.k_BGSD.shape[1]
    pairs = CPU_PAIRS if source.device.type == "cpu" else GPU_PAIRS
    longest = min(LONGEST, columns.stop - columns.start)
    per_row = batch * (heads // groups) * longest
    height = max(1, min(rows.stop - rows.start, pairs // per_row))
    several = max(1, min(groups, pairs // (per_row * height)))
    return Plan(rows, columns, several, height, longest)


def sweep(
    source: Source,
    collectors: Sequence[Collector],
    *,
    rows: slice,
    columns: Edges,
    lse_BHT: Float[Tensor, "b h t"],
) -> None:
    """Show every tile that has an allowed pair to every collector."""
    chosen = plan(source, rows, columns)
    with torch.no_grad():
        for part, run, whole in _tiles(source, chosen):
            for tile in _tiles_of_heads(source, chosen, part, run, whole, lse_BHT):
                for collector in collectors:
                    collector.see(tile)


def _tiles_of_heads(
    source: Source, chosen: Plan, rows: slice, run: Run, whole: bool, lse_BHT: Tensor
) -> Iterator[Tile]:
    """The same queries and keys for some heads after the other."""
    count = source.request.k_BGSD.shape[1]
    shared = source.sizes[1] // count
    for start in range(0, count, chosen.groups):
        groups = slice(start, min(start + chosen.groups, count))
        heads = slice(groups.start * shared, groups.stop * shared)
        yield Tile(
            source=source,
            rows=rows,
            columns=run,
            heads=heads,
            scores=tile_scores(source, rows, slice(run.start, run.stop), groups, masked=not whole),
            lse=lse_BHT[:, heads, rows],
            whole=whole,
        )


def _tiles(source: Source, chosen: Plan) -> Iterator[tuple[slice, Run, bool]]:
    """The tiles worth visiting, and whether each is allowed from corner to corner."""
    rows = [
        slice(start, min(start + chosen.height, chosen.rows.stop))
        for start in range(chosen.rows.start, chosen.rows.stop, chosen.height)
    ]
    runs = chosen.columns.tiles(chosen.longest)
    some_RC, every_RC = _verdicts(source, rows, runs)
    for part, some_C, every_C in zip(rows, some_RC.tolist(), every_RC.tolist(), strict=True):
        for run, some, every in zip(runs, some_C, every_C, strict=True):
            if some:
                yield part, run, every


def _verdicts(
    source: Source, rows: Sequence[slice], runs: Sequence[Run]
) -> tuple[Bool[Tensor, "r c"], Bool[Tensor, "r c"]]:
    """For each tile: may any pair look, may every pair."""
    mask, device = source.stretches or source.request.mask, source.device
    batch = torch.arange(source.sizes[0] if mask.batched else 1, device=device)[:, None, None]

    def places(numbers: list[int], shift: int) -> Tensor:
        return torch.tensor(numbers, device=device) + shift

    first = source.request.first
    verdict = mask.tiles(
        Tiles(
            batch=batch,
            top=places([part.start for part in rows], source.row)[:, None],
            bottom=places([part.stop - 1 for part in rows], source.row)[:, None],
            left=places([run.start for run in runs], first),
            right=places([run.stop - 1 for run in runs], first),
        )
    )
    shape = (len(batch), len(rows), len(runs))
    some_RC = verdict.some.expand(shape).any(0)
    every_RC = verdict.every.expand(shape).all(0)
    if source.weighs_all_BT is not None:
        blind_T = source.weighs_all_BT.any(0)
        some_RC = some_RC | torch.stack([blind_T[part].any() for part in rows])[:, None]
    return some_RC.cpu(), every_RC.cpu()


def row_sums(source: Source) -> Float[Tensor, "b h t"]:
    """The lse of every row, from its scores; 0 on a row that sees nothing."""
    batch, heads, queries, keys = source.sizes
    shape = (batch, heads, queries)
    nothing = torch.zeros(shape, dtype=source.wide, device=source.device)
    collector = LogSum(source)
    every = Edges.of(slice(0, keys), 1)
    if keys:
        sweep(source, [collector], rows=slice(0, queries), columns=every, lse_BHT=nothing)
    return settled(source, collector.total())


class LogSum:
    """The log of each row's sum of exponentials, tile by tile."""

    def __init__(self, source: Source) -> None:
        batch, heads, queries, _ = source.sizes
        self.sum = torch.zeros(batch, heads, queries, device=source.device, dtype=source.wide)
        self.most = torch.full_like(self.sum, FORBIDDEN)
        self.source = source

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        place = (slice(None), tile.heads, tile.rows)
        most = torch.maximum(self.most[place], tile.scores.amax(-1))
        more = (tile.scores - most[..., None]).exp_().sum(-1)
        self.sum[place] = self.sum[place] * (self.most[place] - most).exp() + more
        self.most[place] = most

    def total(self) -> Float[Tensor, "b h t"]:
        """The lse, sinks included."""
        lse_BHT: Tensor = self.most + self.sum.log()
        sinks_H = self.source.request.scores.sinks
        if sinks_H is not None:
            lse_BHT = torch.logaddexp(lse_BHT, sinks_H.to(lse_BHT)[:, None])
        return lse_BHT


def settled(source: Source, lse_BHT: Float[Tensor, "b h t"]) -> Float[Tensor, "b h t"]:
    """The lse with a number that works on blind rows, where kernels leave anything."""
    blind_B1T = source.blind_BT[:, None]
    filler = 0.0 if source.weighs_all_BT is None else math.log(max(source.sizes[3], 1))
    return lse_BHT.to(source.wide).masked_fill(blind_B1T, filler)
