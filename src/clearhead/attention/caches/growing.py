"""A cache that grows by joining: simple, no limit, copies the past at every step."""

import torch
from torch import Tensor

from .cache import Held


class Growing:
    """Keeps everything."""

    def __init__(self) -> None:
        self.held: Held | None = None

    @property
    def length(self) -> int:
        """How many positions have passed."""
        return 0 if self.held is None else self.held.k_BGSD.shape[2]

    def extend(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """Add the newest positions and return all of them."""
        if self.held is not None:
            k_BGTD = torch.cat([self.held.k_BGSD, k_BGTD], dim=2)
            v_BGTE = torch.cat([self.held.v_BGSE, v_BGTE], dim=2)
        self.held = Held(k_BGTD, v_BGTE)
        return self.held

    def reorder(self, rows_B: Tensor) -> None:
        """Go on with these rows of the batch, in this order."""
        if self.held is not None:
            self.held = self.held.reorder(rows_B)
