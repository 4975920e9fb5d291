"""Makes the models of `transformers` announce their attention. Nothing about them changes.

Their modules look their attention up by name in a table. Each entry is replaced once, under its
own name, by a pass-through: it calls the very function that was there, and announces only when
the module that calls is one that somebody watches from this thread.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from ...attention import Announcement, Attended, Causal, Everything, Given, Mask, Request, Scores
from ...attention.announce import announce
from ...attention.intervene import CHANGERS, changed
from ...foundation.errors import CannotError
from .foreign_sites import Sites, eager_of, foreign_sites, table_of
from .overheard import Overheard
from .reading import FLOOR

UNDERSTOOD = ("sdpa", "eager")
# The modules that are watched from here, by their id, each with its site.
NOBODY: Mapping[int, str] = MappingProxyType({})
WATCHED: ContextVar[Mapping[int, str]] = ContextVar("WATCHED", default=NOBODY)


@contextmanager
def announcing(model: nn.Module) -> Iterator[Sites]:
    """Inside the block, in this thread, every attention of the model is announced."""
    sites = foreign_sites(model)
    for module in sites.modules.values():
        install(module)
    names = {id(module): site for site, module in sites.modules.items()}
    token = WATCHED.set({**WATCHED.get(), **names})
    try:
        yield sites
    finally:
        WATCHED.reset(token)


def install(module: nn.Module) -> None:
    """Put a pass-through where this module looks its attention up, if there is none yet."""
    table, name = table_of(module), _implementation(module)
    if name not in UNDERSTOOD:
        raise CannotError(
            f"{type(module).__name__} runs with {name!r}, which cannot be overheard yet. "
            "Use model.set_attn_implementation('sdpa'), which is as exact, or 'eager'."
        )
    assert table is not None
    original = table.get(name)
    if isinstance(original, PassThrough):
        return
    through = PassThrough(name, original)
    if name in table._local_mapping:
        table[name] = through
    else:
        type(table).register(name, through)


def _implementation(module: nn.Module) -> str:
    return str(getattr(getattr(module, "config", None), "_attn_implementation", None) or "eager")


class PassThrough:
    """Calls the attention that stood here, and announces it where somebody watches.

    Args:
        original: What was in the table; eager has no entry there, each family brings its own.
    """

    def __init__(self, name: str, original: Callable[..., Any] | None) -> None:
        self.name, self.original = name, original

    def __call__(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None = None,
        *more: Any,
        **kwargs: Any,
    ) -> Any:
        run = self.original or eager_of(module)
        # A compiled model never gets here watched; the compiler must not see what follows.
        site = None if torch.compiler.is_compiling() else WATCHED.get().get(id(module))
        if site is None:
            return run(module, query, key, value, attention_mask, *more, **kwargs)
        overheard = Overheard()
        with overheard:
            found = run(module, query, key, value, attention_mask, *more, **kwargs)
        if self.name == "eager":
            request = eager_request(module, (query, key, value), attention_mask, kwargs)
        else:
            request = sdpa_request((query, key, value), attention_mask, overheard, kwargs)
        values_BHTE = found[0].transpose(1, 2)
        attended = Attended(
            values_BHTE=values_BHTE,
            kernel=f"transformers {self.name}",
            lse_BHT=_lse(overheard, request),
        )
        told = Announcement(site=site, module=module, request=request, attended=attended)
        announce(told)
        if not CHANGERS:
            return found
        return (changed(told).values_BHTE.transpose(1, 2), *found[1:])


def eager_request(
    module: nn.Module,
    qkv: tuple[Tensor, Tensor, Tensor],
    attention_mask: Tensor | None,
    kwargs: Mapping[str, Any],
) -> Request:
    """What an eager function of `transformers` computes: only what is added to scores masks."""
    query, key, value = qkv
    keys = key.shape[2]
    added = [kwargs.get("position_bias"), attention_mask]
    tensors = [tensor[..., :keys] for tensor in added if tensor is not None]
    sinks = kwargs.get("s_aux", getattr(module, "sinks", None))
    return Request(
        q_BHTD=query,
        k_BGSD=key,
        v_BGSE=value,
        scores=Scores(
            scale=kwargs.get("scaling"),
            softcap=kwargs.get("softcap"),
            bias=sum(tensors[1:], tensors[0]) if tensors else None,
            sinks=sinks,
        ),
    )


def sdpa_request(
    qkv: tuple[Tensor, Tensor, Tensor],
    attention_mask: Tensor | None,
    overheard: Overheard,
    kwargs: Mapping[str, Any],
) -> Request:
    """What `scaled_dot_product_attention` was given, before heads were repeated or packed."""
    query, key, value = qkv
    bias, keys = kwargs.get("position_bias"), key.shape[2]
    bias = None if bias is None else bias[..., :keys]
    mask: Mask = Causal() if overheard.causal else Everything()
    if overheard.causal and key.shape[2] > query.shape[2]:  # torch counts from the first key
        key, value = (x[:, :, : query.shape[2]] for x in (key, value))
    if bias is not None and overheard.mask is not None:  # both were added up before the call
        mask = Given(overheard.mask.amax(1) > FLOOR)
    elif attention_mask is not None and attention_mask.dtype == torch.bool:
        if attention_mask.shape[1] == 1:
            mask = Given(attention_mask[:, 0])
        else:
            bias = torch.where(attention_mask, 0.0, -torch.inf)
    elif attention_mask is not None:
        bias = attention_mask
    return Request(
        q_BHTD=query,
        k_BGSD=key,
        v_BGSE=value,
        mask=mask,
        scores=Scores(scale=overheard.scale, bias=bias),
    )


def _lse(overheard: Overheard, request: Request) -> Tensor | None:
    if overheard.fused is None or overheard.fused.lse_BHT is None:
        return None
    return overheard.fused.lse_BHT.reshape(request.q_BHTD.shape[:3])
