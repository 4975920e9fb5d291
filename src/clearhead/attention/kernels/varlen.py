"""PyTorch's attention over packed sequences: documents side by side, none sees another."""

from inspect import signature

import torch
from torch.nn.attention.varlen import AuxRequest, varlen_attn

from ..contract import Attended, Request
from ..masks import Both, Mask, plain
from ..rules import Causal, Documents

# From torch 2.12 on grouped heads must be asked for; before, they were simply served.
GROUPED = {"enable_gqa": True} if "enable_gqa" in signature(varlen_attn).parameters else {}


class Varlen:
    """No padding and no mask: the fastest way through a packed batch. CUDA, 16-bit."""

    name = "varlen"

    def refuses(self, request: Request) -> str | None:
        if request.q_BHTD.device.type != "cuda":
            return "it runs on CUDA only"
        if request.q_BHTD.dtype not in (torch.bfloat16, torch.float16):
            return "it takes bfloat16 and float16 only"
        if request.wants_weights:
            return "it never builds the weights"
        if request.dropout:
            return "it has no dropout"
        scores = request.scores
        if scores.softcap is not None or scores.bias is not None or scores.sinks is not None:
            return "it takes a scale, but no softcap, bias or sinks"
        if len(request.q_BHTD) != 1:
            return "it takes one packed row, not a batch of several"
        if packed(request.mask) is None:
            return "the mask is not documents of known lengths (Documents.packed), or those & Causal"
        if request.q_BHTD.shape[-1] != request.v_BGSE.shape[-1]:
            return "it needs values as wide as queries"
        return None

    def __call__(self, request: Request) -> Attended:
        documents, causal = packed(request.mask) or (None, False)
        assert documents is not None
        assert documents.lengths is not None
        rows, columns = documents.lengths
        device = request.q_BHTD.device
        groups = request.q_BHTD.shape[1] != request.k_BGSD.shape[1]
        found = varlen_attn(
            request.q_BHTD[0].transpose(0, 1),
            request.k_BGSD[0].transpose(0, 1),
            request.v_BGSE[0].transpose(0, 1),
            _bounds(rows, device),
            _bounds(columns, device),
            max(rows),
            max(columns),
            scale=request.scale,
            window_size=(-1, 0) if causal else (-1, -1),
            return_aux=AuxRequest(lse=True) if request.wants_lse else None,
            **(GROUPED if groups else {}),
        )
        values_THE, lse_HT = (found[0], found[1]) if isinstance(found, tuple) else (found, None)
        return Attended(
            values_BHTE=values_THE.transpose(0, 1)[None],
            lse_BHT=None if lse_HT is None else lse_HT[None],
            kernel=self.name,
        )


def packed(mask: Mask) -> tuple[Documents, bool] | None:
    """The documents of a packed row and whether they are causal inside; None for other rules."""
    mask = plain(mask)
    if isinstance(mask, Both):
        parts = (plain(mask.first), plain(mask.second))
        causal = any(isinstance(part, Causal) for part in parts)
        rest = [part for part in parts if not isinstance(part, Causal)]
        mask = rest[0] if causal and len(rest) == 1 else mask
    else:
        causal = False
    known = isinstance(mask, Documents) and mask.lengths is not None
    if not known or not isinstance(mask, Documents) or mask.lengths is None:
        return None
    if causal and mask.lengths[0] != mask.lengths[1]:
        return None
    return mask, causal


def _bounds(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    ends = torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return ends.to(device, non_blocking=True)
