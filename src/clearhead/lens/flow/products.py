r"""A vector times one attention's matrix, which is never built: the matrix goes by in tiles.

$$ y_j = \sum_i x_i P_{ij} \qquad
   y_j = \sum_i x_i \bar A_{ij},\quad y_i = \sum_j \bar A_{ij} x_j,\qquad
   \bar A = \mathbb{E}_h\,(P \odot \partial P)^+,\quad \partial P_{ij} = \partial o_i \cdot v_j $$
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from ..look import Look
from ..questions import fused
from ..questions.collectors import Received
from ..questions.edges import Edges
from ..questions.source import Source
from ..questions.summaries import Rows
from ..questions.sweep import Tile, sweep

Add = Callable[[Tile, Tensor], None]  # a tile of Ā, [batch, key, query], and where it is from
FEW = 64  # queries that are not worth a pass of the GPU's own kernel
NOTHING = 200.0  # nats more in a row's lse: what it then gives is 0 in float32


def given(look: Look, shares_BT: Float[Tensor, "b t"]) -> Float[Tensor, "b h s"]:
    """What each key gets when every query shares out this much, by head."""
    source, rows = look.source, look.rows
    used = shares_BT.any(0).nonzero().flatten()
    part = slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(0, 0)
    if part.stop - part.start > FEW and not fused.refuses(source):
        # A share is a factor of a row, and so is what its lse is taken from.
        more_BT = shares_BT.clamp(min=torch.finfo(shares_BT.dtype).tiny).log()
        more_BT = more_BT.masked_fill(shares_BT == 0, -NOTHING)
        shared = Rows(rows.lse_BHT - more_BT[:, None], rows.origin)
        return fused.summaries(replace(source, real_BT=None), shared).received_BHS
    collector = Received(source, shares_BT)
    every = Edges.of(slice(0, source.sizes[3]), 1)
    sweep(source, [collector], rows=part, columns=every, lse_BHT=rows.lse_BHT)
    return collector.sums_BHS


def through_rows(
    look: Look, gradient_BHTE: Float[Tensor, "b h t e"], x_BT: Float[Tensor, "b t"]
) -> Float[Tensor, "b s"]:
    """Σ_i x_i Ā_ij: what each key gets when every query hands on its own."""
    batch, _, _, keys = look.shape
    total_BS = torch.zeros(batch, keys, dtype=look.source.wide, device=look.source.device)

    def add(tile: Tile, cells_Bcr: Tensor) -> None:
        total_BS[:, tile.keys].add_((cells_Bcr @ x_BT[:, tile.rows, None])[..., 0])

    _sweep(look, gradient_BHTE, add)
    return total_BS


def through_keys(
    look: Look, gradient_BHTE: Float[Tensor, "b h t e"], x_BS: Float[Tensor, "b s"]
) -> Float[Tensor, "b t"]:
    """Σ_j Ā_ij x_j: what each query gathers."""
    batch, _, queries, _ = look.shape
    total_BT = torch.zeros(batch, queries, dtype=look.source.wide, device=look.source.device)

    def add(tile: Tile, cells_Bcr: Tensor) -> None:
        total_BT[:, tile.rows].add_((x_BS[:, None, tile.keys] @ cells_Bcr)[:, 0])

    _sweep(look, gradient_BHTE, add)
    return total_BT


def _sweep(look: Look, gradient_BHTE: Tensor, add: Add) -> None:
    _, _, queries, keys = look.shape
    every = Edges.of(slice(0, keys), 1)
    collector = Relevant(look.source, gradient_BHTE, add)
    lse_BHT = look.rows.lse_BHT
    sweep(look.source, [collector], rows=slice(0, queries), columns=every, lse_BHT=lse_BHT)


class Relevant:
    """Hands on every tile of Ā, summed over those heads that are in it."""

    def __init__(self, source: Source, gradient_BHTE: Tensor, add: Add) -> None:
        self.gradient_BHTE, self.add = gradient_BHTE, add
        self.shared = source.sizes[1] // source.request.k_BGSD.shape[1]

    def see(self, tile: Tile) -> None:
        """Work out one tile: keys down, queries across."""
        source, heads = tile.source, tile.heads
        groups = slice(heads.start // self.shared, heads.stop // self.shared)
        v_BhcE = source.request.v_BGSE[:, groups, tile.keys].to(source.wide)
        if self.shared > 1:
            v_BhcE = v_BhcE.repeat_interleave(self.shared, dim=1)
        gradient_BhEr = self.gradient_BHTE[:, heads, tile.rows].to(source.wide).transpose(-2, -1)
        room = tile.room.like(tile.scores, 3)
        cells_Bhcr: Tensor = torch.matmul(v_BhcE, gradient_BhEr, out=room)
        cells_Bhcr.mul_(tile.weights).clamp_(min=0)
        self.add(tile, cells_Bhcr.sum(1) / source.sizes[1])
