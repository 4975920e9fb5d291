"""PyTorch's fused attention."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..contract import Attended, Request, refusal
from ..fused import Call, run, values_alone
from ..score_grids import additions, allowed_pairs


class Sdpa:
    """Fast everywhere PyTorch is. Never builds the weights, so it refuses to show them."""

    name = "sdpa"

    def refuses(self, request: Request) -> str | None:
        return refusal(
            (request.wants_weights, "it never builds the weights"),
            (request.scores.softcap is not None, "it has no softcap"),
            (request.scores.sinks is not None, "it has no sinks"),
            (request.scale <= 0, "it takes a scale above 0 only"),
        )

    def __call__(self, request: Request) -> Attended:
        width = request.v_BGSE.shape[-1]
        call = as_call(request)
        if request.wants_lse:
            found = run(call)
            return Attended(
                values_BHTE=found.values_BHTE[..., :width],
                lse_BHT=found.lse_BHT,
                kernel=f"{self.name}:{found.backend}",
            )
        return Attended(values_BHTE=values_alone(call)[..., :width], kernel=self.name)


def as_call(request: Request) -> Call:
    """The request in torch's words: at most one of a mask and `causal`, and equal widths."""
    q, k, v = request.q_BHTD, request.k_BGSD, request.v_BGSE
    wide, value_wide = q.shape[-1], v.shape[-1]
    if wide != value_wide:  # torch would build the whole matrix; zeros change no product
        q, k = (pad(x, (0, max(0, value_wide - wide))) for x in (q, k))
        v = pad(v, (0, max(0, wide - value_wide)))
    kind = request.mask.kind(request.queries, request.keys)
    causal = kind == "causal" and request.scores.bias is None
    return Call(
        q_BHTD=q,
        k_BGSD=k,
        v_BGSE=v,
        mask=None if causal else added_mask(request, kind == "full"),
        causal=causal,
        scale=request.scale,
        dropout=request.dropout,
    )


def added_mask(request: Request, full: bool) -> Tensor | None:
    """Bias and mask as one float tensor to add to the scores, or None when there is neither."""
    bias = additions(request)
    dtype = request.q_BHTD.dtype
    if bias is not None:
        bias = bias.to(dtype)
        if bias.is_cuda and bias.shape[-1] != request.keys:  # CUDA wants every key written out
            bias = bias.expand(*bias.shape[:-1], request.keys).contiguous()
    if full:
        return bias
    allowed_B1TS = allowed_pairs(request)[:, None]
    if bias is None:
        bias = torch.zeros((), dtype=dtype, device=request.q_BHTD.device)
    return torch.where(allowed_B1TS, bias, -torch.inf)
