"""Heads of models of transformers switched off: against copies that leave them out by weight."""

import threading
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from projections import Columns, means_of_columns, put, without_columns
from published import BERT, GPT2, LLAMA, SEQ2SEQ, T5, Published
from seen_families import VIT, WHISPER, inputs_of

from clearhead import ablate, watch
from clearhead.attention.announce import WATCHERS
from clearhead.attention.intervene import CHANGERS
from clearhead.foundation.errors import CannotError, ConfigError
from clearhead.lens.watching.huggingface import WATCHED


@dataclass(frozen=True)
class Case:
    """A family; of each side of it the projection behind its heads, and how wide a head is."""

    published: Published
    paths: dict[str, str]
    width: dict[str, int]

    def columns(self, head: tuple[str, int]) -> Columns:
        """What one head owns."""
        side, layer, kind = head[0].split(".")
        width = self.width[side]
        path = self.paths[f"{side}.{kind}"].format(layer)
        return Columns(path, head[1] * width, (head[1] + 1) * width)


def case(published: Published, width: int | dict[str, int], **paths: str) -> Case:
    dotted = {place.replace("_", "."): path for place, path in paths.items()}
    sides = dict.fromkeys(("encoder", "decoder"), width) if isinstance(width, int) else width
    return Case(published, dotted, sides)


BART_PATHS = {
    "encoder_self": "model.encoder.layers.{}.self_attn.out_proj",
    "decoder_self": "model.decoder.layers.{}.self_attn.out_proj",
    "decoder_cross": "model.decoder.layers.{}.encoder_attn.out_proj",
}
CASES = [
    case(
        Published("BertModel", "BertConfig", BERT),
        4,
        encoder_self="encoder.layer.{}.attention.output.dense",
    ),
    case(
        Published("GPT2LMHeadModel", "GPT2Config", GPT2),
        4,
        decoder_self="transformer.h.{}.attn.c_proj",
    ),
    case(
        Published("LlamaForCausalLM", "LlamaConfig", LLAMA),
        4,
        decoder_self="model.layers.{}.self_attn.o_proj",
    ),
    case(
        Published("T5ForConditionalGeneration", "T5Config", T5),
        6,
        encoder_self="encoder.block.{}.layer.0.SelfAttention.o",
        decoder_self="decoder.block.{}.layer.0.SelfAttention.o",
        decoder_cross="decoder.block.{}.layer.1.EncDecAttention.o",
    ),
    case(
        Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ),
        {"encoder": 4, "decoder": 8},
        **BART_PATHS,
    ),
    case(
        Published("WhisperForConditionalGeneration", "WhisperConfig", WHISPER),
        {"encoder": 4, "decoder": 8},
        **BART_PATHS,
    ),
    case(
        Published("ViTModel", "ViTConfig", VIT),
        4,
        encoder_self="layers.{}.attention.o_proj",
    ),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda each: str(each.published))
each_implementation = pytest.mark.parametrize("implementation", ["sdpa", "eager"])


def heads_of(case: Case, layer: int = 1) -> list[tuple[str, int]]:
    """The last head of every kind of attention in this layer, and the first of the first kind."""
    kinds = [place.split(".") for place in case.paths]
    last = {"encoder": 3, "decoder": 16 // case.width["decoder"] - 1}
    last = {side: min(number, 3) for side, number in last.items()}
    heads = [(f"{side}.{layer}.{kind}", last[side]) for side, kind in kinds]
    return [(heads[0][0], 0), *heads]


def drawn(case: Case, implementation: str) -> Any:
    model = case.published.draw()
    model.set_attn_implementation(implementation)
    return model


def left(case: Case) -> dict[str, torch.Tensor]:
    """What to read, padded on the left."""
    return inputs_of(case.published, "left")


def said(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    with torch.no_grad():
        found = model(**inputs)
    return found.logits if "logits" in found else found.last_hidden_state


def close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    """To rounding: sums of some hundred products of size 1, each rounded by 6e-8."""
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=2e-5)


@each_case
@each_implementation
@pytest.mark.parametrize("scale", [0.0, 0.3])
def test_a_scaled_head_is_as_if_the_projection_scaled_it(case, implementation, scale):
    model, inputs, heads = (
        drawn(case, implementation),
        left(case),
        heads_of(case),
    )
    before = said(model, inputs)
    with ablate(model, heads, scale=scale):
        found = said(model, inputs)
    close(found, said(without_columns(model, [case.columns(h) for h in heads], scale), inputs))
    assert (found - before).abs().max() > 1e-3
    assert torch.equal(said(model, inputs), before)


def real_places(case: Case, inputs: dict[str, torch.Tensor], columns: list[Columns]) -> dict:
    """By projection and length, the tokens that are no padding."""
    mask = inputs.get("attention_mask")
    found = {}
    for column in columns:
        for length in range(1, 12):
            reads = mask is not None and mask.shape[1] == length and "decoder." not in column.path
            found[column.path, length] = [
                (row, token)
                for row in range(2)
                for token in range(length)
                if not reads or mask[row, token]
            ]
    return found


@each_case
@each_implementation
@pytest.mark.parametrize("padding", ["left", "right"])
def test_the_mean_is_over_the_tokens_of_the_call_that_are_no_padding(case, implementation, padding):
    model, inputs = drawn(case, implementation), inputs_of(case.published, padding)
    for head in heads_of(case):
        columns = [case.columns(head)]
        real = real_places(case, inputs, columns)
        means = means_of_columns(model, columns, lambda model: said(model, inputs), real)
        with put(model, means):
            wanted = said(model, inputs)
        with ablate(model, [head], by="mean"):
            close(said(model, inputs), wanted)


@each_implementation
def test_generating_leaves_the_heads_out_at_every_step(implementation):
    case = CASES[2]
    model, inputs, heads = (
        drawn(case, implementation),
        left(case),
        heads_of(case),
    )
    other = without_columns(model, [case.columns(head) for head in heads])
    settings = {"max_new_tokens": 6, "do_sample": False, "output_logits": True}
    settings |= {"return_dict_in_generate": True}
    wanted = other.generate(**inputs, **settings)
    with ablate(model, heads):
        found = model.generate(**inputs, **settings)
    assert torch.equal(found.sequences, wanted.sequences)
    close(torch.stack(found.logits), torch.stack(wanted.logits))


@each_implementation
@pytest.mark.parametrize("watched_first", [True, False])
def test_what_is_watched_is_what_attention_made_before_heads_were_replaced(
    implementation, watched_first
):
    case = CASES[3]
    model, inputs, heads = (
        drawn(case, implementation),
        left(case),
        heads_of(case, layer=0),
    )
    other = without_columns(model, [case.columns(head) for head in heads])
    with watch(other) as wanted:
        said(other, inputs)
    if watched_first:
        with watch(model) as seen, ablate(model, heads):
            said(model, inputs)
    else:
        with ablate(model, heads), watch(model) as seen:
            said(model, inputs)
    assert list(seen.sites) == list(wanted.sites)
    for site in wanted.sites:
        close(seen[site].weights().values, wanted[site].weights().values)


def test_ablations_add_up_and_end_one_by_one():
    case = CASES[1]
    model, inputs = drawn(case, "sdpa"), left(case)
    outer, inner = ("decoder.0.self", 1), ("decoder.1.self", 2)
    with ablate(model, [outer]):
        alone = said(model, inputs)
        with ablate(model, [inner]):
            both = said(model, inputs)
        assert torch.equal(said(model, inputs), alone)
    columns = [case.columns(head) for head in (outer, inner)]
    close(both, said(without_columns(model, columns), inputs))


def test_an_error_leaves_the_model_as_it_was():
    case = CASES[1]
    model, inputs = drawn(case, "sdpa"), left(case)
    before = said(model, inputs)
    with pytest.raises(RuntimeError, match="on purpose"), ablate(model, heads_of(case)):
        raise RuntimeError("on purpose")
    assert not CHANGERS
    assert not WATCHERS
    assert not WATCHED.get()
    assert torch.equal(said(model, inputs), before)


def test_another_thread_runs_with_all_heads_on():
    case = CASES[2]
    model, inputs, found = drawn(case, "sdpa"), left(case), []
    before = said(model, inputs)
    with ablate(model, heads_of(case)):
        other = threading.Thread(target=lambda: found.append(said(model, inputs)))
        other.start()
        other.join()
        said(model, inputs)
    assert torch.equal(found[0], before)


def test_heads_are_query_heads_and_those_that_are_not_there_are_refused():
    case = CASES[2]
    model, inputs = drawn(case, "sdpa"), left(case)
    with (
        pytest.raises(CannotError, match=r"has heads 0 to 3 and heads \[4\] were asked for"),
        ablate(model, [("decoder.0.self", 4)]),
    ):
        said(model, inputs)
    with (
        pytest.raises(ConfigError, match=r"no attention 'decoder.2.self'.* There are: decoder.0"),
        ablate(model, [("decoder.2.self", 0)]),
    ):
        raise AssertionError


def test_an_encoder_that_did_not_run_is_an_error():
    case = CASES[4]
    model, inputs = drawn(case, "sdpa"), left(case)
    memory = model.get_encoder()(inputs.pop("input_ids"))
    with (
        pytest.raises(CannotError, match=r"encoder.1.self did not run while its heads were"),
        ablate(model, [("encoder.1.self", 0)]),
    ):
        said(model, inputs | {"encoder_outputs": memory})
