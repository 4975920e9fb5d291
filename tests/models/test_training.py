"""Training: dropout only then, a gradient for every parameter, and something that is learned."""

from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
import tiny
import torch
from doors import unchecked
from torch import Tensor
from torch.nn.functional import cross_entropy

from clearhead.attention import Heads
from clearhead.attention.positions import Rotary
from clearhead.inference.greedy import greedy
from clearhead.inference.session import Session
from clearhead.layers import FeedForward, Layer, Logits, Norm, Words
from clearhead.models import Decoder, Network, Stack, build
from clearhead.models.paper import transformer

START, LENGTH, VOCABULARY = 1, 6, 12


def with_dropout(spec: Any, share: float) -> Any:
    """The same architecture with every dropout in it set."""
    changes = {
        field.name: share if field.name.endswith("dropout") else with_dropout(value, share)
        for field in fields(spec)
        if is_dataclass(value := getattr(spec, field.name)) or field.name.endswith("dropout")
    }
    return replace(spec, **changes)


def inputs(name: str) -> tuple[Tensor, ...]:
    if name == "pictures":
        return (tiny.numbers(1, 2, 2, 8, 8),)
    if name.startswith("sound"):
        texts = (tiny.ids(2, 2, 5),) if name == "sound to text" else ()
        return (tiny.numbers(1, 2, 5, 13), *texts)
    return (tiny.ids(1, 2, 7), tiny.ids(2, 2, 5))[: 1 + (name in tiny.TRANSLATORS)]


def said(network: Network, *given: Tensor) -> list[Tensor]:
    found = network(*given)
    possible = (found.hidden_BTM, found.logits_BTV, found.labels_BC, found.pooled_BM)
    return [each for each in possible if each is not None]


@pytest.mark.parametrize("name", tiny.ALL)
def test_dropout_is_for_training_only(name):
    dropping = tiny.made(with_dropout(tiny.ALL[name], 0.4))
    plain = tiny.made(tiny.ALL[name])
    for found, wanted in zip(
        said(dropping, *inputs(name)), said(plain, *inputs(name)), strict=True
    ):
        assert torch.equal(found, wanted)
    torch.manual_seed(0)
    once, again = (said(dropping.train(), *inputs(name))[0] for _ in range(2))
    assert not torch.equal(once, again)


@pytest.mark.parametrize("name", tiny.ALL)
def test_training_without_dropout_is_running(name):
    network = tiny.made(tiny.ALL[name])
    assert torch.equal(
        said(network.train(), *inputs(name))[0], said(network.eval(), *inputs(name))[0]
    )


@pytest.mark.parametrize("name", tiny.ALL)
def test_every_parameter_gets_a_gradient(name):
    network = tiny.made(with_dropout(tiny.ALL[name], 0.1)).train()
    torch.manual_seed(0)
    parts = said(network, *inputs(name))
    sum((part * tiny.numbers(3, *part.shape)).sum() for part in parts).backward()
    untouched = [
        key
        for key, parameter in network.named_parameters()
        if parameter.grad is None or not parameter.grad.any() or not parameter.grad.isfinite().all()
    ]
    assert not untouched


@pytest.mark.parametrize("name", tiny.TEXTS)
def test_a_model_that_ran_without_gradients_can_be_trained_later(name):
    network = tiny.made(tiny.TEXTS[name])
    with torch.inference_mode():
        network(*inputs(name))
    said(network, *inputs(name))[0].sum().backward()


def trained(network: Network, loss_of: Any, steps: int, rate: float) -> float:
    optimiser = torch.optim.Adam(network.parameters(), lr=rate)
    with unchecked():  # the same doors were tried above, and a run passes them ten thousand times
        for _ in range(steps):
            optimiser.zero_grad()
            loss = loss_of()
            loss.backward()
            optimiser.step()
    return loss.item()


def words(draw: torch.Generator, count: int) -> Tensor:
    return torch.randint(2, VOCABULARY, (count, LENGTH), generator=draw)


def test_a_small_translator_learns_to_turn_a_text_around():
    """The paper's own architecture, from fresh weights to the end of greedy search."""
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(0)
    network = build(transformer(VOCABULARY, width=32, heads=4, layers=1, dropout=0.0))
    start = torch.full((64, 1), START)

    def loss() -> Tensor:
        source = words(draw, 64)
        target = source.flip(1)
        said = network(source, torch.cat([start, target[:, :-1]], 1)).logits_BTV
        return cross_entropy(said.flatten(0, 1), target.flatten())

    assert trained(network, loss, steps=400, rate=5e-3) < 0.02
    network.eval()
    texts = words(draw, 10)
    answers = greedy(
        Session(network.decoder, network.encoder(texts).hidden_BTM),
        torch.full((10, 1), START),
        max_tokens=LENGTH,
        stops=(),
    )
    assert answers == texts.flip(1).tolist()


def test_a_small_decoder_learns_to_say_a_text_again():
    """Rotary positions, grouped heads, a gate, norms before: the other way to build a block."""
    torch.manual_seed(0)
    draw = torch.Generator().manual_seed(1)
    stack = Stack(
        width=32,
        layers=2,
        layer=Layer(
            heads=Heads(heads=4, key_value_heads=2, head_width=8, input_bias=False),
            feed_forward=FeedForward(width=64, activation="silu", gated=True, bias=False),
            norm=Norm(form="rms"),
            norm_place="before",
        ),
        positions=Rotary(),
        final_norm=True,
    )
    given = Words(vocabulary=VOCABULARY, width=32)
    network = build(Decoder(input=given, stack=stack, output=Logits(vocabulary=VOCABULARY)))
    start = torch.full((64, 1), START)

    def loss() -> Tensor:
        text = words(draw, 64)
        said = network(torch.cat([text, start, text[:, :-1]], 1)).logits_BTV[:, LENGTH:]
        return cross_entropy(said.flatten(0, 1), text.flatten())

    assert trained(network, loss, steps=300, rate=5e-3) < 0.02
    network.eval()
    texts = words(draw, 10)
    prompts = torch.cat([texts, torch.full((10, 1), START)], 1)
    answers = greedy(Session(network), prompts, max_tokens=LENGTH, stops=())
    assert answers == texts.tolist()
