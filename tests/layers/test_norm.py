"""Norms, against their formulas in plain loops."""

import math

import pytest
import tiny
import torch

from clearhead.layers import Norm, build_norm


def in_a_loop(x: list[float], norm: torch.nn.Module, spec: Norm) -> list[float]:
    mean = sum(x) / len(x) if spec.form == "layer" else 0.0
    size = math.sqrt(sum((each - mean) ** 2 for each in x) / len(x) + spec.epsilon)
    shift = norm.bias.tolist() if spec.form == "layer" else [0.0] * len(x)
    return [
        (each - mean) / size * weight + more
        for each, weight, more in zip(x, norm.weight.tolist(), shift, strict=True)
    ]


@pytest.mark.parametrize("epsilon", [1e-5, 0.3])
@pytest.mark.parametrize("form", ["layer", "rms"])
def test_a_norm_is_its_formula(form, epsilon):
    spec = Norm(form=form, epsilon=epsilon)
    norm, x = build_norm(spec, 7).double(), tiny.numbers(0, 2, 3, 7)
    tiny.redraw(norm, seed=1)
    rows = [in_a_loop(row, norm, spec) for row in x.flatten(0, 1).tolist()]
    wanted = torch.tensor(rows, dtype=torch.float64)
    tiny.close(norm(x).flatten(0, 1), wanted)


@pytest.mark.parametrize("form", ["layer", "rms"])
def test_a_fresh_norm_changes_no_direction(form):
    x = torch.tensor([[1.0, -1.0, 1.0, -1.0]])
    torch.testing.assert_close(build_norm(Norm(form=form), 4)(5 * x), x, atol=1e-5, rtol=0)
