"""A shuffle that is a formula: the example at any place of any epoch, without a list of all.

A Feistel network (Luby & Rackoff 1988) permutes the numbers below a power of four; those that fall
outside are sent through again until they fall inside, which permutes the rest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..foundation.seeds import derived

ROUNDS = 6


@dataclass(frozen=True)
class Order:
    """All numbers below `count`, each once, in an order of its own for each seed and epoch."""

    count: int
    seed: int
    epoch: int

    def at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers at these places."""
        half = max(1, -(-int(self.count - 1).bit_length() // 2))
        found = self._once(places.astype(np.uint64), half)
        outside = found >= self.count
        while outside.any():
            found[outside] = self._once(found[outside], half)
            outside = found >= self.count
        return found.astype(np.int64)

    def _once(self, numbers: NDArray[np.uint64], half: int) -> NDArray[np.uint64]:
        low_bits = np.uint64((1 << half) - 1)
        left, right = numbers >> np.uint64(half), numbers & low_bits
        for turn in range(ROUNDS):
            key = np.uint64(derived(self.seed, f"order/{self.epoch}/{turn}"))
            left, right = right, left ^ (_mixed(right + key) & low_bits)
        return (left << np.uint64(half)) | right


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each number as another that looks unrelated (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
