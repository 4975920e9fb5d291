"""Models of transformers, watched: nothing changes, and every weight is what eager attention has.

The judge is their own eager attention with `output_attentions=True`, on the same weights.
"""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from published import BERT, DISTILBERT, GPT2, LLAMA, SEQ2SEQ, SIZES, T5, Published
from seen_families import GEMMA, MOE, OPT, VIT, WHISPER, inputs_of

from clearhead import watch
from clearhead.attention import reference

BOTH = ("sdpa", "eager")


@dataclass(frozen=True)
class Case:
    """A family, the implementations it has, and how many kinds of attention."""

    published: Published
    implementations: tuple[str, ...] = BOTH


def case(model: str, config: str, settings: dict[str, Any], *kinds: str) -> Case:
    return Case(Published(model, config, settings), kinds or BOTH)


CASES = [
    case("BertModel", "BertConfig", BERT),
    case("GPT2LMHeadModel", "GPT2Config", GPT2),
    case("LlamaForCausalLM", "LlamaConfig", LLAMA),
    case("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 3}),
    case("Qwen3ForCausalLM", "Qwen3Config", LLAMA | {"head_dim": 8}),
    case("MarianMTModel", "MarianConfig", SEQ2SEQ),
    case("BartForConditionalGeneration", "BartConfig", SEQ2SEQ),
    case("T5ForConditionalGeneration", "T5Config", T5 | {"decoder_start_token_id": 0}),
    case("ViTModel", "ViTConfig", VIT),
    case("WhisperForConditionalGeneration", "WhisperConfig", WHISPER),
    case("OPTForCausalLM", "OPTConfig", OPT),
    case("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES),
    case("ElectraModel", "ElectraConfig", BERT | {"embedding_size": 8}),
    case("DistilBertModel", "DistilBertConfig", DISTILBERT),
    case("Gemma2ForCausalLM", "Gemma2Config", GEMMA, "eager"),
    case("GptOssForCausalLM", "GptOssConfig", MOE, "eager"),
]
BY_IMPLEMENTATION = [
    pytest.param(each.published, name, id=f"{each.published} {name}")
    for each in CASES
    for name in each.implementations
]


def eager_weights(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """By site, what their eager attention says its weights were."""
    theirs = copy.deepcopy(model)
    theirs.set_attn_implementation("eager")
    with torch.no_grad():
        told = theirs(**inputs, output_attentions=True)
    sides = {
        "encoder.{}.self": getattr(told, "encoder_attentions", None),
        "decoder.{}.self": getattr(told, "decoder_attentions", None),
        "decoder.{}.cross": getattr(told, "cross_attentions", None),
    }
    only = getattr(told, "attentions", None)
    if only is not None:
        side = "decoder" if type(model).__name__.endswith(("LM", "LMHeadModel")) else "encoder"
        sides = {f"{side}.{{}}.self": only}
    return {
        site.format(layer): weights
        for site, layers in sides.items()
        for layer, weights in enumerate(layers or ())
    }


def real_rows(inputs: dict[str, torch.Tensor], site: str, rows: int) -> torch.Tensor:
    """Which queries are no padding: only their weights mean anything."""
    mask = inputs.get("attention_mask")
    if mask is None or mask.shape[1] != rows or not site.endswith("self"):
        return torch.ones(2, rows, dtype=torch.bool)
    return mask.bool()


@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize(("published", "implementation"), BY_IMPLEMENTATION)
def test_outputs_stay_and_weights_are_theirs(published, implementation, padding):
    model, inputs = published.draw(), inputs_of(published, padding)
    model.set_attn_implementation(implementation)
    with torch.no_grad():
        before = model(**inputs)
        with watch(model) as seen:
            during = model(**inputs)
        after = model(**inputs)
    for name, tensor in before.items():
        if isinstance(tensor, torch.Tensor):
            assert torch.equal(tensor, during[name]), name
            assert torch.equal(tensor, after[name]), name
    wanted = eager_weights(model, inputs)
    assert set(seen.sites) == set(wanted)
    for site, weights in wanted.items():
        found = seen[site].weights().values
        assert found.shape == weights.shape
        assert seen.sites[site].heads == weights.shape[1]
        real = real_rows(inputs, site, weights.shape[2])[:, None, :, None]
        assert not found.isnan().any()
        assert ((found - weights) * real).abs().max() < 2e-6, site
        received = (weights * real).sum(2)
        assert (seen[site].received().values - received).abs().max() < 2e-5, site
        left_out = [tuple(place) for place in (~real[:, 0, :, 0]).nonzero().tolist()]
        if site.endswith("self"):
            assert list(seen[site].received().left_out) == left_out


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("model", ["LlamaForCausalLM", "BertModel", "T5ForConditionalGeneration"])
def test_half_precision_stays_as_it_is_and_rows_add_up(model, precision):
    """Its weights are those of its own 16-bit queries and keys, worked out in float64."""
    (published,) = (each.published for each in CASES if each.published.model == model)
    network, inputs = published.draw().to(precision), inputs_of(published, "right")
    with torch.no_grad():
        before = network(**inputs)[0]
        with watch(network) as seen:
            during = network(**inputs)[0]
    assert torch.equal(before, during)
    for site in seen.sites:
        source, look = seen.source(site), seen[site]
        wanted = reference.attend(source.request).weights_BHTS
        found, real = look.weights().values, torch.ones(2, source.sizes[2], dtype=torch.bool)
        for example, query in look.entropy().left_out:
            real[example, query] = False
        assert found.dtype == torch.float32
        assert ((found - wanted) * real[:, None, :, None]).abs().max() < 1e-5, site
        assert ((look.mass().values - 1) * real[:, None]).abs().max() < 1e-3, site


WRITES = ("ForCausalLM", "LMHeadModel", "ConditionalGeneration", "MTModel")
STARTS = {"decoder_start_token_id": 0, "num_decoder_layers": 2, "forced_eos_token_id": None}


def writer(each: Case) -> Published:
    """The same family with what `generate` needs to know."""
    published = each.published
    if published.config in ("T5Config", "MarianConfig", "BartConfig"):
        return Published(published.model, published.config, published.settings | STARTS)
    return published


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    "each",
    [each for each in CASES if each.published.model.endswith(WRITES)],
    ids=lambda each: str(each.published),
)
def test_a_generation_is_one_picture(each, beams):
    """Of what was returned: as if the finished text had gone through the model once."""
    published = writer(each)
    model, inputs = published.draw(), inputs_of(published, "left")
    model.set_attn_implementation(each.implementations[0])
    inputs.pop("decoder_input_ids", None)
    settings = {"max_new_tokens": 6, "num_beams": beams, "do_sample": False}
    before = model.generate(**inputs, **settings)
    with watch(model) as seen:
        found = model.generate(**inputs, **settings)
    assert torch.equal(before, found)
    wanted = eager_weights(model, finished(model, inputs, found))
    assert set(wanted) == set(seen.sites)
    for site, weights in wanted.items():
        look = seen[site]
        assert look.shape == weights.shape, site
        real = torch.ones(2, weights.shape[2], dtype=torch.bool)
        for example, query in look.received().left_out:
            real[example, query] = False
        assert real.any(1).all()
        off = (look.weights().values - weights) * real[:, None, :, None]
        assert off.abs().max() < 5e-6, site


def finished(model: Any, inputs: dict[str, torch.Tensor], found: torch.Tensor) -> dict[str, Any]:
    """Everything that was read and written, but for the last token, as one call."""
    if model.config.is_encoder_decoder:
        if "input_features" in inputs:  # what whisper returns leaves out how it was started
            found = torch.cat([torch.full_like(found[:, :1], 2), found], 1)
        return inputs | {"decoder_input_ids": found[:, :-1]}
    more = torch.ones(2, found.shape[1] - 1 - inputs["input_ids"].shape[1], dtype=torch.long)
    mask = torch.cat([inputs["attention_mask"], more], 1)
    again = {"input_ids": found[:, :-1], "attention_mask": mask}
    if "position_ids" in inspect.signature(model.forward).parameters:
        again["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)
    return again
