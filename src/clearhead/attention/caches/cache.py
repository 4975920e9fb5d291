"""What every cache of keys and values does."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Held:
    """The keys and values to attend to now. The first of them stands at position `first`."""

    k_BGSD: Float[Tensor, "b g s d"]
    v_BGSE: Float[Tensor, "b g s e"]
    first: int = 0

    def reorder(self, rows_B: Int[Tensor, " b"]) -> "Held":
        """The same of these rows of the batch, in this order."""
        return Held(
            self.k_BGSD.index_select(0, rows_B), self.v_BGSE.index_select(0, rows_B), self.first
        )


@runtime_checkable
class Cache(Protocol):
    """One attention's past."""

    @property
    def length(self) -> int:
        """How many positions have passed, kept or forgotten."""

    def extend(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """Add the newest positions and return all that may still be looked at."""

    def reorder(self, rows_B: Tensor) -> None:
        """Go on with these rows of the batch, in this order; a row may come twice, or never."""
