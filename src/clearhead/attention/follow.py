"""Whoever wants to may follow the rows of a batch: where they moved to, and what came of them.

A search moves rows about between steps: row 3 may go on from what row 1 was. Who decodes says so,
and never knows who follows. Unfollowed this costs one look.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class Follower(Protocol):
    """What is told to those who follow, each time with the module that decodes."""

    def moved_rows(self, decodes: nn.Module | None, rows: Tensor) -> None:
        """Row `i` goes on from what row `rows[i]` was."""
        ...

    def returned_ids(self, decodes: nn.Module | None, sequences: Sequence[Sequence[int]]) -> None:
        """What was found for each text, from the first token that was given to the last."""
        ...


FOLLOWED_HERE: ContextVar[tuple[Follower, ...]] = ContextVar("FOLLOWED_HERE", default=())


@contextmanager
def following(follower: Follower) -> Iterator[None]:
    """Tell the follower of everything that happens in this thread (or task) inside the block."""
    token = FOLLOWED_HERE.set((*FOLLOWED_HERE.get(), follower))
    try:
        yield
    finally:
        FOLLOWED_HERE.reset(token)


def tell_moved(decodes: nn.Module | None, rows: Tensor) -> None:
    """Say that rows were moved."""
    for follower in FOLLOWED_HERE.get():
        follower.moved_rows(decodes, rows)


def tell_returned(decodes: nn.Module | None, sequences: Sequence[Sequence[int]]) -> None:
    """Say what a search returned."""
    for follower in FOLLOWED_HERE.get():
        follower.returned_ids(decodes, sequences)
