"""T5's buckets of distance, each with a learned number a head (Raffel et al. 2020, section 2.1)."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

from ..bias import Table


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """`count` buckets; distances from `furthest` on share the last."""

    kind: Literal["buckets"] = "buckets"
    count: int = 32
    furthest: int = 128


class Distances(nn.Module):
    """The learned numbers of a stack. Its layers share them."""

    def __init__(self, spec: Buckets, *, heads: int, both_sides: bool) -> None:
        super().__init__()
        self.spec, self.both_sides = spec, both_sides
        self.weight = nn.Parameter(torch.zeros(spec.count, heads))

    def forward(self) -> Table:
        """The rule to add to scores."""
        return Table(self.weight, self.spec.furthest, self.both_sides)
