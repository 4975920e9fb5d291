"""Whether the definition and the layer agree: their difference, and what rounding may do."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...attention import Request
from ...attention.multihead import joined
from ...attention.score_grids import additions
from .steps import Walk


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The largest difference, what rounding allows at most, and whether it is kept everywhere."""

    difference: float
    allowed: float
    agrees: bool


def project(output: nn.Linear, joined_TM: Tensor) -> Tensor:
    """The output projection in double precision."""
    projected_TM = joined_TM @ output.weight.detach().double().T
    return projected_TM if output.bias is None else projected_TM + output.bias.detach().double()


def compare(request: Request, steps: Walk, output: nn.Linear, made_TM: Tensor) -> Agreement:
    """Judge what the layer made against the definition, number by number.

    A score may be off by the rounding of its dot product; a score off by e moves a weight by a
    factor of exp(e) and its row's sum by no more; sums add one rounding a term.
    """
    unit = torch.finfo(request.q_BHTD.dtype).eps
    weights_HTS, values_HTE = steps.exact.weights_BHTS, steps.exact.values_BHTE
    assert weights_HTS is not None
    share = request.q_BHTD.shape[1] // request.k_BGSD.shape[1]
    q_HTD, k_HSD, v_HSE = (
        request.q_BHTD.double().abs(),
        request.k_BGSD.double().abs().repeat_interleave(share, dim=1),
        request.v_BGSE.double().abs().repeat_interleave(share, dim=1),
    )
    scores_HTS = abs(request.scale) * q_HTD @ k_HSD.mT
    added = additions(request)
    if added is not None:
        scores_HTS = scores_HTS + added.double().abs()
    worst_HT1 = (scores_HTS * (q_HTD.shape[-1] + 8) * unit).amax(dim=-1, keepdim=True)
    moved_HT1 = torch.expm1(2 * worst_HT1) + (request.keys + 16) * unit
    values_off = joined((weights_HTS * moved_HT1) @ v_HSE)[0]

    weight_MN = output.weight.detach().double().abs()
    made_up = joined(values_HTE)[0].abs() @ weight_MN.T
    if output.bias is not None:
        made_up = made_up + output.bias.detach().double().abs()
    allowed_TM = values_off @ weight_MN.T + (weight_MN.shape[1] + 4) * unit * made_up
    off_TM = (project(output, steps.joined_TM) - made_TM.double()).abs()
    return Agreement(
        difference=float(off_TM.max()),
        allowed=float(allowed_TM.max()),
        agrees=bool((off_TM <= allowed_TM).all()),
    )
