"""What to keep of a tile: one small class a statistic. A new question is a new class here."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from .edges import Edges
from .scores import FORBIDDEN
from .source import Source
from .sweep import Tile

NOBODY = -1  # the key that stands where fewer keys are allowed than were asked for


class Received:
    """How much each key gets from all real queries together."""

    def __init__(self, source: Source) -> None:
        batch, heads, _, keys = source.sizes
        self.sums_BHS = _zeros(source, batch, heads, keys)
        real_BT = torch.ones_like(source.blind_BT) if source.real_BT is None else source.real_BT
        self.real_B11T = real_BT[:, None, None].to(source.wide)

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        more_Bh1c = self.real_B11T[..., tile.rows] @ tile.weights
        self.sums_BHS[:, tile.heads, tile.keys] += more_Bh1c[..., 0, :]


class Entropy:
    """Of each query −Σ P ln P, in nats."""

    def __init__(self, source: Source) -> None:
        self.sums_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile: ln P is the score less the lse."""
        of_scores = torch.linalg.vecdot(tile.weights, tile.scores)
        mass = tile.block_mass.sum(-1)
        self.sums_BHT[:, tile.heads, tile.rows] += tile.lse * mass - of_scores


class Mass:
    """Of each query the sum of its weights: 1, less what a sink took."""

    def __init__(self, source: Source) -> None:
        self.sums_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        self.sums_BHT[:, tile.heads, tile.rows] += tile.block_mass.sum(-1)


class Peak:
    """Of each query the largest weight."""

    def __init__(self, source: Source) -> None:
        self.logs_BHT = _zeros(source, *source.sizes[:3]) + FORBIDDEN

    def see(self, tile: Tile) -> None:
        """Add one tile."""
        place = (slice(None), tile.heads, tile.rows)
        here = tile.block_peaks.amax(-1) - tile.lse
        self.logs_BHT[place] = torch.maximum(self.logs_BHT[place], here)


class Distance:
    """Of each query how far back it looks on average, in tokens; and how far in any direction."""

    def __init__(self, source: Source) -> None:
        self.signed_BHT = _zeros(source, *source.sizes[:3])
        self.absolute_BHT = _zeros(source, *source.sizes[:3])

    def see(self, tile: Tile) -> None:
        """Add one tile. Places are counted from the tile's first key, so that no digit is lost."""
        source, place = tile.source, (slice(None), tile.heads, tile.rows)
        start = tile.rows.start + source.row - source.request.first - tile.keys.start
        height, width = tile.rows.stop - tile.rows.start, tile.keys.stop - tile.keys.start
        options = torch.zeros((), device=source.device, dtype=source.wide)
        rows_r = torch.arange(start, start + height).to(options)
        columns_c = torch.arange(width).to(options)
        signed = rows_r * tile.block_mass.sum(-1) - tile.weights @ columns_c
        self.signed_BHT[place] += signed
        if start >= width - 1:
            self.absolute_BHT[place] += signed
        elif start + height - 1 <= 0:
            self.absolute_BHT[place] -= signed
        else:
            self.absolute_BHT[place] += _both_ways(tile.weights, rows_r, columns_c)


def _both_ways(weights: Tensor, rows_r: Tensor, columns_c: Tensor) -> Float[Tensor, "b h r"]:
    """Σ P |i − j|. Away from the diagonal the sign is one for all queries of the tile."""
    near = slice(max(int(rows_r[0]), 0), min(int(rows_r[-1]) + 1, len(columns_c)))
    sign_c = torch.ones_like(columns_c)
    sign_c[near], sign_c[near.stop :] = 0.0, -1.0
    far = rows_r * (weights @ sign_c) - weights @ (sign_c * columns_c)
    apart_rn = (rows_r[:, None] - columns_c[near]).abs()
    close: Tensor = torch.linalg.vecdot(weights[..., near], apart_rn)
    return far + close


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
        blocks = slice(tile.columns.block, tile.columns.block + tile.columns.count)
        peaks, mass = tile.block_peaks - tile.lse[..., None], tile.block_mass
        counted_BT = tile.source.counted_BT
        if counted_BT is not None:
            skipped_B1r1 = ~counted_BT[:, None, tile.rows, None]
            mass = mass.masked_fill(skipped_B1r1, 0.0)
            peaks = peaks.masked_fill(skipped_B1r1, FORBIDDEN)
        for row, part in self.rows.blocks_of(tile.rows):
            place = (slice(None), tile.heads, row, blocks)
            self.sums[place] += mass[:, :, part].sum(-2)
            self.logs[place] = torch.maximum(self.logs[place], peaks[:, :, part].amax(-2))
            if tile.heads.start == 0:
                self.counts[:, row, blocks] += self._count(tile, part)

    def _count(self, tile: Tile, part: slice) -> Tensor:
        counted_BT = tile.source.counted_BT
        if tile.whole and counted_BT is None:
            return torch.tensor(tile.columns.width * (part.stop - part.start))
        cells = tile.allowed[:, part]
        if counted_BT is not None:
            cells = cells & counted_BT[:, tile.rows][:, part, None]
        blocks = cells.reshape(*cells.shape[:2], tile.columns.count, tile.columns.width)
        return blocks.sum((1, 3))


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
        best = tile.scores.topk(min(self.count, tile.scores.shape[-1]), sorted=False)
        logs = best.values - tile.lse[..., None]
        keys = torch.where(best.values > FORBIDDEN / 2, best.indices + tile.keys.start, NOBODY)
        logs = torch.cat([self.logs_BHTk[place], logs], dim=-1)
        keys = torch.cat([self.keys_BHTk[place], keys], dim=-1)
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
                part = tile.weights[..., low - keys.start : high - keys.start]
                self.sums_BHTn[:, tile.heads, tile.rows, number] += part.sum(-1)


def _zeros(source: Source, *shape: int) -> Float[Tensor, "..."]:
    return torch.zeros(shape, dtype=source.wide, device=source.device)
