"""Weights are put into a network only where both belong together."""

import pytest
import torch
from tiny import DECODERS, ENCODERS, TRANSLATORS

from clearhead.checkpoints.parts import filled
from clearhead.foundation.errors import FileError
from clearhead.models import build

EVERY = {**ENCODERS, **DECODERS, **TRANSLATORS}


@pytest.mark.parametrize("name", EVERY)
def test_a_network_has_the_weights_it_is_given(name):
    weights = build(EVERY[name]).state_dict()
    network = filled(EVERY[name], weights)
    assert not network.training
    for key, weight in network.state_dict().items():
        assert torch.equal(weight, weights[key]), key
    assert all(weight.requires_grad for weight in network.parameters())
    assert not any(weight.is_meta for weight in (*network.parameters(), *network.buffers()))


@pytest.mark.parametrize("name", TRANSLATORS)
def test_tables_that_are_shared_stay_shared(name):
    first = build(TRANSLATORS[name])
    network = filled(TRANSLATORS[name], first.state_dict())
    count = len(list(first.parameters()))
    assert len(list(network.parameters())) == count


def test_a_missing_weight_is_named():
    weights = build(ENCODERS["encoder, rotary, pooled"]).state_dict()
    del weights["stack.blocks.1.attention.output.bias"]
    with pytest.raises(FileError, match=r"have no stack.blocks.1.attention.output.bias, which the"):
        filled(ENCODERS["encoder, rotary, pooled"], weights)


def test_a_weight_too_many_is_named():
    weights = build(ENCODERS["encoder, rotary, pooled"]).state_dict() | {"extra": torch.ones(1)}
    with pytest.raises(FileError, match=r"weights hold extra, for which the config has no place"):
        filled(ENCODERS["encoder, rotary, pooled"], weights)


def test_a_weight_of_another_size_is_named_with_both_sizes():
    weights = build(ENCODERS["encoder, rotary, pooled"]).state_dict()
    weights["output.through.bias"] = torch.zeros(3)
    with pytest.raises(
        FileError, match=r"output.through.bias is \(3,\) and the config asks for \("
    ):
        filled(ENCODERS["encoder, rotary, pooled"], weights)


def test_opening_a_model_draws_no_weights_that_are_thrown_away(monkeypatch):
    """Drawing them without memory would load torch's compiler: seconds."""
    spec = ENCODERS["encoder, learned, types, masked"]
    weights = build(spec).state_dict()

    def fail(*_, **__):
        raise AssertionError

    for draw in ("normal_", "uniform_"):
        monkeypatch.setattr(torch.Tensor, draw, fail)
    filled(spec, weights)
