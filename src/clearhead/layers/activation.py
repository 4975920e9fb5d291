"""The bends between two linear layers, by name."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import gelu, relu, silu

Activation = Literal["relu", "gelu", "gelu_tanh", "silu", "tanh"]


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU by the tanh formula that GPT-2 and T5 were trained with."""
    return gelu(x, approximate="tanh")


BENDS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "tanh": torch.tanh,
}
