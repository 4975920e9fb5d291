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

# Keys a tile, and scores a tile: what fits a core's cache, and what fills a chip.
CPU_LONGEST, GPU_LONGEST = 1024, 4096
CPU_PAIRS, GPU_PAIRS = 2**18, 2**26
LEAST = 64  # queries a tile, where there are as many: fewer would make poor products


@dataclass(frozen=True, eq=False)
class Tile:
    """The scores of some keys and some queries, and what several collectors want of them.

    Keys go down, queries across. The next tile is made in the same memory.
    """

    source: Source
    rows: slice
    columns: Run
    heads: slice
    scores: Float[Tensor, "b h c r"]
    lse: Float[Tensor, "b h r"]
    whole: bool  # every pair is allowed
    room: "Room"

    @cached_property
    def weights(self) -> Float[Tensor, "b h c r"]:
        """The weights of these pairs."""
        room = self.room.like(self.scores, 1)
        return torch.sub(self.scores, self.lse[..., None, :], out=room).exp_()

    @cached_property
    def surprise(self) -> Float[Tensor, "b h r"]:
        """Of each query, the sum of its weights times their scores."""
        room = self.room.like(self.scores, 2)
        return torch.mul(self.weights, self.scores, out=room).sum(-2)

    @cached_property
    def block_mass(self) -> Float[Tensor, "b h n r"]:
        """Of each query, the weight of each block of keys."""
        mass: Tensor = self._in_blocks(self.weights).sum(-2)
        return mass

    @cached_property
    def mass(self) -> Float[Tensor, "b h r"]:
        """Of each query, the weight of all these keys."""
        return self.block_mass.sum(-2)

    @cached_property
    def block_peaks(self) -> Float[Tensor, "b h n r"]:
        """Of each query, the largest score in each block of keys."""
        return self._in_blocks(self.scores).amax(-2)

    @cached_property
    def allowed(self) -> Bool[Tensor, "b c r"]:
        """Who may look at whom."""
        return allowed(self.source, self.rows, self.keys)

    @property
    def keys(self) -> slice:
        """The keys of this tile."""
        return slice(self.columns.start, self.columns.stop)

    def _in_blocks(self, pairs: Tensor) -> Tensor:
        sides = (self.columns.count, self.columns.width, pairs.shape[-1])
        return pairs.view(*pairs.shape[:-2], *sides)


class Room:
    """Memory that one tile after the other is made in; fresh memory would cost more than it."""

    def __init__(self) -> None:
        self.parts: dict[int, Tensor] = {}

    def of(self, shape: tuple[int, ...], like: Tensor, number: int) -> Tensor:
        """Room for numbers of this shape; another number, other room."""
        count, had = math.prod(shape), self.parts.get(number)
        if had is None or had.numel() < count:
            had = self.parts[number] = like.new_empty(count)
        return had[:count].view(shape)

    def like(self, tensor: Tensor, number: int) -> Tensor:
        """Room for numbers of the same shape as these."""
        return self.of(tuple(tensor.shape), tensor, number)


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
    on_cpu = source.device.type == "cpu"
    pairs = CPU_PAIRS if on_cpu else GPU_PAIRS
    longest = min(CPU_LONGEST if on_cpu else GPU_LONGEST, columns.stop - columns.start)
    per_row = batch * (heads // groups) * longest
    height = max(1, min(rows.stop - rows.start, max(pairs // per_row, LEAST)))
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
    with torch.no_grad():
        for tile in tiles_of(source, plan(source, rows, columns), lse_BHT):
            for collector in collectors:
                collector.see(tile)


def tiles_of(source: Source, chosen: Plan, lse_BHT: Tensor) -> Iterator[Tile]:
    """Every tile that has an allowed pair, some heads after the other."""
    count = source.request.k_BGSD.shape[1]
    shared, room = source.sizes[1] // count, Room()
    like = torch.empty(0, dtype=source.wide, device=source.device)
    for rows, run, whole in _tiles(source, chosen):
        for start in range(0, count, chosen.groups):
            groups = slice(start, min(start + chosen.groups, count))
            heads = slice(groups.start * shared, groups.stop * shared)
            keys = slice(run.start, run.stop)
            sides = (keys.stop - keys.start, rows.stop - rows.start)
            out = room.of((source.sizes[0], heads.stop - heads.start, *sides), like, 0)
            yield Tile(
                source=source,
                rows=rows,
                columns=run,
                heads=heads,
                scores=tile_scores(source, rows, keys, groups, masked=not whole, out=out),
                lse=lse_BHT[:, heads, rows],
                whole=whole,
                room=room,
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
        most = torch.maximum(self.most[place], tile.scores.amax(-2))
        room = tile.room.like(tile.scores, 1)
        more = torch.sub(tile.scores, most[..., None, :], out=room).exp_().sum(-2)
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
