"""What to keep of a tile: one small class a statistic. A new question is a new class here."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .edges import Edges
from .scores import FORBIDDEN
from .source import Source
from .sweep import Tile

NOBODY = -1  # the key that stands where fewer keys are allowed than were asked for


class Received:
    """How much each key gets from all real queries together; or from each query its share."""

    def __init__(self, source: Source, shares_BT: Float[Tensor, "b t"] | None = None) -> None:
        batch, heads, _, keys = source.sizes
        self.sums_BHS = _zeros(source, batch, heads, keys)
        counted_BT = source.real_BT if shares_BT is None else shares_BT
        self.shares_BT = None if counted_BT is None else counted_BT.to(source.wide)

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        if self.shares_BT is None:
            more_Bhc = tile.weights.sum(-1)
        else:
            shares_B1r1 = self.shares_BT[:, None, tile.rows, None]
            more_Bhc = (tile.weights @ shares_B1r1)[..., 0]
        self.sums_BHS[:, tile.heads, tile.keys].add_(more_Bhc)


class Entropy:
    """Of each query −Σ P ln P, in nats."""

    def __init__(self, source: Source) -> None:
        self.sums_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile: ln P is the score less the lse."""
        self.sums_BHT[:, tile.heads, tile.rows].add_(tile.lse * tile.mass).sub_(tile.surprise)


class Mass:
    """Of each query the sum of its weights: 1, less what a sink took."""

    def __init__(self, source: Source) -> None:
        self.sums_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        self.sums_BHT[:, tile.heads, tile.rows].add_(tile.mass)


class Peak:
    """Of each query the largest weight."""

    def __init__(self, source: Source) -> None:
        self.logs_BHT = _zeros(source, *source.sizes[:3]) + FORBIDDEN

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        so_far = self.logs_BHT[:, tile.heads, tile.rows]
        torch.maximum(so_far, tile.block_peaks.amax(-2).sub_(tile.lse), out=so_far)


class Distance:
    """Of each query how far back it looks on average, in tokens; and how far in any direction."""

    def __init__(self, source: Source) -> None:
        self.signed_BHT = _zeros(source, *source.sizes[:3])
        self.absolute_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile. Places are counted from the tile's first key, so that no digit is lost."""
        source = tile.source
        start = tile.rows.start + source.row - source.request.first - tile.keys.start
        height, width = tile.rows.stop - tile.rows.start, tile.keys.stop - tile.keys.start
        options = torch.zeros((), device=source.device, dtype=source.wide)
        rows_r = torch.arange(start, start + height).to(options)
        columns_c = torch.arange(width).to(options)
        signed = rows_r * tile.mass - _along(columns_c, tile.weights)
        self.signed_BHT[:, tile.heads, tile.rows].add_(signed)
        absolute = self.absolute_BHT[:, tile.heads, tile.rows]
        if start >= width - 1:
            absolute.add_(signed)
        elif start + height - 1 <= 0:
            absolute.sub_(signed)
        else:
            absolute.add_(_both_ways(tile.weights, rows_r, columns_c))


def _both_ways(weights: Tensor, rows_r: Tensor, columns_c: Tensor) -> Float[Tensor, "b h r"]:
    """Σ P |i − j|. Away from the diagonal the sign is one for all queries of the tile."""
    near = slice(max(int(rows_r[0]), 0), min(int(rows_r[-1]) + 1, len(columns_c)))
    sign_c = torch.ones_like(columns_c)
    sign_c[near], sign_c[near.stop :] = 0.0, -1.0
    far = rows_r * _along(sign_c, weights) - _along(sign_c * columns_c, weights)
    apart_nr = (rows_r - columns_c[near, None]).abs()
    close: Tensor = (weights[..., near, :] * apart_nr).sum(-2)
    return far + close


def _along(factors_c: Tensor, weights: Float[Tensor, "b h c r"]) -> Float[Tensor, "b h r"]:
    """Of each query the sum of its weights, each times a number of its key."""
    return (factors_c[None] @ weights)[..., 0, :]


class Blocks:
    """Sum, maximum and number of the allowed cells of every block of a map."""

    def __init__(self, source: Source, rows: Edges, columns: Edges) -> None:
        batch, heads, _, _ = source.sizes
        self.rows, self.columns = rows, columns
        shape = (batch, heads, rows.count, columns.count)
        self.sums = _zeros(source, *shape)
        self.logs = _zeros(source, *shape) + FORBIDDEN
        self.counts = torch.zeros(
            batch, rows.count, columns.count, dtype=torch.long, device=source.device
        )

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        peaks, mass = tile.block_peaks - tile.lse[..., None, :], tile.block_mass
        counted_BT = tile.source.counted_BT
        if counted_BT is not None:
            skipped_B11r = ~counted_BT[:, None, None, tile.rows]
            mass = mass.masked_fill(skipped_B11r, 0.0)
            peaks = peaks.masked_fill(skipped_B11r, FORBIDDEN)
        first, parts = self.rows.parts(tile.rows)
        across = slice(tile.columns.block, tile.columns.block + tile.columns.count)
        place = (slice(None), tile.heads, slice(first, first + len(parts)), across)
        self.sums[place].add_(_by_part(mass, parts, torch.sum).transpose(-2, -1))
        highest = self.logs[place]
        torch.maximum(highest, _by_part(peaks, parts, torch.amax).transpose(-2, -1), out=highest)
        if tile.heads.start == 0:
            self.counts[:, place[2], across] += self._count(tile, parts)

    def _count(self, tile: Tile, parts: list[slice]) -> Tensor:
        """How many allowed cells, [b, row blocks, column blocks]."""
        counted_BT = tile.source.counted_BT
        if tile.whole and counted_BT is None:
            sizes = torch.tensor([part.stop - part.start for part in parts])
            return (sizes * tile.columns.width)[None, :, None].to(self.counts.device)
        cells = tile.allowed
        if counted_BT is not None:
            cells = cells & counted_BT[:, None, tile.rows]
        sides = (tile.columns.count, tile.columns.width)
        by_block = cells.reshape(len(cells), *sides, cells.shape[-1]).sum(2)
        return _by_part(by_block, parts, torch.sum).transpose(-2, -1)


def _by_part(values: Tensor, parts: list[slice], reduced: Callable[..., Tensor]) -> Tensor:
    """[.., n, r] as [.., n, parts]: in one go where all parts are of one length."""
    lengths = {part.stop - part.start for part in parts}
    if len(lengths) == 1:
        return reduced(values.reshape(*values.shape[:-1], len(parts), -1), dim=-1)
    return torch.stack([reduced(values[..., part], dim=-1) for part in parts], dim=-1)


class Top:
    """Of each query its strongest keys, strongest first."""

    def __init__(self, source: Source, count: int) -> None:
        shape = (*source.sizes[:3], count)
        self.count = count
        self.logs_BHTk = _zeros(source, *shape) + FORBIDDEN
        self.keys_BHTk: Int[Tensor, "b h t k"] = torch.full(
            shape, NOBODY, dtype=torch.long, device=source.device
        )

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        place = (slice(None), tile.heads, tile.rows)
        best = tile.scores.topk(min(self.count, tile.scores.shape[-2]), dim=-2, sorted=False)
        logs = (best.values - tile.lse[..., None, :]).transpose(-2, -1)
        keys = torch.where(best.values > FORBIDDEN / 2, best.indices + tile.keys.start, NOBODY)
        logs = torch.cat([self.logs_BHTk[place], logs], dim=-1)
        keys = torch.cat([self.keys_BHTk[place], keys.transpose(-2, -1)], dim=-1)
        merged = logs.topk(self.count)
        self.logs_BHTk[place] = merged.values
        self.keys_BHTk[place] = keys.gather(-1, merged.indices)


class Spans:
    """Of each query how much of its attention goes to each of these stretches of keys."""

    def __init__(self, source: Source, spans: list[slice]) -> None:
        self.spans = spans
        self.sums_BHTn = _zeros(source, *source.sizes[:3], len(spans))

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        keys = tile.keys
        for number, span in enumerate(self.spans):
            low, high = max(span.start, keys.start), min(span.stop, keys.stop)
            if low < high:
                part = tile.weights[..., low - keys.start : high - keys.start, :]
                self.sums_BHTn[:, tile.heads, tile.rows, number] += part.sum(-2)


def _zeros(source: Source, *shape: int) -> Float[Tensor, "..."]:
    return torch.zeros(shape, dtype=source.wide, device=source.device)
