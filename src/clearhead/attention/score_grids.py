"""A request's mask and bias written out over all its pairs, for the kernels that need them so."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .bias import bias_grid
from .contract import Request
from .masks import grid


def allowed_pairs(request: Request) -> Bool[Tensor, "b t s"]:
    """Which pairs may look; `b` is 1 when the mask is the same for the whole batch."""
    return grid(
        request.mask,
        batch=request.q_BHTD.shape[0],
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=request.q_BHTD.device,
    )


def additions(request: Request) -> Float[Tensor, "b h t s"] | None:
    """What the bias adds to every score, with axes of length 1 where it is the same for all."""
    bias = request.scores.bias
    if bias is None:
        return None
    end = request.first + request.keys
    device = request.q_BHTD.device
    return bias_grid(
        bias,
        heads=request.q_BHTD.shape[1],
        rows_T=torch.arange(end - request.queries, end, device=device),
        columns_S=torch.arange(request.first, end, device=device),
    )
