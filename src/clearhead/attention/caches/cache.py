"""What every cache of keys and values does."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Held:
    """The keys and values to attend to now. The first of them stands at position `first`."""

    k_BGSD: Float[Tensor, "b g s d"]
    v_BGSE: Float[Tensor, "b g s e"]
    first: int = 0


@runtime_checkable
class Cache(Protocol):
    """One attention's past."""

    @property
    def length(self) -> int:
        """How many positions have passed, kept or forgotten."""

    def extend(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """Add the newest positions and return all that may still be looked at."""
