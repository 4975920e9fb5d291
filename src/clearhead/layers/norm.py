"""Keeping the size of vectors in bounds: LayerNorm and RMSNorm."""

from dataclasses import dataclass
from typing import Literal

from torch import nn

from ..foundation.errors import refuse_unknown


@dataclass(frozen=True, kw_only=True)
class Norm:
    """`layer` subtracts the mean and divides by the deviation; `rms` only divides by the size."""

    form: Literal["layer", "rms"] = "layer"
    epsilon: float = 1e-5

    def __post_init__(self) -> None:
        refuse_unknown("norm", self.form, "layer", "rms")


def build_norm(spec: Norm, width: int) -> nn.Module:
    """The norm as a module over the last axis."""
    if spec.form == "rms":
        return nn.RMSNorm(width, eps=spec.epsilon)
    return nn.LayerNorm(width, eps=spec.epsilon)
