"""Prefill and decoding steps of one site, joined to one picture.

Each key is kept once: a step keeps its own queries and the keys that were not there before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...attention import Bias, Given, Mask, Request, Scores
from ...attention.intervals import Intervals
from ...attention.masks import grid
from ..questions.source import Blind, Source


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One call of one site: its queries, the keys that were new, who may look at whom.

    Args:
        first: The position of the first key that could be seen in this call.
        seen: How many keys could be seen, new ones and those that pieces before have.
        start: The position of the first query.
        step: Which call of the model this was.
    """

    q_BHTD: Tensor
    k_BGND: Tensor
    v_BGNE: Tensor
    lse_BHT: Tensor | None
    mask: Mask
    scores: Scores
    blind: Blind
    first: int
    seen: int
    start: int
    step: int

    @property
    def rows(self) -> int:
        """How many rows the batch of this call had."""
        return len(self.q_BHTD)

    @property
    def queries(self) -> int:
        """How many queries each of them had."""
        return self.q_BHTD.shape[2]

    @property
    def stop(self) -> int:
        """The position behind the last query."""
        return self.start + self.q_BHTD.shape[2]

    def tensors(self) -> list[Tensor]:
        """All that takes memory."""
        mask, bias = self.mask, self.scores.bias
        found = [self.q_BHTD, self.k_BGND, self.v_BGNE]
        found += [] if self.lse_BHT is None else [self.lse_BHT]
        found += [bias] if isinstance(bias, Tensor) else []
        found += [mask.start_BT, mask.stop_BT] if isinstance(mask, Intervals) else []
        return found + ([mask.allowed_BTS] if isinstance(mask, Given) else [])


def own(tensor: Tensor, last: int, beside: Tensor) -> Tensor:
    """The last places of the third axis, in memory that nothing else will write to.

    Made for this call, alone or in one product with `beside`, it is kept as it is; a view of a
    cache's room is copied.
    """
    memory = tensor.untyped_storage()
    alone = memory.nbytes() == tensor.numel() * tensor.element_size()
    together = memory.data_ptr() == beside.untyped_storage().data_ptr()
    if last == tensor.shape[2] and (alone or together):
        return tensor.detach()
    return tensor[:, :, tensor.shape[2] - last :].detach().clone()


def cut(piece: Piece, stop: int, *, cross: bool) -> Piece:
    """The piece without its queries from this position on (a decoder went back a few steps)."""
    keep = stop - piece.start
    drop = 0 if cross else piece.stop - stop
    mask, bias = piece.mask, piece.scores.bias
    if isinstance(mask, Intervals):
        mask = Intervals(mask.start_BT[:, :keep], mask.stop_BT[:, :keep], mask.row)
    if isinstance(bias, Tensor) and bias.dim() >= 2 and bias.shape[-2] > 1:
        bias = bias[..., :keep, :]
    return replace(
        piece,
        q_BHTD=piece.q_BHTD[:, :, :keep],
        k_BGND=piece.k_BGND[:, :, : piece.k_BGND.shape[2] - drop],
        v_BGNE=piece.v_BGNE[:, :, : piece.v_BGNE.shape[2] - drop],
        lse_BHT=None if piece.lse_BHT is None else piece.lse_BHT[:, :, :keep],
        mask=mask,
        scores=replace(piece.scores, bias=bias),
        seen=piece.seen - drop,
    )


def joined(site: str, pieces: Sequence[Piece], rows: Sequence[Tensor] | None = None) -> Source:
    """All pieces as one attention.

    Args:
        rows: For every piece, which rows of its batch to take: the way a beam came.
    """
    taken = list(pieces)
    if rows is not None:
        taken = [_rows_of(piece, of) for piece, of in zip(pieces, rows, strict=True)]
    blind: Blind = "everything" if any(p.blind == "everything" for p in taken) else "nothing"
    lse = [piece.lse_BHT for piece in taken if piece.lse_BHT is not None]
    q, k, v = (
        _side_by_side([getattr(piece, name) for piece in taken])
        for name in ("q_BHTD", "k_BGND", "v_BGNE")
    )
    request = Request(
        q_BHTD=q,
        k_BGSD=k,
        v_BGSE=v,
        mask=_joined_mask(taken, k.shape[2]),
        scores=replace(taken[0].scores, bias=_joined_bias(taken, k.shape[2])),
        first=taken[0].first,
    )
    return Source(
        site=site,
        request=request,
        lse_BHT=_side_by_side(lse) if len(lse) == len(taken) else None,
        blind=blind,
    )


def _side_by_side(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(list(parts), dim=2)


def _rows_of(piece: Piece, rows: Tensor) -> Piece:
    rows = rows.to(piece.q_BHTD.device)
    mask, bias = piece.mask, piece.scores.bias
    if isinstance(mask, Intervals) and mask.batched:
        mask = Intervals(mask.start_BT[rows], mask.stop_BT[rows], mask.row)
    elif mask.batched:
        mask = Given(_grid(piece)[rows])
    if isinstance(bias, Tensor) and bias.dim() == 4 and len(bias) > 1:
        bias = bias[rows]
    return replace(
        piece,
        q_BHTD=piece.q_BHTD[rows],
        k_BGND=piece.k_BGND[rows],
        v_BGNE=piece.v_BGNE[rows],
        lse_BHT=None if piece.lse_BHT is None else piece.lse_BHT[rows],
        mask=mask,
        scores=replace(piece.scores, bias=bias),
    )


def _joined_bias(pieces: Sequence[Piece], keys: int) -> Bias | Tensor | None:
    bias = pieces[0].scores.bias
    if len(pieces) == 1 or not isinstance(bias, Tensor):
        return bias
    rows = []
    for piece in pieces:
        of = piece.scores.bias
        assert isinstance(of, Tensor)
        of = of.reshape((1,) * (4 - of.dim()) + tuple(of.shape))
        of = of.expand(*of.shape[:2], piece.q_BHTD.shape[2], piece.seen)
        rows.append(pad(of, (0, keys - piece.seen)))
    return torch.cat(rows, dim=2)


def _joined_mask(pieces: Sequence[Piece], keys: int) -> Mask:
    """Who may look in the joined picture: as stretches, or pair by pair where they are not that."""
    if len(pieces) == 1:
        return pieces[0].mask
    queries = sum(piece.q_BHTD.shape[2] for piece in pieces)
    stretches = [piece.mask for piece in pieces if isinstance(piece.mask, Intervals)]
    if len(stretches) == len(pieces):
        batch = max(len(mask.start_BT) for mask in stretches)
        start, stop = (
            torch.cat([getattr(m, name).expand(batch, -1) for m in stretches], dim=1)
            for name in ("start_BT", "stop_BT")
        )
        return Intervals(start, stop, pieces[0].first + keys - queries)
    grids = [_grid(piece) for piece in pieces]
    batch = max(len(of) for of in grids)
    return Given(
        torch.cat([pad(of.expand(batch, -1, -1), (0, keys - of.shape[2])) for of in grids], dim=1)
    )


def _grid(piece: Piece) -> Tensor:
    return grid(
        piece.mask,
        batch=len(piece.q_BHTD),
        queries=piece.q_BHTD.shape[2],
        keys=piece.seen,
        first=piece.first,
        device=piece.q_BHTD.device,
    )
