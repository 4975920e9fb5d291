"""The feed-forward half of a block: every position by itself, wide in the middle.

plain   output(bend(inputs(x)))                ReLU, GELU
gated   output(bend(gate(x)) * inputs(x))      SwiGLU, GeGLU (Shazeer 2020)

Dropout stands before `output`.
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from ..foundation.errors import refuse_unknown
from .activation import BENDS, Activation


@dataclass(frozen=True, kw_only=True)
class FeedForward:
    """A feed-forward part `width` wide in the middle."""

    width: int
    activation: Activation = "relu"
    gated: bool = False
    bias: bool = True

    def __post_init__(self) -> None:
        refuse_unknown("activation", self.activation, *BENDS)


class Plain(nn.Module):
    """Widen, bend, narrow."""

    def __init__(self, spec: FeedForward, width: int, dropout: float) -> None:
        super().__init__()
        self.bend = BENDS[spec.activation]
        self.inputs = nn.Linear(width, spec.width, bias=spec.bias)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(spec.width, width, bias=spec.bias)

    def forward(self, x_BTM: Float[Tensor, "*b m"]) -> Float[Tensor, "*b m"]:
        output_BTM: Tensor = self.output(self.dropout(self.bend(self.inputs(x_BTM))))
        return output_BTM


class Gated(nn.Module):
    """Two widenings at once (one matrix, gate first), one bent and multiplied with the other."""

    def __init__(self, spec: FeedForward, width: int, dropout: float) -> None:
        super().__init__()
        self.bend = BENDS[spec.activation]
        self.inputs = nn.Linear(width, 2 * spec.width, bias=spec.bias)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(spec.width, width, bias=spec.bias)

    def forward(self, x_BTM: Float[Tensor, "*b m"]) -> Float[Tensor, "*b m"]:
        gate_BTF, inputs_BTF = self.inputs(x_BTM).chunk(2, dim=-1)
        output_BTM: Tensor = self.output(self.dropout(self.bend(gate_BTF) * inputs_BTF))
        return output_BTM


def build_feed_forward(spec: FeedForward, width: int, *, dropout: float = 0.0) -> nn.Module:
    """The feed-forward part as a module, `width` wide outside."""
    return (Gated if spec.gated else Plain)(spec, width, dropout)
