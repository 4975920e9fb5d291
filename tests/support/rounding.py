"""How far honest rounding may take a kernel from the definition, pair by pair.

`u` is the largest relative error of storing a number in the request's precision, `a` that of one
step of a sum, which every kernel takes in float32 at least. A score that is off by e moves its
weight by a factor of exp(e), so what a score may be off is counted first, and everything else
follows. Where a weight is nothing, so is what its error can do.
"""

from dataclasses import dataclass
from math import ceil

import torch
from torch import Tensor

from clearhead.attention import Request, reference
from clearhead.attention.score_grids import additions

ACCUMULATED = 128  # no kernel works on fewer rows at a time when it adds up a gradient in parts


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """What rounding may do: to each pair's weight (as a share of it), to each value, each lse."""

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


def backward_rounding(request: Request, upstream_BHTE: Tensor) -> dict[str, Tensor]:
    """The budget of every gradient, by leaf, for this gradient of the values."""
    (u, a), heads = units(request), request.q_BHTD.shape[1]
    groups, keys = request.k_BGSD.shape[1], request.keys
    true = reference.attend(request)
    assert true.weights_BHTS is not None
    weights_BHTS = true.weights_BHTS.detach()
    off_BHTS = forward_rounding(request).weight_BHTS
    g_BHTE = upstream_BHTE.double().abs()
    q_BHTD = request.q_BHTD.detach().double().abs()
    k_BHSD, v_BHSE = spread(request.k_BGSD, heads), spread(request.v_BGSE, heads)

    # ds = w (g·v − Σ w g·v): both terms, without their signs, and what rounding does to them
    pull_BHTS = g_BHTE @ v_BHSE.mT
    mean_BHT1 = (weights_BHTS * pull_BHTS).sum(-1, keepdim=True)
    mean_off_BHT1 = (weights_BHTS * off_BHTS * pull_BHTS).sum(-1, keepdim=True)
    slope_BHTS = weights_BHTS * (pull_BHTS + mean_BHT1)
    share_BHTS = off_BHTS + 5 * u + (g_BHTE.shape[-1] + keys + 16) * a
    slope_off_BHTS = slope_BHTS * share_BHTS + weights_BHTS * mean_off_BHT1

    budgets = pair_budgets(request, slope_off_BHTS + slope_BHTS * slope_BHTS.numel() * a)
    if request.scores.sinks is not None:
        left_BHT1 = 1 - weights_BHTS.sum(-1, keepdim=True)
        sink_BHT = (left_BHT1 * (mean_BHT1 * (share_BHTS.amax(-1, True) + 1e-6) + mean_off_BHT1))[
            ..., 0
        ]
        budgets["sinks"] = sink_BHT.sum((0, 2)) + mean_BHT1.sum((0, 2, 3)) * mean_BHT1.numel() * a
    if request.scores.softcap is not None:  # the cap's own slope is off by twice the score's error
        slope_off_BHTS = slope_off_BHTS + slope_BHTS * 2 * off_BHTS / request.scores.softcap

    parts = heads // groups + ceil(request.queries / ACCUMULATED)
    more = (4 + parts) * u + (keys + request.queries + 8) * a
    scale, slope_off_BHTS = abs(request.scale), slope_off_BHTS + more * slope_BHTS
    weight_off_BHTS = weights_BHTS * (off_BHTS + more)
    return budgets | {
        "q": scale * slope_off_BHTS @ k_BHSD,
        "k": gathered(scale * slope_off_BHTS.mT @ q_BHTD, groups),
        "v": gathered(weight_off_BHTS.mT @ g_BHTE, groups),
    }


def gathered(x_BHSD: Tensor, groups: int) -> Tensor:
    """The sum over the query heads that share a key/value head."""
    return x_BHSD.unflatten(1, (groups, -1)).sum(2)


def pair_budgets(request: Request, off_BHTS: Tensor) -> dict[str, Tensor]:
    """What an error of every pair's score gradient adds up to in the bias it came from."""
    bias = request.scores.bias
    if bias is None:
        return {}
    if isinstance(bias, Tensor):
        return {"bias": off_BHTS.sum_to_size((1,) * (4 - bias.dim()) + bias.shape).view_as(bias)}
    name, leaf = next(iter((n, x) for n, x in vars(bias).items() if isinstance(x, Tensor)))
    with torch.enable_grad():
        grid = additions(request)
    assert grid is not None
    (budget,) = torch.autograd.grad(grid.expand_as(off_BHTS), leaf, off_BHTS.to(grid.dtype))
    return {name.split("_")[0]: budget.abs()}
