"""Whoever wants to may change what attention hands on, and attention never knows who.

Where nobody does, this costs one truth test: `if CHANGERS`. A change stands behind the
announcement: what is announced is always what attention made by itself.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from .announce import Announcement
from .contract import Attended

Changer = Callable[[Announcement], Tensor]  # what took place -> the values to hand on

# Everyone who changes, in any thread: the truth test. Who acts is decided by CHANGED_HERE.
CHANGERS: list[Changer] = []
CHANGED_HERE: ContextVar[tuple[Changer, ...]] = ContextVar("CHANGED_HERE", default=())


@contextmanager
def changing(changer: Changer) -> Iterator[None]:
    """Hand on what `changer` returns, for every attention of this thread (or task) in the block.

    One inside another is given what the outer one returned.
    """
    CHANGERS.append(changer)
    token = CHANGED_HERE.set((*CHANGED_HERE.get(), changer))
    try:
        yield
    finally:
        CHANGERS.remove(changer)
        CHANGED_HERE.reset(token)


def changed(told: Announcement) -> Attended:
    """What is handed on, worked out outside the graph when this is being compiled."""
    if CHANGERS and torch.compiler.is_compiling():
        uncompiled: Any = torch.compiler.disable  # torch leaves it without a type
        outside: Attended = uncompiled(_change)(told)
        return outside
    return _change(told) if CHANGERS else told.attended


def _change(told: Announcement) -> Attended:
    for changer in CHANGED_HERE.get():
        told = replace(told, attended=replace(told.attended, values_BHTE=changer(told)))
    return told.attended
