"""Which tokens come next, the likeliest: always the same ones, also where several are as likely."""

from collections.abc import Collection
from math import inf
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Option(NamedTuple):
    """A token that may come next."""

    log_probability: float
    token: int


def log_probabilities(
    scores_BV: Float[Tensor, "b v"], banned: Collection[int]
) -> Float[Tensor, "b v"]:
    """The scores as log-probabilities, in float32 or better; those of `banned` ids are -inf.

    The others keep theirs: they are not made to add up to 1 again.
    """
    wide = torch.promote_types(scores_BV.dtype, torch.float32)
    log_BV = scores_BV.log_softmax(dim=-1, dtype=wide)
    scored = [token for token in banned if token < log_BV.shape[1]]
    log_BV[:, scored] = -inf
    return log_BV


def likeliest(log_BV: Float[Tensor, "b v"], count: int) -> list[list[Option]]:
    """The `count` likeliest tokens of each row; of those as likely as the last, the lowest ids."""
    count = min(count, log_BV.shape[1])
    top = log_BV.topk(count)
    ids_BV = top.indices
    # topk takes any of those that are equal.
    last_B1 = top.values[:, -1:]
    as_likely_B = (log_BV == last_B1).sum(1) > (top.values == last_B1).sum(1)
    for row in as_likely_B.nonzero()[:, 0].tolist():
        better = int((top.values[row] > last_B1[row]).sum())
        ids_BV[row, better:] = (log_BV[row] == last_B1[row]).nonzero()[: count - better, 0]
    return [
        [Option(*option) for option in zip(values, ids, strict=True)]
        for values, ids in zip(top.values.tolist(), ids_BV.tolist(), strict=True)
    ]
