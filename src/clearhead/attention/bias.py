"""What is added to a score because of where the query and the key stand."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..foundation.errors import ConfigError, ShapeError


class Bias(ABC):
    """A rule from (head, query position, key position) to a number added to the score.

    One elementwise definition serves every kernel: whole grids, tiles and single cells.
    """

    @abstractmethod
    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        """Apply the rule; the three index tensors stretch to one shape."""

    @abstractmethod
    def check(self, heads: int) -> None:
        """Raise ShapeError when the rule was made for another number of heads."""


@dataclass(frozen=True, eq=False)
class Slopes(Bias):
    """ALiBi: every step of distance costs `slopes_H[head]` (Press et al. 2022, section 3)."""

    slopes_H: Float[Tensor, " h"]

    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return -self.slopes_H[head] * (row - column).abs()

    def check(self, heads: int) -> None:
        if len(self.slopes_H) != heads:
            raise ShapeError(
                f"There are {len(self.slopes_H)} slopes for {heads} query heads: give one a head."
            )


@dataclass(frozen=True, eq=False)
class Table(Bias):
    """T5: distances fall into buckets, near ones alone, far ones together (Raffel et al., 2.1).

    Args:
        table_NH: One learned number a bucket and head.
        furthest: Distances from here on share the last bucket.
        both_sides: Half the buckets are for keys after the query. When False those count as near.
    """

    table_NH: Float[Tensor, "n h"]
    furthest: int
    both_sides: bool

    def __post_init__(self) -> None:
        buckets, sides = len(self.table_NH), 2 if self.both_sides else 1
        if buckets // sides < 2 or self.furthest <= buckets // sides // 2:
            raise ConfigError(
                f"{buckets} buckets cannot hold distances up to {self.furthest}: give at least "
                f"{2 * sides} buckets and a furthest above {buckets // sides // 2}."
            )

    def check(self, heads: int) -> None:
        if self.table_NH.shape[1] != heads:
            raise ShapeError(
                f"The table of buckets has {self.table_NH.shape[1]} columns for {heads} query "
                "heads: give one column a head."
            )

    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.table_NH[self.bucket(column - row), head]

    def bucket(self, ahead: Tensor) -> Tensor:
        """Return the bucket of a key that stands `ahead` positions after its query."""
        count = self.table_NH.shape[0] // (2 if self.both_sides else 1)
        side = (ahead > 0).long() * count if self.both_sides else torch.zeros_like(ahead)
        distance = ahead.abs() if self.both_sides else (-ahead).clamp(min=0)
        near = count // 2
        growth = torch.log(distance.clamp(min=1).float() / near) / math.log(self.furthest / near)
        far = (near + (growth * (count - near)).long()).clamp(max=count - 1)
        return side + torch.where(distance < near, distance, far)


@dataclass(frozen=True, eq=False)
class Chosen(Bias):
    """Another rule, for some of its heads."""

    rule: Bias
    heads_H: Int[Tensor, " h"]

    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.rule.at(self.heads_H[head], row, column)

    def check(self, heads: int) -> None:
        if len(self.heads_H) != heads:
            raise ShapeError(
                f"The bias was chosen for {len(self.heads_H)} heads and there are {heads} query "
                "heads: choose as many."
            )


def bias_grid(
    bias: Bias | Tensor, *, heads: int, rows_T: Tensor, columns_S: Tensor
) -> Float[Tensor, "b h t s"]:
    """The bias of every pair, with axes of length 1 where it is the same for all."""
    if isinstance(bias, Tensor):
        return bias.reshape((1,) * (4 - bias.dim()) + tuple(bias.shape))
    head_H11 = torch.arange(heads, device=rows_T.device)[:, None, None]
    return bias.at(head_H11, rows_T[:, None], columns_S[None, :])[None]
