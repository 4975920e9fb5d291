"""The very kernel `scaled_dot_product_attention` would have run, and the lse it computes and drops.

`torch._fused_sdp_choice` names the kernel; calling that one gives the same bits, and the log of
each row's denominator. These are private operators: tests pin them on every torch we support.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention import SDPBackend
from torch.nn.functional import pad, scaled_dot_product_attention

aten = torch.ops.aten
# By number, because torch's compiler cannot follow the making of a member of this kind of enum.
BACKENDS = {backend.value: backend for backend in SDPBackend.__members__.values()}


@dataclass(frozen=True, kw_only=True)
class Call:
    """The arguments of one `scaled_dot_product_attention`; `mask` is a float mask, added."""

    q_BHTD: Float[Tensor, "b h t d"]
    k_BGSD: Float[Tensor, "b g s d"]
    v_BGSE: Float[Tensor, "b g s e"]
    mask: Tensor | None
    causal: bool
    scale: float
    dropout: float

    @property
    def grouped(self) -> bool:
        """Whether several query heads share a key/value head."""
        return self.q_BHTD.shape[1] != self.k_BGSD.shape[1]


@dataclass(frozen=True, kw_only=True)
class Fused:
    """What came out: the values, the lse where the kernel keeps one, and which kernel it was."""

    values_BHTE: Float[Tensor, "b h t e"]
    lse_BHT: Float[Tensor, "b h t"] | None
    backend: str


def backend_for(call: Call) -> SDPBackend:
    """Name the kernel that torch picks for this call."""
    number = torch._fused_sdp_choice(
        call.q_BHTD,
        call.k_BGSD,
        call.v_BGSE,
        call.mask,
        call.dropout,
        call.causal,
        scale=call.scale,
        enable_gqa=call.grouped,
    )
    return BACKENDS[number]


def run(call: Call) -> Fused:
    """Run torch's own choice of kernel and keep its lse."""
    backend = backend_for(call)
    if backend == SDPBackend.FLASH_ATTENTION and call.q_BHTD.device.type == "cpu":
        values, lse = aten._scaled_dot_product_flash_attention_for_cpu(
            call.q_BHTD,
            call.k_BGSD,
            call.v_BGSE,
            call.dropout,
            call.causal,
            attn_mask=call.mask,
            scale=call.scale,
        )
        return Fused(values_BHTE=values, lse_BHT=lse, backend="flash")
    if backend == SDPBackend.FLASH_ATTENTION:
        return _flash(call)
    if backend == SDPBackend.EFFICIENT_ATTENTION:
        return _efficient(call)
    if backend == SDPBackend.CUDNN_ATTENTION:
        return _cudnn(call)
    return Fused(values_BHTE=values_alone(call), lse_BHT=None, backend="math")


def values_alone(call: Call) -> Float[Tensor, "b h t e"]:
    """What torch itself returns for this call, in a form that its compiler can follow."""
    return scaled_dot_product_attention(
        call.q_BHTD,
        call.k_BGSD,
        call.v_BGSE,
        attn_mask=call.mask,
        dropout_p=call.dropout,
        is_causal=call.causal,
        scale=call.scale,
        enable_gqa=call.grouped,
    )


def _flash(call: Call) -> Fused:
    width = call.v_BGSE.shape[-1]
    spare = (
        -width % 8
    )  # CUDA flash takes head widths in steps of 8; torch pads with zeros, so do we
    q, k, v = (pad(x, (0, spare)) if spare else x for x in (call.q_BHTD, call.k_BGSD, call.v_BGSE))
    found = aten._scaled_dot_product_flash_attention(
        q, k, v, call.dropout, call.causal, False, scale=call.scale
    )
    return Fused(values_BHTE=found[0][..., :width], lse_BHT=found[1], backend="flash")


def _efficient(call: Call) -> Fused:
    bias = None if call.mask is None else _aligned(call.mask, call)
    values, lse, *_ = aten._scaled_dot_product_efficient_attention(
        call.q_BHTD,
        call.k_BGSD,
        call.v_BGSE,
        bias,
        True,
        call.dropout,
        call.causal,
        scale=call.scale,
    )
    rows = call.q_BHTD.shape[2]  # this kernel rounds the rows of its lse up to whole tiles
    return Fused(values_BHTE=values, lse_BHT=lse[..., :rows], backend="efficient")


def _cudnn(call: Call) -> Fused:
    found = aten._scaled_dot_product_cudnn_attention(
        call.q_BHTD,
        call.k_BGSD,
        call.v_BGSE,
        call.mask,
        True,
        call.dropout,
        call.causal,
        False,
        scale=call.scale,
    )
    lse = found[1]
    return Fused(
        values_BHTE=found[0], lse_BHT=lse[..., 0] if lse.dim() == 4 else lse, backend="cudnn"
    )


def _aligned(mask: Tensor, call: Call) -> Tensor:
    """The mask stretched to every pair, its rows starting on 16-element steps in memory."""
    columns, shape = mask.shape[-1], (*call.q_BHTD.shape[:3], call.k_BGSD.shape[2])
    if mask.dim() == 4 and mask.stride(-1) == 1 and mask.stride(-2) % 16 == 0:
        return mask.expand(shape)
    return pad(mask, (0, -columns % 16))[..., :columns].expand(shape)
