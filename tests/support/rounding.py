"""How far honest rounding may take a kernel from the definition.

`u` is the largest relative error of storing a number in the request's precision, `a` that of one
step of a sum, which every kernel takes in float32 at least. A score that is off by e moves its
weight by a factor of exp(e), so what a score may be off is counted first, and everything else
follows. Where a weight is nothing, so is what its error can do.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from clearhead.attention import Request, reference
from clearhead.attention.score_grids import additions


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """What rounding may do at worst: to a pair's weight (a share of it), to a value, to an lse."""

    weight_BHTS: Tensor
    value_BHTE: Tensor
    lse_BHT: Tensor


def spread(x_BGSD: Tensor, heads: int) -> Tensor:
    """Keys or values, in float64 and without sign, once for every query head."""
    return x_BGSD.detach().double().abs().repeat_interleave(heads // x_BGSD.shape[1], dim=1)


def units(request: Request) -> tuple[float, float]:
    dtype = request.q_BHTD.dtype
    wide = torch.promote_types(dtype, torch.float32)
    return torch.finfo(dtype).eps / 2, torch.finfo(wide).eps / 2


def forward_rounding(request: Request) -> Rounding:
    """The budget of values and lse."""
    (u, a), heads, keys = units(request), request.q_BHTD.shape[1], request.keys
    true = reference.attend(request)
    assert true.weights_BHTS is not None
    assert true.lse_BHT is not None
    k_BHSD, v_BHSE = spread(request.k_BGSD, heads), spread(request.v_BGSE, heads)
    products_BHTS = abs(request.scale) * request.q_BHTD.detach().double().abs() @ k_BHSD.mT
    bias = additions(request)
    bias_BHTS = torch.zeros((), device=k_BHSD.device) if bias is None else bias.detach().abs()
    lse_BHT = true.lse_BHT.detach().nan_to_num(neginf=0.0)

    width = request.q_BHTD.shape[-1]
    score_BHTS = (2 * u + (width + 4) * a) * products_BHTS + u * bias_BHTS
    score_BHTS = score_BHTS + 4 * a * (products_BHTS + bias_BHTS + lse_BHT.abs()[..., None]) + 8 * a
    weights_BHTS, moved_BHTS = true.weights_BHTS.detach(), torch.expm1(score_BHTS)
    together_BHT1 = (weights_BHTS * moved_BHTS).sum(-1, keepdim=True)
    assert together_BHT1.numel() == 0 or together_BHT1.max() < 0.5, "the budget would mean nothing"

    weight_BHTS = (moved_BHTS + together_BHT1) / (1 - together_BHT1) + 2 * u + (keys + 16) * a
    vanished = torch.finfo(request.q_BHTD.dtype).tiny * u * v_BHSE.sum(2, keepdim=True)
    return Rounding(
        weight_BHTS=weight_BHTS,
        value_BHTE=(weights_BHTS * (weight_BHTS + 2 * u)) @ v_BHSE + vanished,
        lse_BHT=torch.log1p(together_BHT1[..., 0]) + (keys + 16) * a + 4 * a * lse_BHT.abs(),
    )


def backward_rounding(request: Request, upstream_BHTE: Tensor) -> dict[str, float]:
    """How long the error of each leaf's gradient may be, for this gradient of the values.

    Roundings have independent signs, so their squares add up. There are eight on the way (weight,
    value, g·v, the mean, the score's slope, its two factors, the sum), and a weight is off by what
    its score was rounded by, twice.
    """
    (u, a), heads = units(request), request.q_BHTD.shape[1]
    groups = request.k_BGSD.shape[1]
    true = reference.attend(request)
    assert true.weights_BHTS is not None
    weights_BHTS, g_BHTE = true.weights_BHTS.detach(), upstream_BHTE.double()
    q_BHTD, k_BGSD, v_BGSE = (
        x.detach().double() for x in (request.q_BHTD, request.k_BGSD, request.v_BGSE)
    )
    k_BHSD, v_BHSE = (x.repeat_interleave(heads // groups, dim=1) for x in (k_BGSD, v_BGSE))
    scores_BHTS = request.scale * q_BHTD @ k_BHSD.mT
    bias = additions(request)
    if bias is not None:
        scores_BHTS = scores_BHTS + bias.detach()
    rows = max(1, weights_BHTS[..., 0].numel() if request.keys else 1)
    moved = 2 * (weights_BHTS * scores_BHTS.square()).sum().item() / rows
    terms = sum(size**0.5 for size in (*scores_BHTS.shape[-2:], q_BHTD.shape[-1]))
    relative = u * (8 + moved) ** 0.5 + a * terms

    # ds = w (g·v − Σ w g·v), with the squares of its terms before they cancel
    pull_BHTS = (g_BHTE @ v_BHSE.mT).square() + g_BHTE.square() @ v_BHSE.square().mT
    mean_BHT1 = (weights_BHTS * pull_BHTS).sum(-1, keepdim=True)
    slope_BHTS = weights_BHTS.square() * (pull_BHTS + mean_BHT1)
    squares = {
        "q": request.scale**2 * slope_BHTS @ k_BHSD.square(),
        "k": request.scale**2 * slope_BHTS.mT @ q_BHTD.square(),
        "v": weights_BHTS.square().mT @ g_BHTE.square(),
        "bias": slope_BHTS,
        "table": slope_BHTS,
        "slopes": slope_BHTS * max(request.queries, request.keys) ** 2,
        "sinks": (1 - weights_BHTS.sum(-1, keepdim=True)).square() * mean_BHT1,
    }
    summed = relative + a * slope_BHTS.numel() ** 0.5  # where every pair adds to a few numbers
    return {
        leaf: (relative if leaf in "qkv" else summed) * square.sum().sqrt().item()
        for leaf, square in squares.items()
    }
