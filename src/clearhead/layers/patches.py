"""A picture to vectors: cut into squares, one vector a square, special tokens in front."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..foundation.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Patches:
    """How a picture becomes tokens.

    Args:
        picture: Height and width of a picture in pixels.
        patch: Height and width of a square in pixels.
        specials: Learned tokens in front: 1 for ViT's class token, 2 for DeiT's with distillation.
    """

    kind: Literal["patches"] = "patches"
    picture: int
    patch: int
    channels: int = 3
    specials: int = 1
    dropout: float = 0.0

    @property
    def tokens(self) -> int:
        """How many tokens a picture becomes, special ones included."""
        return self.specials + (self.picture // self.patch) ** 2


class PatchInput(nn.Module):
    """The input layer of a picture model."""

    def __init__(self, spec: Patches, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.squares = nn.Conv2d(spec.channels, width, kernel_size=spec.patch, stride=spec.patch)
        self.specials = nn.Parameter(torch.zeros(1, spec.specials, width))
        self.positions = nn.Parameter(torch.zeros(1, spec.tokens, width))
        self.dropout = nn.Dropout(spec.dropout)

    def forward(self, pixels_BCYX: Float[Tensor, "b c y x"]) -> Float[Tensor, "b t m"]:
        """Vectors of the special tokens, then of the squares, row by row."""
        wanted = (self.spec.channels, self.spec.picture, self.spec.picture)
        if tuple(pixels_BCYX.shape[1:]) != wanted:
            raise InputError(
                f"The pictures are {tuple(pixels_BCYX.shape[1:])} and this model takes {wanted} "
                "(channels, height, width): resize them first."
            )
        squares_BTM = self.squares(pixels_BCYX).flatten(2).transpose(1, 2)
        specials_B1M = self.specials.expand(len(squares_BTM), -1, -1)
        x_BTM: Tensor = self.dropout(torch.cat([specials_B1M, squares_BTM], 1) + self.positions)
        return x_BTM
