"""One seed → as many independent streams of random numbers as there are purposes.

A stream depends on the seed and the name of its purpose alone, so drawing more from one (a longer
shuffle) never changes another (the first weights).
"""

import random
from hashlib import sha256

import numpy as np
import torch

from .errors import ConfigError

LARGEST = 2**63 - 1


def torch_generator(
    seed: int, purpose: str, *, device: torch.device | str = "cpu"
) -> torch.Generator:
    """Return torch's generator for one purpose, such as "dropout"."""
    return torch.Generator(device).manual_seed(derived(seed, purpose))


def numpy_generator(seed: int, purpose: str) -> np.random.Generator:
    """Return numpy's generator for one purpose, such as "shuffle"."""
    return np.random.default_rng(derived(seed, purpose))


def seed_globally(seed: int) -> None:
    """Seed what draws without a generator of its own: Python's, numpy's and torch's global streams.

    Dropout inside torch is such a case. Nothing in this project calls it unasked.
    """
    random.seed(derived(seed, "python"))
    np.random.seed(derived(seed, "numpy") % 2**32)
    torch.manual_seed(derived(seed, "torch"))


def derived(seed: int, purpose: str) -> int:
    """Return the seed of one purpose."""
    if not 0 <= seed <= LARGEST:
        raise ConfigError(f"{seed} cannot be a seed. Choose a whole number from 0 to {LARGEST}.")
    digest = sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
