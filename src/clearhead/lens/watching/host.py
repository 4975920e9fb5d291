"""What was kept, moved to the host's memory."""

from dataclasses import replace

import torch
from torch import Tensor

from .pieces import Piece
from .tally import Tally

HOST = torch.device("cpu")


def piece_on_host(piece: Piece) -> Piece:
    """The piece in the host's memory."""
    bias, sinks = piece.scores.bias, piece.scores.sinks
    bias = bias.to(HOST) if isinstance(bias, Tensor) else bias
    scores = replace(piece.scores, bias=bias, sinks=None if sinks is None else sinks.to(HOST))
    return replace(
        piece,
        q_BHTD=piece.q_BHTD.to(HOST),
        k_BGND=piece.k_BGND.to(HOST),
        v_BGNE=piece.v_BGNE.to(HOST),
        lse_BHT=None if piece.lse_BHT is None else piece.lse_BHT.to(HOST),
        mask=piece.mask.on(HOST),
        scores=scores,
    )


def tally_on_host(tally: Tally) -> Tally:
    """The statistics in the host's memory."""
    return tally.moved(lambda numbers: numbers.to(HOST))
