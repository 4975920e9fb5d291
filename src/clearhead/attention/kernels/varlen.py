"""PyTorch's attention over packed sequences: documents side by side, none sees another."""

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

import torch

from ..contract import Attended, Request, refusal
from ..masks import Both, Mask, plain
from ..rules import Documents, Window


class Varlen:
    """No padding and no mask: the fastest way through a packed batch. CUDA, 16-bit."""

    name = "varlen"

    def refuses(self, request: Request) -> str | None:
        scores, width = request.scores, request.q_BHTD.shape[-1]
        bent = scores.softcap is not None or scores.bias is not None or scores.sinks is not None
        sixteen_bit = request.q_BHTD.dtype in (torch.bfloat16, torch.float16)
        return refusal(
            (not request.q_BHTD.is_cuda, "it runs on CUDA only"),
            (not sixteen_bit, "it takes bfloat16 and float16 only"),
            (request.wants_weights, "it never builds the weights"),
            (request.dropout > 0, "it has no dropout"),
            (bent, "it takes a scale, but no softcap, bias or sinks"),
            (request.scale <= 0, "it takes a scale above 0 only"),
            (len(request.q_BHTD) != 1, "it takes one packed row, not a batch of several"),
            (
                packed(request) is None,
                "the mask is not Documents.packed over all queries and keys, or that & Causal",
            ),
            (width != request.v_BGSE.shape[-1], "it needs values as wide as queries"),
            (width % 8 != 0 or width > 256, "it takes head widths of 8, 16, 24 and so on to 256"),
        )

    def __call__(self, request: Request) -> Attended:
        layout = packed(request)
        assert layout is not None
        device = request.q_BHTD.device
        # Imported late: it brings torch's compiler along, which takes longer than torch itself.
        varlen: Any = import_module("torch.nn.attention.varlen")
        # From torch 2.12 on grouped heads must be asked for; before, they were simply served.
        groups = request.q_BHTD.shape[1] != request.k_BGSD.shape[1]
        asked = groups and "enable_gqa" in signature(varlen.varlen_attn).parameters
        found = varlen.varlen_attn(
            request.q_BHTD[0].transpose(0, 1),
            request.k_BGSD[0].transpose(0, 1),
            request.v_BGSE[0].transpose(0, 1),
            _bounds(layout.rows, device),
            _bounds(layout.columns, device),
            max(layout.rows),
            max(layout.columns),
            scale=request.scale,
            window_size=(-1, 0) if layout.causal else (-1, -1),
            return_aux=varlen.AuxRequest(lse=True) if request.wants_lse else None,
            **({"enable_gqa": True} if asked else {}),
        )
        values_THE, lse_HT = (found[0], found[1]) if isinstance(found, tuple) else (found, None)
        return Attended(
            values_BHTE=values_THE.transpose(0, 1)[None],
            lse_BHT=None if lse_HT is None else lse_HT[None],
            kernel=self.name,
        )


@dataclass(frozen=True)
class Layout:
    """Documents side by side: the lengths of each in queries and in keys."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    causal: bool


def packed(request: Request) -> Layout | None:
    """The documents that fill this request's queries and keys, or None for any other mask."""
    parts = _parts(request.mask)
    documents = [part for part in parts if isinstance(part, Documents)]
    causal = [part for part in parts if isinstance(part, Window) and part.is_causal]
    if len(documents) != 1 or len(documents) + len(causal) != len(parts):
        return None
    if documents[0].lengths is None:
        return None
    rows, columns = documents[0].lengths
    if sum(rows) != request.queries or sum(columns) != request.keys:
        return None
    if causal and rows != columns:
        return None
    return Layout(rows, columns, causal=bool(causal))


def _parts(mask: Mask) -> list[Mask]:
    mask = plain(mask)
    return [*_parts(mask.first), *_parts(mask.second)] if isinstance(mask, Both) else [mask]


def _bounds(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    ends = torch.tensor((0, *lengths), dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return ends.to(device, non_blocking=True)
