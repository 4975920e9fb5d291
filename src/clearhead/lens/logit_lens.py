"""What each layer of a decoder would say if it were the last: the logit lens (nostalgebraist 2020).

The stream behind each block goes through whatever follows the last one: final norm, if there is
one, and the head. Where blocks end with a norm of their own nothing stands between.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..foundation.errors import InputError
from .ablate import able
from .stream import told_by


@dataclass(frozen=True, kw_only=True)
class LogitLens:
    """What each layer would say of what follows each chosen position; the last is the model's own.

    Logs are natural, of probabilities over the whole vocabulary.

    Args:
        positions: Which, counted from 0.
        tokens_LBtk: The most probable tokens, the first first, and `logs_LBtk` theirs.
        token_Bt: The tokens asked for; what the model itself says when none were.
        token_logs_LBt: How probable each layer finds them.
        token_ranks_LBt: How many tokens it finds more probable, plus one.
        through: The parts of the model between its last block and the scores, which every layer
            was read through.
    """

    positions: tuple[int, ...]
    tokens_LBtk: Int[Tensor, "l b t k"]
    logs_LBtk: Float[Tensor, "l b t k"]
    token_Bt: Int[Tensor, "b t"]
    token_logs_LBt: Float[Tensor, "l b t"]
    token_ranks_LBt: Int[Tensor, "l b t"]
    through: tuple[str, ...]


def logit_lens(
    model: object,
    *inputs: Any,
    positions: Sequence[int] = (-1,),
    top: int = 5,
    token: int | Tensor | None = None,
    **named: Any,
) -> LogitLens:
    """Run the model once and read every layer at chosen positions; only those are kept.

    Args:
        model: A decoder or encoder-decoder: what `clearhead.load` returns, a network of ours, or
            a model of transformers.
        inputs, named: What the model is called with.
        positions: Counted from 0, or from -1 backwards from the end.
        top: How many of the most probable tokens.
        token: Whose probability and rank to follow through the layers: one id, or a tensor that
            stretches to [batch, positions]; what the model itself says when left out.
    """
    network = able(model)
    told = told_by(network, lambda: network(*inputs, **named), positions)
    wide = torch.promote_types(told.scores_LBtV.dtype, torch.float32)
    logs_LBtV = told.scores_LBtV.to(wide).log_softmax(-1)
    vocabulary = logs_LBtV.shape[-1]
    if not 1 <= top <= vocabulary:
        raise InputError(
            f"The top {top} of {vocabulary} tokens cannot be: ask for 1 to {vocabulary}."
        )
    best = logs_LBtV.topk(top)
    token_Bt = told.own_BtV.argmax(-1) if token is None else asked_for(token, told.own_BtV)
    index_LBt1 = token_Bt.expand(logs_LBtV.shape[:-1])[..., None]
    own_LBt1 = logs_LBtV.gather(-1, index_LBt1)
    return LogitLens(
        positions=told.positions,
        tokens_LBtk=best.indices,
        logs_LBtk=best.values,
        token_Bt=token_Bt,
        token_logs_LBt=own_LBt1[..., 0],
        token_ranks_LBt=(logs_LBtV > own_LBt1).sum(-1) + 1,
        through=told.through,
    )


def asked_for(token: int | Tensor, scores_BtV: Float[Tensor, "b t v"]) -> Int[Tensor, "b t"]:
    """The token to follow, at every place, checked."""
    *places, vocabulary = scores_BtV.shape
    ids = torch.as_tensor(token, device=scores_BtV.device)
    fits = len(ids.shape) <= 2 and all(
        size in (1, want) for size, want in zip(ids.shape[::-1], places[::-1], strict=False)
    )
    if not fits or ids.is_floating_point():
        raise InputError(
            f"Tokens of {list(ids.shape)} ({ids.dtype}) do not stretch to {places}: give one id, "
            "or ids of [batch, positions]."
        )
    if ids.numel() and not (int(ids.min()) >= 0 and int(ids.max()) < vocabulary):
        raise InputError(
            f"There is no token {int(ids.min()) if int(ids.min()) < 0 else int(ids.max())}: give "
            f"ids from 0 to {vocabulary - 1}."
        )
    return ids.expand(places)
