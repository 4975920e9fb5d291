"""Attention tells whoever watches what it really did, and never knows who watches.

Unwatched, this costs one truth test: `if WATCHERS`. What is told are references, never copies.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .contract import Attended, Request


@dataclass(frozen=True, kw_only=True)
class Announcement:
    """One attention that took place: where, in which module, what was asked, what came out."""

    site: str
    module: nn.Module | None
    request: Request
    attended: Attended


Watcher = Callable[[Announcement], None]

# Everyone who watches, in any thread: the truth test. Who hears is decided by HEARD_HERE.
WATCHERS: list[Watcher] = []
HEARD_HERE: ContextVar[tuple[Watcher, ...]] = ContextVar("HEARD_HERE", default=())


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with every announcement made in this thread (or task) inside the block."""
    WATCHERS.append(watcher)
    token = HEARD_HERE.set((*HEARD_HERE.get(), watcher))
    try:
        yield
    finally:
        WATCHERS.remove(watcher)
        HEARD_HERE.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Inside the block, in this thread, nobody hears who was watching before it."""
    token = HEARD_HERE.set(())
    try:
        yield
    finally:
        HEARD_HERE.reset(token)


def announce(announcement: Announcement) -> None:
    """Tell everyone who watches from here, outside the graph when this is being compiled."""
    if torch.compiler.is_compiling():
        uncompiled: Any = torch.compiler.disable  # torch leaves it without a type
        uncompiled(_tell)(announcement)
    else:
        _tell(announcement)


def _tell(announcement: Announcement) -> None:
    for watcher in HEARD_HERE.get():
        watcher(announcement)
