"""How the beam search of `transformers` moves rows about, and what `generate` returned."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from torch import Tensor, nn

from .keeper import Keeper

# Who wants to know, from here, that rows of a cache were moved.
TOLD: ContextVar[tuple[Keeper, ...]] = ContextVar("TOLD", default=())
MARK = "_tells_clearhead"


@contextmanager
def overhearing_generation(model: nn.Module, keeper: Keeper) -> Iterator[None]:
    """Inside the block, the keeper learns of moves between beams and of what was returned."""
    _install()
    token = TOLD.set((*TOLD.get(), keeper))
    generate = getattr(model, "generate", None)
    had = vars(model).get("generate")
    if generate is not None:
        vars(model)["generate"] = _telling(generate, keeper)
    try:
        yield
    finally:
        TOLD.reset(token)
        vars(model).pop("generate", None)
        if had is not None:
            vars(model)["generate"] = had


def _telling(generate: Callable[..., Any], keeper: Keeper) -> Callable[..., Any]:
    @wraps(generate)
    def telling(*args: Any, **kwargs: Any) -> Any:
        found = generate(*args, **kwargs)
        sequences = getattr(found, "sequences", found)
        if isinstance(sequences, Tensor):
            keeper.returned(sequences)
        return found

    return telling


def _install() -> None:
    """Put a pass-through where every cache of transformers moves its rows, once."""
    from transformers.cache_utils import Cache, EncoderDecoderCache

    for kind in (Cache, EncoderDecoderCache):
        original = vars(kind).get("reorder_cache")
        if original is None or hasattr(original, MARK):
            continue
        setattr(kind, "reorder_cache", _passing(original))  # noqa: B010 - mypy forbids the other


def _passing(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def reorder_cache(self: Any, beam_idx: Tensor, *args: Any, **kwargs: Any) -> Any:
        listeners = TOLD.get()
        token = TOLD.set(())  # a cache of two caches tells once
        try:
            return original(self, beam_idx, *args, **kwargs)
        finally:
            TOLD.reset(token)
            for keeper in listeners:
                keeper.moved(beam_idx)

    setattr(reorder_cache, MARK, True)
    return reorder_cache
