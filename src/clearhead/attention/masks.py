"""Who may look at whom, as rules that combine with `&`, `|` and `~`.

A rule speaks of positions and is written once, element by element. From that one definition come
whole grids, the tiles a sparse kernel may skip, and what a compiled kernel inlines.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

Kind = Literal["full", "causal"]


@dataclass(frozen=True)
class Tiles:
    """Rectangles of pairs: rows from `top` to `bottom`, columns from `left` to `right`, inclusive.

    The four tensors stretch to one shape [B, R, C] together with `batch`.
    """

    batch: Tensor
    top: Tensor
    bottom: Tensor
    left: Tensor
    right: Tensor


@dataclass(frozen=True)
class Verdict:
    """What a rule says of each tile. `some` may be True in doubt, `every` may be False in doubt.

    Both stretch to [B, R, C].
    """

    some: Bool[Tensor, "..."]
    every: Bool[Tensor, "..."]


class Mask(ABC):
    """A rule over (example, query position, key position). True means "may look"."""

    @abstractmethod
    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        """Apply the rule; the three index tensors stretch to one shape."""

    def tiles(self, tiles: Tiles) -> Verdict:
        """Judge whole tiles without looking at their pairs. In doubt: some, not every."""
        doubt = everywhere(tiles.top) & everywhere(tiles.left)
        return Verdict(doubt, ~doubt)

    def kind(self, queries: int, keys: int) -> Kind | None:
        """Say when the rule allows exactly every pair, or exactly the causal ones."""
        return None

    def density(self, queries: int, keys: int) -> float:
        """An upper bound for the share of pairs that are allowed, known without looking."""
        return 1.0

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:  # noqa: B027
        """Raise ShapeError when the rule was made for other sizes. Most rules fit any."""

    @property
    def batched(self) -> bool:
        """Whether the rule differs from example to example."""
        return False

    def on(self, device: torch.device) -> "Mask":
        """The same rule with its tables on this device."""
        return self

    def __and__(self, other: "Mask") -> "Mask":
        return Both(self, other)

    def __or__(self, other: "Mask") -> "Mask":
        return Either(self, other)

    def __invert__(self) -> "Mask":
        return Not(self)


@dataclass(frozen=True)
class Everything(Mask):
    """Every query sees every key."""

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return everywhere(row) & everywhere(column)

    def tiles(self, tiles: Tiles) -> Verdict:
        every = everywhere(tiles.top) & everywhere(tiles.left)
        return Verdict(every, every)

    def kind(self, queries: int, keys: int) -> Kind | None:
        return "full"


@dataclass(frozen=True)
class Both(Mask):
    """Allowed by the first rule and by the second."""

    first: Mask
    second: Mask

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.first.sees(batch, row, column) & self.second.sees(batch, row, column)

    def tiles(self, tiles: Tiles) -> Verdict:
        one, two = self.first.tiles(tiles), self.second.tiles(tiles)
        return Verdict(one.some & two.some, one.every & two.every)

    def kind(self, queries: int, keys: int) -> Kind | None:
        one, two = self.first.kind(queries, keys), self.second.kind(queries, keys)
        if one is None or two is None:
            return None
        return "full" if one == two == "full" else "causal"

    def density(self, queries: int, keys: int) -> float:
        return min(self.first.density(queries, keys), self.second.density(queries, keys))

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        self.first.check(batch, queries, keys, first)
        self.second.check(batch, queries, keys, first)

    def on(self, device: torch.device) -> Mask:
        return Both(self.first.on(device), self.second.on(device))

    @property
    def batched(self) -> bool:
        return self.first.batched or self.second.batched


@dataclass(frozen=True)
class Either(Mask):
    """Allowed by the first rule or by the second."""

    first: Mask
    second: Mask

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.first.sees(batch, row, column) | self.second.sees(batch, row, column)

    def tiles(self, tiles: Tiles) -> Verdict:
        one, two = self.first.tiles(tiles), self.second.tiles(tiles)
        return Verdict(one.some | two.some, one.every | two.every)

    def kind(self, queries: int, keys: int) -> Kind | None:
        one, two = self.first.kind(queries, keys), self.second.kind(queries, keys)
        return "full" if "full" in (one, two) else one if one == two else None

    def density(self, queries: int, keys: int) -> float:
        return min(1.0, self.first.density(queries, keys) + self.second.density(queries, keys))

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        self.first.check(batch, queries, keys, first)
        self.second.check(batch, queries, keys, first)

    def on(self, device: torch.device) -> Mask:
        return Either(self.first.on(device), self.second.on(device))

    @property
    def batched(self) -> bool:
        return self.first.batched or self.second.batched


@dataclass(frozen=True)
class Not(Mask):
    """Allowed exactly where the rule forbids."""

    rule: Mask

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return ~self.rule.sees(batch, row, column)

    def tiles(self, tiles: Tiles) -> Verdict:
        verdict = self.rule.tiles(tiles)
        return Verdict(~verdict.every, ~verdict.some)

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        self.rule.check(batch, queries, keys, first)

    def on(self, device: torch.device) -> Mask:
        return Not(self.rule.on(device))

    @property
    def batched(self) -> bool:
        return self.rule.batched


class Once(Mask):
    """A rule that remembers what was drawn of it, for the many layers of one forward pass."""

    def __init__(self, rule: Mask) -> None:
        self.rule = rule
        self.grids: dict[Hashable, Tensor] = {}
        self.verdicts: dict[Hashable, Verdict] = {}

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.rule.sees(batch, row, column)

    def tiles(self, tiles: Tiles) -> Verdict:
        return self.rule.tiles(tiles)

    def kind(self, queries: int, keys: int) -> Kind | None:
        return self.rule.kind(queries, keys)

    def density(self, queries: int, keys: int) -> float:
        return self.rule.density(queries, keys)

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        self.rule.check(batch, queries, keys, first)

    def on(self, device: torch.device) -> Mask:
        return self.rule.on(device)

    @property
    def batched(self) -> bool:
        return self.rule.batched


def everywhere(index: Tensor) -> Tensor:
    """True in the index's own shape, in a way that a compiled kernel can inline."""
    return index.eq(index)


def plain(mask: Mask) -> Mask:
    """The rule itself, without its memory."""
    return mask.rule if isinstance(mask, Once) else mask


def grid(
    mask: Mask, *, batch: int, queries: int, keys: int, first: int = 0, device: torch.device
) -> Bool[Tensor, "b t s"]:
    """The mask as booleans, with `b` 1 when it is the same for the whole batch.

    The last query is aligned with the last key; the first key stands at position `first`.
    """
    place = (batch, queries, keys, first, device)
    if isinstance(mask, Once) and place in mask.grids:
        return mask.grids[place]
    batch_B11 = torch.arange(batch if mask.batched else 1, device=device)[:, None, None]
    rows_T1 = torch.arange(first + keys - queries, first + keys, device=device)[:, None]
    columns_S = torch.arange(first, first + keys, device=device)
    allowed_BTS = mask.sees(batch_B11, rows_T1, columns_S).expand(len(batch_B11), queries, keys)
    if isinstance(mask, Once):
        mask.grids[place] = allowed_BTS
    return allowed_BTS


def tile_verdict(
    mask: Mask,
    *,
    batch: int,
    queries: int,
    keys: int,
    first: int,
    size: tuple[int, int],
    device: torch.device,
) -> Verdict:
    """Judge every tile of `size` (queries, keys), the last ones cut short at the edge."""
    place = (batch, queries, keys, first, size, device)
    if isinstance(mask, Once) and place in mask.verdicts:
        return mask.verdicts[place]
    batch_B11 = torch.arange(batch if mask.batched else 1, device=device)[:, None, None]
    top_R1 = torch.arange(0, queries, size[0], device=device)[:, None]
    left_C = torch.arange(0, keys, size[1], device=device)
    shift = first + keys - queries
    verdict = mask.tiles(
        Tiles(
            batch=batch_B11,
            top=top_R1 + shift,
            bottom=(top_R1 + size[0]).clamp(max=queries) - 1 + shift,
            left=left_C + first,
            right=(left_C + size[1]).clamp(max=keys) - 1 + first,
        )
    )
    shape = (len(batch_B11), len(top_R1), len(left_C))
    verdict = Verdict(verdict.some.expand(shape), verdict.every.expand(shape))
    if isinstance(mask, Once):
        mask.verdicts[place] = verdict
    return verdict
