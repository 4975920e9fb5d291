"""Queries and keys turned by their position, so that q·k knows only distances (Su et al. 2021)."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ...foundation.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Linear:
    """Positions divided by `factor`: a longer text in the range that was trained."""

    kind: Literal["linear"] = "linear"
    factor: float


@dataclass(frozen=True, kw_only=True)
class Llama3:
    """Slow turns divided by `factor`, fast ones kept, a ramp between (Llama 3, section 3.2)."""

    kind: Literal["llama3"] = "llama3"
    factor: float
    low: float
    high: float
    trained_length: int


@dataclass(frozen=True, kw_only=True)
class Rotary:
    """Turns with wavelengths from 2π to 2π·`base`, over the first `share` of each head."""

    kind: Literal["rotary"] = "rotary"
    base: float = 10000.0
    share: float = 1.0
    scaling: Linear | Llama3 | None = None


@dataclass(frozen=True)
class Turn:
    """The angles of some positions, ready to turn queries and keys that stand there."""

    cos_B1TD: Float[Tensor, "b 1 t d"]
    sin_B1TD: Float[Tensor, "b 1 t d"]

    def __call__(self, x_BHTD: Float[Tensor, "b h t d"]) -> Float[Tensor, "b h t d"]:
        """Turn coordinate i together with coordinate i + half."""
        turned = self.cos_B1TD.shape[-1]
        if turned < x_BHTD.shape[-1]:
            rest = x_BHTD[..., turned:]
            return torch.cat([self(x_BHTD[..., :turned]), rest], dim=-1)
        low, high = x_BHTD.chunk(2, dim=-1)
        return x_BHTD * self.cos_B1TD + torch.cat([-high, low], dim=-1) * self.sin_B1TD


def speeds(spec: Rotary, width: int) -> Float[Tensor, " half"]:
    """How far each pair of coordinates turns a position, in radians."""
    turned = int(width * spec.share)
    if turned < 2 or turned % 2:
        raise ConfigError(
            f"Rotary positions turn pairs, and {spec.share:g} of a head {width} wide are {turned} "
            "numbers: give a head width and a share that make an even number of 2 or more."
        )
    steps = torch.arange(0, turned, 2, dtype=torch.float32) / turned
    plain = 1.0 / spec.base**steps
    scaling = spec.scaling
    if scaling is None:
        return plain
    if isinstance(scaling, Linear):
        return plain / scaling.factor
    turns = scaling.trained_length * plain / (2 * math.pi)
    ramp = ((turns - scaling.low) / (scaling.high - scaling.low)).clamp(0, 1)
    return (1 - ramp) * plain / scaling.factor + ramp * plain


def turn_at(
    positions: Int[Tensor, "*b t"], speeds: Float[Tensor, " half"], dtype: torch.dtype
) -> Turn:
    """The turn of queries or keys at these positions; angles in float32 whatever `dtype` is."""
    angles = positions[..., None].float() * speeds
    both = torch.cat([angles, angles], dim=-1)
    both_B1TD = both[:, None] if positions.dim() == 2 else both[None, None]
    return Turn(both_B1TD.cos().to(dtype), both_B1TD.sin().to(dtype))
