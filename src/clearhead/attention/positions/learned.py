"""One learned vector a position, added to the tokens."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...foundation.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A table of `length` positions.

    Args:
        offset: Rows at the top of the table that no position uses (RoBERTa and BART have 2).
    """

    kind: Literal["learned"] = "learned"
    length: int
    offset: int = 0


class Table(nn.Module):
    """The table as a module: positions in, vectors to add out."""

    def __init__(self, spec: Learned, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.weight = nn.Parameter(torch.empty(spec.length + spec.offset, width))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, positions: Int[Tensor, "*b t"], longest: int) -> Float[Tensor, "*b t m"]:
        """The vectors of `positions`, all below `longest`."""
        if longest > self.spec.length:
            raise InputError(
                f"The sequence reaches position {longest} and this model learned "
                f"{self.spec.length} positions: shorten the input to {self.spec.length} tokens, "
                "or use a model with rotary positions."
            )
        return nn.functional.embedding(positions + self.spec.offset, self.weight)
