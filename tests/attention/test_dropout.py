"""Dropout sets a share of the weights to zero and makes up for it; most kernels have none."""

import math
from dataclasses import replace

import pytest
import torch
from attention_cases import DEVICES, make_request

from clearhead.attention import Causal, Request
from clearhead.attention.kernels import KERNELS

SHARE = 0.3
DRAWS = 400
DROP = ["explicit", "sdpa", "blocks"]


def dropped(device: str, *, share: float = SHARE) -> Request:
    """A request whose values are the keys' own axes, so that the values are the weights."""
    request = make_request("causal", device=device)
    v_BGSE = torch.eye(9, 16, device=device).expand(2, 4, 9, 16)
    return replace(request, v_BGSE=v_BGSE.contiguous(), mask=Causal(), dropout=share)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DROP)
def test_each_weight_is_dropped_or_made_up_for(name, device):
    request = dropped(device)
    torch.manual_seed(0)
    weights = KERNELS[name](replace(request, dropout=0.0)).values_BHTE[..., :9]
    seen = KERNELS[name](request).values_BHTE[..., :9]
    kept = seen != 0
    torch.testing.assert_close(seen[kept], (weights / (1 - SHARE))[kept])
    assert not torch.equal(seen, KERNELS[name](request).values_BHTE[..., :9])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", DROP)
def test_over_many_draws_nothing_is_lost(name, device):
    request = dropped(device)
    torch.manual_seed(0)
    exact = KERNELS[name](replace(request, dropout=0.0)).values_BHTE
    total, gone = torch.zeros_like(exact), 0
    for _ in range(DRAWS):
        seen = KERNELS[name](request).values_BHTE
        total += seen
        gone += ((seen == 0) & (exact != 0)).sum().item()
    # Each draw is w / (1 - p) with chance 1 - p, else 0: a deviation of w √(p / (1 - p)). Six of
    # them, over √draws, are passed by none of a thousand numbers.
    deviation = exact * math.sqrt(SHARE / (1 - SHARE) / DRAWS)
    assert ((total / DRAWS - exact).abs() <= 6 * deviation + 1e-6).all()
    drawn = DRAWS * (exact != 0).sum().item()
    assert abs(gone / drawn - SHARE) <= 6 * math.sqrt(SHARE * (1 - SHARE) / drawn)


@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(DROP)))
def test_the_others_refuse_it(name):
    request = make_request("packed documents", dtype="bfloat16")
    reason = KERNELS[name].refuses(replace(request, dropout=0.1))
    assert reason in ("it has no dropout", "it runs on CUDA only")


def test_weights_are_shown_as_they_were_before_dropout():
    request = replace(dropped("cpu"), wants_weights=True)
    undropped = KERNELS["explicit"](replace(request, dropout=0.0)).weights_BHTS
    weights = KERNELS["explicit"](request).weights_BHTS
    assert weights is not None
    assert undropped is not None
    assert torch.equal(weights, undropped)
