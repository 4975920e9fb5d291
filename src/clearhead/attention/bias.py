"""What is added to a score because of where the query and the key stand."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


class Bias(ABC):
    """A rule from (head, query position, key position) to a number added to the score.

    One elementwise definition serves every kernel: whole grids, tiles and single cells.
    """

    @abstractmethod
    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        """Apply the rule; the three index tensors stretch to one shape."""


@dataclass(frozen=True, eq=False)
class Slopes(Bias):
    """ALiBi: every step of distance costs `slopes_H[head]` (Press et al. 2022, section 3)."""

    slopes_H: Float[Tensor, " h"]

    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return -self.slopes_H[head] * (row - column).abs()


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

    def at(self, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.table_NH[self.bucket(column - row), head]

    def bucket(self, ahead: Tensor) -> Tensor:
        """Return the bucket of a key that stands `ahead` positions after its query."""
        count = self.table_NH.shape[0] // (2 if self.both_sides else 1)
        side = (ahead > 0).long() * count if self.both_sides else torch.zeros_like(ahead)
        distance = ahead.abs() if self.both_sides else (-ahead).clamp(min=0)
        near = count // 2
        growth = torch.log(distance.clamp(min=1).float() / near) / torch.log(
            torch.tensor(self.furthest / near, device=ahead.device)
        )
        far = (near + (growth * (count - near)).long()).clamp(max=count - 1)
        return side + torch.where(distance < near, distance, far)


def bias_grid(
    bias: Bias | Tensor, *, heads: int, rows_T: Tensor, columns_S: Tensor
) -> Float[Tensor, "b h t s"]:
    """The bias of every pair, with axes of length 1 where it is the same for all."""
    if isinstance(bias, Tensor):
        return bias.reshape((1,) * (4 - bias.dim()) + tuple(bias.shape))
    head_H11 = torch.arange(heads, device=rows_T.device)[:, None, None]
    return bias.at(head_H11, rows_T[:, None], columns_S[None, :])[None]
