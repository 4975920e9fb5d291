"""What each layer would say: against a copy of the model that ends there, and the model itself."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import tiny
import torch
from doors import unchecked
from published import BERT, GPT2, LLAMA, SEQ2SEQ, SIZES, T5, Published
from seen_families import GEMMA, MOE, OPT, WHISPER, inputs_of
from torch import nn

from clearhead.attention.positions import Alibi
from clearhead.foundation.errors import CannotError, InputError
from clearhead.layers import Labels
from clearhead.lens import LogitLens, logit_lens

OURS = {
    name: spec
    for name, spec in (tiny.DECODERS | tiny.TRANSLATORS).items()
    if getattr(getattr(spec, "decoder", spec).output, "kind", "") == "logits"
}
PLACES = [4, 0, -2]


def given_to(network: nn.Module) -> tuple[torch.Tensor, ...]:
    ids = tiny.ids(1, 2, 7)
    return (ids, tiny.ids(2, 2, 5)) if hasattr(network, "encoder") else (ids,)


def ending_at(network: nn.Module, layer: int) -> nn.Module:
    """A copy without the layers after this one."""
    other = copy.deepcopy(network)
    stack = getattr(other, "decoder", other).stack
    stack.blocks = stack.blocks[: layer + 1]
    return other


def holds(found: LogitLens, layer: int, logits_BtV: torch.Tensor, off: float) -> None:
    """Whether this layer says what these logits say."""
    logs = logits_BtV.log_softmax(-1)
    best = logs.topk(found.tokens_LBtk.shape[-1])
    assert (found.logs_LBtk[layer] - best.values).abs().max() < off
    assert torch.equal(found.tokens_LBtk[layer], best.indices)
    for row, tokens in enumerate(found.token_Bt.tolist()):
        for place, token in enumerate(tokens):
            own = logs[row, place, token]
            assert abs(found.token_logs_LBt[layer, row, place] - own) < off
            rank = 1 + sum(other > own for other in logs[row, place].tolist())
            assert found.token_ranks_LBt[layer, row, place] == rank


@pytest.mark.parametrize("name", OURS)
def test_each_layer_says_what_a_model_that_ends_there_says(name):
    network = tiny.made(OURS[name])
    given = given_to(network)
    places = [4, 0, given[-1].shape[1] - 2]
    found = logit_lens(network, *given, positions=PLACES, top=4, token=3)
    assert found.positions == tuple(places)
    with torch.no_grad():
        for layer in range(found.tokens_LBtk.shape[0]):
            holds(found, layer, ending_at(network, layer)(*given).logits_BTV[:, places], 1e-11)
        assert found.tokens_LBtk.shape[0] == getattr(network, "decoder", network).spec.stack.layers
    assert torch.equal(found.token_Bt, torch.full((2, 3), 3))


@pytest.mark.parametrize("name", OURS)
def test_the_last_layer_says_what_the_model_says(name):
    network = tiny.made(OURS[name])
    given = given_to(network)
    with torch.no_grad():
        logits = network(*given).logits_BTV
    found = logit_lens(network, *given, positions=range(logits.shape[1]))
    assert torch.equal(found.token_Bt, logits.argmax(-1))
    assert bool((found.token_ranks_LBt[-1] == 1).all())
    holds(found, -1, logits, 1e-12)


def test_what_stands_between_the_last_block_and_the_scores_is_named():
    before = tiny.made(tiny.DECODERS["decoder, rotary"])
    after = tiny.made(tiny.DECODERS["decoder, learned"])
    assert logit_lens(before, tiny.ids(1, 1, 3)).through == ("stack.final_norm", "output")
    assert logit_lens(after, tiny.ids(1, 1, 3)).through == ("output",)  # its blocks end with norms


def test_only_the_last_position_is_read_when_none_is_named():
    network = tiny.made(tiny.DECODERS["decoder, rotary"])
    found = logit_lens(network, tiny.ids(1, 2, 7))
    assert found.positions == (6,)
    assert found.tokens_LBtk.shape == (2, 2, 1, 5)


def test_a_token_for_every_place_is_followed_there():
    network, ids = tiny.made(tiny.DECODERS["decoder, rotary"]), tiny.ids(1, 2, 7)
    tokens = torch.tensor([[1, 2], [3, 4]])
    found = logit_lens(network, ids, positions=[0, 5], token=tokens)
    for row, place in ((0, 0), (0, 1), (1, 0), (1, 1)):
        alone = logit_lens(network, ids, positions=[0, 5], token=int(tokens[row, place]))
        for name in ("token_logs_LBt", "token_ranks_LBt"):
            one, all_of_them = getattr(alone, name), getattr(found, name)
            assert torch.equal(one[:, row, place], all_of_them[:, row, place])
    by_place = logit_lens(network, ids, positions=[0, 5], token=torch.tensor([1, 4]))
    assert by_place.token_Bt.tolist() == [[1, 4], [1, 4]]


def hooks_of(model: nn.Module) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


@pytest.mark.parametrize("theirs", [False, True])
def test_the_model_is_left_as_it_was_also_after_an_error(theirs):
    network = tiny.made(tiny.DECODERS["decoder, rotary"])
    if theirs:
        network = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    hooks = hooks_of(network)
    logit_lens(network, tiny.ids(1, 2, 7))
    with pytest.raises(InputError):
        logit_lens(network, tiny.ids(1, 2, 7), positions=[7])
    assert hooks_of(network) == hooks


OPT_350M = OPT | {"do_layer_norm_before": False, "word_embed_proj_dim": 8}
GRANITE = LLAMA | {"logits_scaling": 3.0, "embedding_multiplier": 2.0, "residual_multiplier": 0.5}
COHERE = LLAMA | {"logit_scale": 0.3}
THEIRS = [
    (Published("GPT2LMHeadModel", "GPT2Config", GPT2), "transformer.h"),
    (Published("LlamaForCausalLM", "LlamaConfig", LLAMA), "model.layers"),
    (Published("MistralForCausalLM", "MistralConfig", LLAMA), "model.layers"),
    (Published("Qwen3ForCausalLM", "Qwen3Config", LLAMA | {"head_dim": 8}), "model.layers"),
    (Published("GPTNeoXForCausalLM", "GPTNeoXConfig", SIZES), "gpt_neox.layers"),
    (Published("OPTForCausalLM", "OPTConfig", OPT), "model.decoder.layers"),
    (Published("OPTForCausalLM", "OPTConfig", OPT_350M, "350m"), "model.decoder.layers"),
    (Published("Gemma2ForCausalLM", "Gemma2Config", GEMMA), "model.layers"),
    (Published("GptOssForCausalLM", "GptOssConfig", MOE), "model.layers"),
    (Published("GraniteForCausalLM", "GraniteConfig", GRANITE), "model.layers"),
    (Published("CohereForCausalLM", "CohereConfig", COHERE), "model.layers"),
    (Published("T5ForConditionalGeneration", "T5Config", T5), "decoder.block"),
    (Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ), "model.decoder.layers"),
    (Published("MarianMTModel", "MarianConfig", SEQ2SEQ), "model.decoder.layers"),
    (
        Published("WhisperForConditionalGeneration", "WhisperConfig", WHISPER),
        "model.decoder.layers",
    ),
]


def their_copy_ending_at(model: Any, path: str, layer: int) -> Any:
    """A copy whose list of layers stops after this one."""
    other = copy.deepcopy(model)
    holder, _, name = path.rpartition(".")
    part = other.get_submodule(holder)
    setattr(part, name, getattr(part, name)[: layer + 1])
    return other


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize(("published", "path"), THEIRS, ids=str)
def test_each_layer_of_theirs_says_what_a_copy_that_ends_there_says(published, path, padding):
    model, inputs = published.draw(), inputs_of(published, padding)
    with torch.no_grad():
        logits = model(**inputs).logits
    places = [4, 0, logits.shape[1] - 2]
    found = logit_lens(model, **inputs, positions=PLACES, top=3, token=7)
    layers = len(model.get_submodule(path))
    assert found.tokens_LBtk.shape == (layers, 2, 3, 3)
    holds(found, -1, logits[:, places], 1e-5)
    for layer in range(layers):
        with torch.no_grad():
            wanted = their_copy_ending_at(model, path, layer)(**inputs).logits
        holds(found, layer, wanted[:, places], 1e-5)


@pytest.mark.parametrize(
    ("published", "through"),
    [
        (THEIRS[0][0], ("transformer.ln_f", "lm_head")),
        (THEIRS[4][0], ("gpt_neox.final_layer_norm", "lm_head")),
        (THEIRS[6][0], ("model.decoder.project_out", "lm_head")),
        (THEIRS[11][0], ("decoder.final_layer_norm", "lm_head")),
        (THEIRS[12][0], ("lm_head",)),
    ],
    ids=str,
)
def test_their_way_to_the_scores_is_named(published, through):
    assert logit_lens(published.draw(), **inputs_of(published, "right")).through == through


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"positions": []}, "no position in an empty list: give numbers from 0 to 6, or from -1"),
        ({"positions": [0, 7]}, "There is no position 7"),
        ({"positions": [-8]}, "There is no position -8: .* to -7, counted from the end"),
        ({"top": 0}, "The top 0 of 23 tokens cannot be: ask for 1 to 23"),
        ({"top": 24}, "The top 24 of 23 tokens"),
        ({"token": 23}, "There is no token 23: give ids from 0 to 22"),
        ({"token": -1}, "There is no token -1"),
        ({"token": torch.tensor([1, 2, 3])}, r"Tokens of \[3\] .* do not stretch to \[2, 1\]"),
        ({"token": torch.tensor(1.5)}, r"\(torch.float32\) do not stretch"),
    ],
)
def test_questions_that_cannot_be(settings, message):
    network = tiny.made(tiny.DECODERS["decoder, rotary"])
    with pytest.raises(InputError, match=message):
        logit_lens(network, tiny.ids(1, 2, 7), **settings)


def refused(model: object, message: str, *inputs: Any, **named: Any) -> None:
    with unchecked(), pytest.raises(CannotError, match=message):
        logit_lens(model, *inputs, **named)


def test_models_that_write_no_words_are_refused():
    ids = tiny.ids(1, 2, 7)
    labels = replace(tiny.DECODERS["decoder, alibi"], output=Labels(count=3, each=True))
    assert isinstance(labels.stack.positions, Alibi)
    refused(tiny.made(labels), "DecoderNetwork gives no scores of words, so its layers have", ids)
    encoder = tiny.made(tiny.ENCODERS["encoder, nothing"])
    refused(encoder, "EncoderNetwork is no decoder of clearhead.models and none of", ids)
    bert = Published("BertForMaskedLM", "BertConfig", BERT).draw()
    refused(bert, "BertForMaskedLM has no one list of layers that writes from left to right", ids)
    headless = Published("LlamaModel", "LlamaConfig", LLAMA).draw()
    refused(headless, "LlamaModel returned no scores of words for every token", ids)
    llama = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    refused(llama, "leave out logits_to_keep and return_dict", ids, logits_to_keep=1)


def test_layers_that_are_dropped_are_not_passed_over_in_silence():
    model = Published("OPTForCausalLM", "OPTConfig", OPT | {"layerdrop": 1.0}).draw().train()
    refused(model, "0 of the model's 2 layers ran, where each was to run once", tiny.ids(1, 2, 7))


def changed(layer: nn.Module, change: Callable[[Any], Any]) -> None:
    layer.register_forward_hook(lambda module, given, made: change(made))


def test_a_stream_that_is_not_one_vector_a_token_is_refused():
    model = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    changed(model.model.layers[0], lambda hidden: hidden[None])
    refused(model, "hands on something other than one vector a token", tiny.ids(1, 2, 7))


@pytest.mark.parametrize("theirs", [False, True])
def test_what_follows_the_last_layer_must_read_each_token_by_itself(theirs):
    network = tiny.made(tiny.DECODERS["decoder, rotary"])
    if theirs:
        network = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    norm = network.model.norm if theirs else network.stack.final_norm
    if theirs:
        changed(norm, lambda hidden: hidden.cumsum(1))  # every token reads those before it
    else:
        norm.register_forward_hook(  # the model's own run alone has seven tokens
            lambda module, given, made: made.cumsum(1) if made.shape[1] == 7 else made
        )
    message = "is more than a head that reads each token by itself"
    refused(network, message, tiny.ids(1, 2, 7))


@pytest.mark.filterwarnings("ignore:`torch.jit")  # torch's own, when its compiler is loaded
def test_a_compiled_model_is_refused():
    compiled = torch.compile(tiny.made(tiny.DECODERS["decoder, rotary"]), backend="eager")
    refused(compiled, "This model is compiled", tiny.ids(1, 2, 7))
