"""What goes out: scores of words, of masked words, of labels; one vector for the whole."""

import math

import pytest
import tiny
import torch

from clearhead.layers import (
    LabelOutput,
    Labels,
    LogitOutput,
    Logits,
    Masked,
    MaskedOutput,
    Norm,
    Pooled,
    PooledOutput,
)

HIDDEN = tiny.numbers(0, 2, 5, 6)
STARTS = torch.tensor([0, 3])
WORDS_VM = tiny.numbers(1, 9, 6)


def made(module: torch.nn.Module) -> torch.nn.Module:
    module.double().eval()
    tiny.redraw(module, seed=0)
    return module


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.25])
@torch.no_grad()
def test_scores_of_words_are_products_with_their_weights(tied, bias, scale):
    module = made(LogitOutput(Logits(vocabulary=9, tied=tied, bias=bias, scale=scale), 6))
    weight = WORDS_VM if tied else module.weight
    more = module.bias if bias else 0.0
    tiny.close(module(HIDDEN, WORDS_VM), scale * torch.matmul(HIDDEN, weight.T) + more)
    assert len(list(module.parameters())) == (not tied) + bias


@torch.no_grad()
def test_masked_words_are_scored_through_one_more_layer():
    spec = Masked(vocabulary=9, width=6, activation="tanh", norm=Norm(epsilon=0.1))
    module = made(MaskedOutput(spec, 6))
    through = module.norm(torch.tanh(HIDDEN @ module.through.weight.T + module.through.bias))
    tiny.close(module(HIDDEN, WORDS_VM), through @ WORDS_VM.T + module.bias)


@pytest.mark.parametrize("through", ["tanh", None])
@pytest.mark.parametrize("starts", [STARTS, None])
@torch.no_grad()
def test_labels_are_scored_from_the_first_token_behind_the_padding(through, starts):
    module = made(LabelOutput(Labels(count=3, through=through), 6))
    first = HIDDEN[[0, 1], [0, 3]] if starts is not None else HIDDEN[:, 0]
    bent = torch.tanh(module.through(first)) if through else first
    tiny.close(module(HIDDEN, starts), bent @ module.scores.weight.T + module.scores.bias)


@torch.no_grad()
def test_labels_of_each_token_are_scored_from_each():
    module = made(LabelOutput(Labels(count=3, each=True), 6))
    tiny.close(module(HIDDEN, STARTS), HIDDEN @ module.scores.weight.T + module.scores.bias)


@torch.no_grad()
def test_the_whole_is_its_first_token_through_a_layer():
    module = made(PooledOutput(Pooled(activation="gelu"), 6))
    x = module.through(HIDDEN[[0, 1], [0, 3]])
    tiny.close(module(HIDDEN, STARTS), x * 0.5 * (1 + torch.erf(x / math.sqrt(2))))


def test_labels_are_dropped_in_training_only():
    module, hidden = LabelOutput(Labels(count=400, dropout=0.5), 6), torch.ones(1, 1, 6)
    torch.manual_seed(0)
    assert not torch.equal(module.train()(hidden), module(hidden))
    assert torch.equal(module.eval()(hidden), module(hidden))
