"""ALiBi: the further away, the lower the score, each head at its own rate (Press et al. 2022)."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Alibi:
    """Scores fall with distance. Nothing to learn."""

    kind: Literal["alibi"] = "alibi"


def slopes(heads: int) -> Float[Tensor, " h"]:
    """One slope a head: 2^(-8/n), its square, … for n a power of two, else filled from 2n."""
    power = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-4 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return torch.tensor((first + between)[:heads])
