"""The feed-forward half, against its formula."""

import math
from collections.abc import Callable

import pytest
import tiny
import torch
from torch import nn

from clearhead.layers import FeedForward, build_feed_forward


def gelu(x: float) -> float:
    """x times the share of a normal distribution below x."""
    return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))


def gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: float) -> float:
    return x / (1 + math.exp(-x))


BENDS: dict[str, Callable[[float], float]] = {
    "relu": lambda x: max(x, 0.0),
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
    "tanh": math.tanh,
}


def by_hand(x: torch.Tensor, linear: nn.Linear) -> list[float]:
    biases = [0.0] * len(linear.weight) if linear.bias is None else linear.bias.tolist()
    return [
        sum(w * n for w, n in zip(row, x.tolist(), strict=True)) + bias
        for row, bias in zip(linear.weight.tolist(), biases, strict=True)
    ]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("activation", BENDS)
def test_a_feed_forward_part_is_its_formula(activation, gated, bias):
    spec, bend = (
        FeedForward(width=5, activation=activation, gated=gated, bias=bias),
        BENDS[activation],
    )
    module, x = build_feed_forward(spec, 4).double(), tiny.numbers(0, 4)
    tiny.redraw(module, seed=1)
    middle = by_hand(x, module.inputs)
    gate, inputs = (middle[:5], middle[5:]) if gated else (middle, [1.0] * 5)
    bent = [bend(g) * n for g, n in zip(gate, inputs, strict=True)]
    wanted = by_hand(torch.tensor(bent, dtype=torch.float64), module.output)
    with torch.no_grad():
        tiny.close(module(x), torch.tensor(wanted, dtype=torch.float64))


@pytest.mark.parametrize("gated", [True, False])
def test_the_middle_is_dropped_in_training_only(gated):
    module = build_feed_forward(FeedForward(width=400, gated=gated), 4, dropout=0.5)
    seen = []
    module.output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    x = torch.ones(1, 4)
    torch.manual_seed(0)
    module.train()(x)
    module.eval()(x)
    kept = seen[0] != 0
    assert 0.3 < kept.sum() / (seen[1] != 0).sum() < 0.7
    torch.testing.assert_close(seen[0][kept], 2 * seen[1][kept])
