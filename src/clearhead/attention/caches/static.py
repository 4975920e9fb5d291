"""A cache of a fixed size, laid out once: a step writes its own positions and copies nothing."""

from torch import Tensor

from ...foundation.errors import CannotError
from .cache import Held


class Static:
    """Room for `capacity` positions."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self.room: Held | None = None

    def extend(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """Write the newest positions and return a view of all so far."""
        end = self.length + k_BGTD.shape[2]
        if end > self.capacity:
            raise CannotError(
                f"The cache has room for {self.capacity} positions and {end} are needed: "
                "make it larger, generate fewer tokens, or use a growing cache."
            )
        if self.room is None:
            self.room = Held(self._empty(k_BGTD), self._empty(v_BGTE))
        self.room.k_BGSD[:, :, self.length : end] = k_BGTD
        self.room.v_BGSE[:, :, self.length : end] = v_BGTE
        self.length = end
        return Held(self.room.k_BGSD[:, :, :end], self.room.v_BGSE[:, :, :end])

    def reorder(self, rows_B: Tensor) -> None:
        """Go on with these rows of the batch, in this order."""
        if self.room is not None:
            self.room = self.room.reorder(rows_B)

    def _empty(self, like_BGTD: Tensor) -> Tensor:
        batch, groups, _, width = like_BGTD.shape
        return like_BGTD.new_zeros(batch, groups, self.capacity, width)
