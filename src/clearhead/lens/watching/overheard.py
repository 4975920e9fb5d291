"""Listening in on `scaled_dot_product_attention`: what it was really given, and its rows' lse.

Inside the block the call runs through `attention.fused`, which takes the kernel torch would have
taken: the same bits, and the lse that torch computes and drops.
"""

from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from ...attention.fused import Call, Fused, run

NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")


class Overheard(TorchFunctionMode):
    """Inside the block, remembers the one call of fused attention, if there was one."""

    def __init__(self) -> None:
        super().__init__()
        self.causal = False
        self.mask: Tensor | None = None
        self.scale: float | None = None
        self.fused: Fused | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is not scaled_dot_product_attention:
            return func(*args, **(kwargs or {}))
        given = dict(zip(NAMES, args, strict=False)) | (kwargs or {})
        self.causal, self.scale = bool(given.get("is_causal")), given.get("scale")
        self.mask = given.get("attn_mask")
        call = _as_call(given)
        if call is None:
            return func(*args, **(kwargs or {}))
        self.fused = run(call)
        return self.fused.values_BHTE


def _as_call(given: dict[str, Any]) -> Call | None:
    """The same call in our words, or None for what only torch itself can make of it."""
    query, mask = given["query"], given.get("attn_mask")
    plain = all(isinstance(given[name], Tensor) and given[name].dim() == 4 for name in NAMES[:3])
    same_width = query.shape[-1] == given["value"].shape[-1]
    if not plain or not same_width or given.get("dropout_p", 0.0):
        return None
    if mask is not None and mask.dtype.is_floating_point is False:
        mask = _added(mask, query)
    return Call(
        q_BHTD=query,
        k_BGSD=given["key"],
        v_BGSE=given["value"],
        mask=mask,
        causal=bool(given.get("is_causal")),
        scale=query.shape[-1] ** -0.5 if given.get("scale") is None else given["scale"],
        dropout=0.0,
    )


def _added(mask: Tensor, query: Tensor) -> Tensor:
    """Booleans as numbers to add, the way torch itself writes them before a fused kernel."""
    zeros = query.new_zeros(mask.shape)
    return zeros.masked_fill_(mask.logical_not(), -float("inf"))
