"""Examples of like length side by side, up to so many tokens; the position is three numbers.

An epoch is shuffled whole. It goes by in pools of examples: each is sorted by length, cut into
batches, and the batches are shuffled. So every batch follows from the seed and its position, and
nothing but the position has to be remembered.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..foundation.errors import ConfigError, InputError
from ..foundation.seeds import numpy_generator
from .order import Order
from .store import Store

POOL = 32_768  # examples that are sorted by length together


@dataclass(frozen=True, kw_only=True)
class Position:
    """Which batch comes next: the epoch, the pool in it, the batch in that."""

    epoch: int = 0
    pool: int = 0
    batch: int = 0


class Batches:
    """Endless batches of a store's examples, from any position.

    Args:
        tokens: How many a batch may have on the side that has more, padding included.
        pool: How many examples are sorted by length together.
    """

    def __init__(self, store: Store, *, tokens: int, seed: int, pool: int = POOL) -> None:
        if not len(store):
            raise InputError("There are no examples to make batches of: give more data.")
        self.store, self.tokens, self.seed, self.pool = store, tokens, seed, pool
        self._cut: dict[tuple[int, int], list[NDArray[np.int64]]] = {}

    def at(self, position: Position) -> tuple[NDArray[np.int64], Position]:
        """The examples of one batch by number, and the position behind it."""
        cut = self._batches(position.epoch, position.pool)
        numbers = cut[position.batch]
        if position.batch + 1 < len(cut):
            return numbers, Position(
                epoch=position.epoch, pool=position.pool, batch=position.batch + 1
            )
        if (position.pool + 1) * self.pool < len(self.store):
            return numbers, Position(epoch=position.epoch, pool=position.pool + 1)
        return numbers, Position(epoch=position.epoch + 1)

    def once(self) -> Iterator[NDArray[np.int64]]:
        """All examples once, in the store's own order of places, for measuring."""
        for start in range(0, len(self.store), self.pool):
            numbers = np.arange(start, min(start + self.pool, len(self.store)))
            yield from self._by_length(numbers)

    def _batches(self, epoch: int, pool: int) -> list[NDArray[np.int64]]:
        """The batches of one pool, in the order in which they come."""
        if (epoch, pool) not in self._cut:
            places = np.arange(pool * self.pool, min((pool + 1) * self.pool, len(self.store)))
            cut = self._by_length(Order(len(self.store), self.seed, epoch).at(places))
            draw = numpy_generator(self.seed, f"batches/{epoch}/{pool}")
            self._cut = {(epoch, pool): [cut[at] for at in draw.permutation(len(cut))]}
        return self._cut[epoch, pool]

    def _by_length(self, numbers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """These examples cut into batches of like length; equal lengths keep their order."""
        lengths = self.store.lengths(numbers)
        order = np.lexsort(lengths.T)
        numbers, longest = numbers[order], lengths[order].max(1)
        if longest.max() > self.tokens:
            raise ConfigError(
                f"An example has {longest.max()} tokens and a batch may have {self.tokens}: raise "
                "train.tokens, or leave such examples out with a smaller data.longest."
            )
        found, start = [], 0
        while start < len(numbers):
            widest = np.maximum.accumulate(longest[start : start + self.tokens])
            fits = widest * np.arange(1, len(widest) + 1) <= self.tokens
            stop = start + int(fits.argmin() if not fits.all() else len(fits))
            found.append(numbers[start:stop])
            start = stop
        return found
