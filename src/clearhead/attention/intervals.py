"""A mask as one stretch of keys for each query.

Causal, windows, padding, prefixes and packed documents all are: two numbers a query say everything
the whole grid does, in O(n) memory, and that is all a kernel needs to know.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from .masks import Both, Either, Everything, Mask, Tiles, Verdict, plain
from .rules import Documents, Given, Padding, Prefix, Window

ROWS_AT_ONCE = 4096  # of a written-out mask, so that reading one needs little memory


@dataclass(frozen=True, eq=False)
class Intervals(Mask):
    """Query `t` of an example sees the keys from `start_BT` up to, not including, `stop_BT`.

    Both are positions, as is `row`, where the first of the queries stands.
    """

    start_BT: Int[Tensor, "b t"]
    stop_BT: Int[Tensor, "b t"]
    row: int

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        batch, row = (batch if self.batched else batch * 0), row - self.row
        return (column >= self.start_BT[batch, row]) & (column < self.stop_BT[batch, row])

    def tiles(self, tiles: Tiles) -> Verdict:
        if not tiles.top.numel():
            return super().tiles(tiles)
        spans = zip(tiles.top.flatten().tolist(), tiles.bottom.flatten().tolist(), strict=True)
        rows = [slice(top - self.row, bottom - self.row + 1) for top, bottom in spans]
        starts, stops = ([of[:, part].aminmax(dim=1) for part in rows] for of in self._both())
        first, last = (torch.stack([s[i] for s in starts], 1)[..., None] for i in (0, 1))
        least, most = (torch.stack([s[i] for s in stops], 1)[..., None] for i in (0, 1))
        some = (first <= tiles.right) & (most > tiles.left)
        return Verdict(some, (last <= tiles.left) & (least > tiles.right))

    def _both(self) -> tuple[Tensor, Tensor]:
        return self.start_BT, self.stop_BT

    @property
    def batched(self) -> bool:
        return len(self.start_BT) > 1

    def on(self, device: torch.device) -> "Intervals":
        return Intervals(self.start_BT.to(device), self.stop_BT.to(device), self.row)


Stretch = tuple[Tensor, Tensor]  # start and stop, each [B or 1, T]


@dataclass(frozen=True)
class Place:
    """The queries and keys a rule is read for, by position."""

    queries: int
    keys: int
    first: int
    device: torch.device

    @property
    def row(self) -> int:
        """Where the first query stands."""
        return self.first + self.keys - self.queries

    @property
    def rows_1T(self) -> Tensor:
        """Where every query stands."""
        return torch.arange(self.row, self.row + self.queries, device=self.device)[None]

    def flat(self, start: int, stop: int) -> Stretch:
        """The same stretch for every query."""
        of = self.rows_1T
        return torch.full_like(of, start), torch.full_like(of, stop)


def intervals(mask: Mask, place: Place) -> Intervals | None:
    """The rule as one stretch a query, or None where a query sees keys with gaps between them."""
    found = _read(plain(mask), place)
    if found is None:
        return None
    end = place.first + place.keys
    batch = max(len(edge) for edge in found)
    start_BT, stop_BT = (edge.clamp(place.first, end).expand(batch, -1) for edge in found)
    return Intervals(start_BT, torch.maximum(start_BT, stop_BT), place.row)


def _read(mask: Mask, place: Place) -> Stretch | None:
    mask = plain(mask)
    if isinstance(mask, Both):
        one, two = _read(mask.first, place), _read(mask.second, place)
        if one is None or two is None:
            return None
        return torch.maximum(one[0], two[0]), torch.minimum(one[1], two[1])
    if isinstance(mask, Either):
        return _joined(_read(mask.first, place), _read(mask.second, place), place)
    for kind, read in READERS.items():
        if isinstance(mask, kind):
            return read(mask, place)
    return None


def _joined(one: Stretch | None, two: Stretch | None, place: Place) -> Stretch | None:
    """Both stretches as one, where no query has a gap between them."""
    if one is None or two is None:
        return None
    low, high = place.first, place.first + place.keys
    (a, b), (c, d) = (tuple(edge.clamp(low, high) for edge in pair) for pair in (one, two))
    empty_one, empty_two = b <= a, d <= c
    apart = (torch.maximum(a, c) > torch.minimum(b, d)) & ~empty_one & ~empty_two
    if bool(apart.any()):
        return None
    start = torch.where(empty_one, c, torch.where(empty_two, a, torch.minimum(a, c)))
    stop = torch.where(empty_one, d, torch.where(empty_two, b, torch.maximum(b, d)))
    return start, stop


def _everything(mask: Everything, place: Place) -> Stretch:
    return place.flat(place.first, place.first + place.keys)


def _window(mask: Window, place: Place) -> Stretch:
    start, stop = place.flat(place.first, place.first + place.keys)
    if mask.left is not None:
        start = place.rows_1T - mask.left
    if mask.right is not None:
        stop = place.rows_1T + mask.right + 1
    return start, stop


def _padding(mask: Padding, place: Place) -> Stretch:
    start, stop = place.flat(place.first, place.first + place.keys)
    if mask.starts_B is not None:
        start = mask.starts_B.to(place.device)[:, None].expand(-1, place.queries)
    if mask.lengths_B is not None:
        stop = mask.lengths_B.to(place.device)[:, None].expand(-1, place.queries)
    return start, stop


def _prefix(mask: Prefix, place: Place) -> Stretch:
    return place.flat(place.first, mask.length)


def _documents(mask: Documents, place: Place) -> Stretch | None:
    columns_BS = mask.columns_BS.to(place.device)
    if not bool((columns_BS.diff(dim=1) >= 0).all()):
        return None
    rows_BT = columns_BS if mask.rows_BT is None else mask.rows_BT.to(place.device)
    shift = columns_BS.shape[1] - rows_BT.shape[1]
    own_BT = rows_BT[:, place.rows_1T[0] - shift].contiguous()
    columns_BS = columns_BS.contiguous()
    start = torch.searchsorted(columns_BS, own_BT)
    return start, torch.searchsorted(columns_BS, own_BT, right=True)


def _given(mask: Given, place: Place) -> Stretch | None:
    starts, stops = [], []
    for row in range(0, place.queries, ROWS_AT_ONCE):
        rows_BrS = mask.allowed_BTS[:, row : row + ROWS_AT_ONCE]
        ones = rows_BrS.to(torch.uint8)
        start = ones.argmax(-1)
        stop = place.keys - ones.flip(-1).argmax(-1)
        count = rows_BrS.sum(-1)
        stop = torch.where(count == 0, start, stop)
        if bool((count != stop - start).any()):
            return None
        starts.append(start)
        stops.append(stop)
    if not starts:
        return place.flat(0, 0)
    return torch.cat(starts, 1) + place.first, torch.cat(stops, 1) + place.first


def _same(mask: Intervals, place: Place) -> Stretch:
    rows = slice(place.row - mask.row, place.row - mask.row + place.queries)
    return mask.start_BT[:, rows], mask.stop_BT[:, rows]


Reader = Callable[..., Stretch | None]
READERS: dict[type[Mask], Reader] = {
    Everything: _everything,
    Window: _window,
    Padding: _padding,
    Prefix: _prefix,
    Documents: _documents,
    Given: _given,
    Intervals: _same,
}
