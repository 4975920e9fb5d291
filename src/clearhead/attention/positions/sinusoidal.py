"""Fixed waves of growing length, added to the tokens (Vaswani et al. 2017, section 3.5).

wave(p, 2i) = sin(p / 10000^(2i/M))        wave(p, 2i+1) = cos(p / 10000^(2i/M))

Each is a turn of the last position's, so a fixed distance is a fixed linear map.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ...foundation.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Sinusoidal:
    """Sines and cosines: interleaved as in the paper, or all sines first as Marian has them.

    Args:
        length: The longest text the model was made for; a longer one is refused. No limit when
            left out: the waves go on.
    """

    kind: Literal["sinusoidal"] = "sinusoidal"
    layout: Literal["interleaved", "halves"] = "interleaved"
    base: float = 10000.0
    length: int | None = None


def waves(positions: Int[Tensor, "*b t"], width: int, spec: Sinusoidal) -> Float[Tensor, "*b t m"]:
    """The wave of every position, `width` numbers each, worked out in float64."""
    pairs = torch.arange((width + 1) // 2, device=positions.device, dtype=torch.float64)
    angles = positions[..., None].double() / spec.base ** (2 * pairs / width)
    both = (angles.sin(), angles.cos()[..., : width // 2])
    if spec.layout == "halves":
        return torch.cat(both, dim=-1).float()
    found = torch.empty(*positions.shape, width, dtype=torch.float64, device=positions.device)
    found[..., 0::2], found[..., 1::2] = both
    return found.float()


class Waves(nn.Module):
    """The waves as a module: positions in, numbers to add out. Nothing to learn."""

    def __init__(self, spec: Sinusoidal, width: int) -> None:
        super().__init__()
        self.spec, self.width = spec, width
        self.table_TM: Tensor | None = None  # worked out when first needed, where it is needed

    def forward(self, positions: Int[Tensor, "*b t"], longest: int) -> Float[Tensor, "*b t m"]:
        """The waves of `positions`, all below `longest`."""
        if self.spec.length is not None and longest > self.spec.length:
            raise InputError(
                f"The sequence reaches position {longest} and this model was made for "
                f"{self.spec.length}: shorten the input to {self.spec.length} tokens."
            )
        table = self.table_TM
        if table is None or longest > len(table) or table.device != positions.device:
            places = torch.arange(max(512, 2 * longest), device=positions.device)
            table = self.table_TM = waves(places, self.width, self.spec)
        return nn.functional.embedding(positions, table)
