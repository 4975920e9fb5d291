"""A cache for windows: keeps what the window can still see and forgets the rest."""

import torch
from torch import Tensor

from ...foundation.errors import ConfigError
from .cache import Held


class Rolling:
    """Keeps the newest `window` positions, the query's own among them.

    Room for twice the window is laid out; when it is full the newest half moves to the front, so
    a step costs no copy but one in every `window`.
    """

    def __init__(self, window: int) -> None:
        if window < 1:
            raise ConfigError(
                f"A rolling cache of {window} positions keeps nothing: give 1 or more."
            )
        self.window = window
        self.length = 0
        self.kept = 0  # positions now at the front of the room
        self.room: Held | None = None

    def extend(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """Add the newest positions and return them after those the first of them can still see."""
        new = k_BGTD.shape[2]
        if self.room is None:
            self.room = Held(self._empty(k_BGTD), self._empty(v_BGTE))
        if self.kept + new > 2 * self.window:
            self._forget(keep=min(self.kept, self.window - 1))
        self.length += new
        if self.kept + new > 2 * self.window:
            return self._pass_through(k_BGTD, v_BGTE)
        end = self.kept + new
        self.room.k_BGSD[:, :, self.kept : end] = k_BGTD
        self.room.v_BGSE[:, :, self.kept : end] = v_BGTE
        self.kept = end
        start = max(0, end - new - self.window + 1)
        k, v = self.room.k_BGSD[:, :, start:end], self.room.v_BGSE[:, :, start:end]
        return Held(k, v, first=self.length - (end - start))

    def reorder(self, rows_B: Tensor) -> None:
        """Go on with these rows of the batch, in this order."""
        if self.room is not None:
            self.room = self.room.reorder(rows_B)

    def _forget(self, keep: int) -> None:
        assert self.room is not None
        for room in (self.room.k_BGSD, self.room.v_BGSE):
            room[:, :, :keep] = room[:, :, self.kept - keep : self.kept].clone()
        self.kept = keep

    def _pass_through(self, k_BGTD: Tensor, v_BGTE: Tensor) -> Held:
        """A piece longer than the room (a long prompt): attend to all of it, keep its end."""
        assert self.room is not None
        k = torch.cat([self.room.k_BGSD[:, :, : self.kept], k_BGTD], dim=2)
        v = torch.cat([self.room.v_BGSE[:, :, : self.kept], v_BGTE], dim=2)
        self.kept = self.window
        self.room.k_BGSD[:, :, : self.window] = k[:, :, -self.window :]
        self.room.v_BGSE[:, :, : self.window] = v[:, :, -self.window :]
        return Held(k, v, first=self.length - k.shape[2])

    def _empty(self, like_BGTD: Tensor) -> Tensor:
        batch, groups, _, width = like_BGTD.shape
        return like_BGTD.new_zeros(batch, groups, 2 * self.window, width)
