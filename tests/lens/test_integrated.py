"""Integrated gradients, against the same sum over points that go in as `inputs_embeds`."""

import logging

import numpy as np
import pytest
import tiny
import torch
from published import BERT, GPT2, LLAMA, SEQ2SEQ, T5, Published
from seen_families import VIT, WHISPER, inputs_of

from clearhead import watch
from clearhead.foundation.errors import CannotError, InputError
from clearhead.lens import integrated_gradients

STEPS = 24
STARTS = {"decoder_start_token_id": 0}
ONE = [
    Published("BertModel", "BertConfig", BERT),
    Published("GPT2LMHeadModel", "GPT2Config", GPT2),
]
TWO = [
    Published("MarianMTModel", "MarianConfig", SEQ2SEQ),
    Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ),
    Published("T5ForConditionalGeneration", "T5Config", T5 | STARTS),
]
SIDES = {"encoder": "input_ids", "decoder": "decoder_input_ids"}
EMBEDDED = {"input_ids": "inputs_embeds", "decoder_input_ids": "decoder_inputs_embeds"}


def number(found):
    scores = found.logits if hasattr(found, "logits") else found.last_hidden_state
    return scores[0, 4, 3] + 2 * scores[1, 3, 5]


def table(model, name):
    """What embeds the ids of this side, with whatever it scales them by."""
    if not model.config.is_encoder_decoder:
        return model.get_input_embeddings()
    side = model.get_encoder() if name == "input_ids" else model.get_decoder()
    return side.embed_tokens


def summed_up(model, inputs, names, baseline):
    """A Gauss-Legendre sum straight along the line."""
    ends, starts = {}, {}
    with torch.no_grad():
        for name in names:
            ends[name] = table(model, name)(inputs[name])
            nothing = torch.full_like(inputs[name], baseline or 0)
            empty = table(model, name)(nothing)
            starts[name] = torch.zeros_like(ends[name]) if baseline is None else empty
    sums = {name: torch.zeros_like(ends[name]) for name in names}
    others = {name: x for name, x in inputs.items() if name not in names}
    for node, weight in zip(*np.polynomial.legendre.leggauss(STEPS), strict=True):
        share = (node + 1) / 2
        points = {
            name: (starts[name] + share * (ends[name] - starts[name])).requires_grad_()
            for name in names
        }
        value = number(model(**others, **{EMBEDDED[name]: x for name, x in points.items()}))
        gradients = torch.autograd.grad(value, list(points.values()))
        for name, gradient in zip(names, gradients, strict=True):
            sums[name] += gradient * weight / 2
    return {name: (sums[name] * (ends[name] - starts[name])).sum(-1) for name in names}


@pytest.mark.parametrize("baseline", [None, 7])
@pytest.mark.parametrize("published", [*ONE, *TWO], ids=str)
def test_it_is_the_sum_over_points_on_the_way(published, baseline):
    model, inputs = published.draw().double(), inputs_of(published, "right")
    found = integrated_gradients(
        model, lambda: number(model(**inputs)), steps=STEPS, baseline=baseline
    )
    names = list(SIDES.values()) if published.reads_two else ["input_ids"]
    wanted = summed_up(model, inputs, names, baseline)
    assert found.to is None
    assert len(found.sides) == len(names)
    for side, numbers in found.sides.items():
        name = SIDES[side] if published.reads_two else "input_ids"
        assert (numbers - wanted[name]).abs().max() < 1e-10, side


@pytest.mark.parametrize("name", [*tiny.ENCODERS, *tiny.DECODERS, *tiny.TRANSLATORS])
def test_parts_add_up_to_the_change_of_the_number(name):
    architectures = tiny.ENCODERS | tiny.DECODERS | tiny.TRANSLATORS
    network = tiny.made(architectures[name])
    given = (tiny.ids(1, 2, 7),) + ((tiny.ids(2, 2, 5),) if name in tiny.TRANSLATORS else ())

    def last() -> torch.Tensor:
        return network(*given).hidden_BTM[:, -1, 0].sum()

    with torch.no_grad(), watch(network) as seen:
        wanted = float(last())
    found = seen.integrated_gradients(last, steps=200, baseline=3)
    empty = [torch.full_like(ids, 3) for ids in given]
    with torch.no_grad():
        change = wanted - float(network(*empty).hidden_BTM[:, -1, 0].sum())
    assert abs(found.value - wanted) < 1e-12
    total = sum(float(each.sum()) for each in found.sides.values())
    assert abs(total - change) < 0.02 * max(abs(change), 0.1)
    assert abs(found.gap - (change - total)) < 1e-12
    assert not any(part._forward_hooks for part in network.modules())


def test_pictures_have_a_number_for_every_patch():
    published = Published("ViTModel", "ViTConfig", VIT)
    model, inputs = published.draw().double(), inputs_of(published, "right")
    inputs = {name: x.double() for name, x in inputs.items()}
    target = lambda: model(**inputs).last_hidden_state[0, 0, 3]  # noqa: E731 - as a user writes it
    found = integrated_gradients(model, target, steps=300)
    assert found["encoder"].shape == (2, 5)
    assert found["encoder"][1].abs().sum() == 0
    with pytest.raises(CannotError, match=r"ViTEmbeddings embeds no ids"):
        integrated_gradients(model, target, baseline=3)


def test_a_way_too_steep_for_its_steps_is_said(caplog):
    model = Published("LlamaForCausalLM", "LlamaConfig", LLAMA | {"rms_norm_eps": 1e-6}).draw()
    ids = torch.arange(8)[None]
    with caplog.at_level(logging.WARNING, "clearhead"):
        found = integrated_gradients(model, lambda: model(ids).logits[0, -1, 3], steps=2)
    assert abs(found.gap) > 0.01
    assert "add up to" in caplog.text
    assert "baseline=" in caplog.text


def test_what_cannot_be_asked_is_refused():
    network, ids = tiny.made(tiny.DECODERS["decoder, rotary"]), tiny.ids(1, 2, 5)
    once = lambda: network(ids).logits_BTV[0, -1, 3]  # noqa: E731 - as a user writes it
    with pytest.raises(InputError, match=r"0 steps are no way to go"):
        integrated_gradients(network, once, steps=0)
    with pytest.raises(InputError, match=r"baseline is id 23 and there are 23: give one from 0"):
        integrated_gradients(network, once, baseline=23)
    with pytest.raises(CannotError, match=r"embedded 2 texts and this model reads 1"):
        integrated_gradients(network, lambda: once() + once())
    with pytest.raises(InputError, match=r"The target returned -?\d"):
        integrated_gradients(network, lambda: once().item())
    sound = Published("WhisperForConditionalGeneration", "WhisperConfig", WHISPER)
    model, inputs = sound.draw(), inputs_of(sound, "right")
    with pytest.raises(CannotError, match=r"WhisperEncoder hands on something other than one"):
        integrated_gradients(model, lambda: model(**inputs).logits[0, 1, 2])
