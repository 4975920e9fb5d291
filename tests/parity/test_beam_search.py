"""Beam search finds what `generate` of `transformers` finds, with the same scores."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from published import (
    GPT2,
    LENGTHS,
    LLAMA,
    LONGEST,
    SEQ2SEQ,
    T5,
    Published,
    padded,
    text,
)

from clearhead.inference.beam import Search, beam_search
from clearhead.inference.lengths import average
from clearhead.inference.session import Session
from clearhead.inference.step import Step

START, PADDING = 3, 1
TELLS = {"decoder_start_token_id": START, "forced_eos_token_id": None, "use_cache": True}
TRANSLATORS = [
    Published("MarianMTModel", "MarianConfig", SEQ2SEQ | TELLS),
    Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ | TELLS),
    # Their cache of T5 counts the encoder's layers: give the decoder as many.
    Published(
        "T5ForConditionalGeneration",
        "T5Config",
        T5 | TELLS | {"pad_token_id": PADDING, "num_decoder_layers": 2},
    ),
]
DECODERS = [
    Published("GPT2LMHeadModel", "GPT2Config", GPT2),
    Published("LlamaForCausalLM", "LlamaConfig", LLAMA),
    Published("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 4}),
]
TRANSLATORS = [replace(case, note="that translates") for case in TRANSLATORS]
DECODERS = [replace(case, note="that continues") for case in DECODERS]
PATIENCE = {"none": True, "likely": False, "sure": "never"}
MOST = 10


def theirs_finds(model, search: Search, alpha: float, **inputs) -> tuple[list, list]:
    """Every prompt's texts, cut before the id that ends them, and their scores."""
    found = model.generate(
        **inputs,
        do_sample=False,
        num_beams=search.beams,
        num_return_sequences=search.beams,
        max_new_tokens=MOST,
        min_new_tokens=search.min_tokens or None,
        length_penalty=alpha,
        early_stopping=PATIENCE[search.patience],
        eos_token_id=list(search.stops),
        pad_token_id=PADDING,
        bad_words_ids=[[token] for token in search.never] or None,
        output_scores=True,
        return_dict_in_generate=True,
    )
    prompt = 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
    texts = [row[prompt : prompt + MOST].tolist() for row in found.sequences]
    return [before_the_end(row, search.stops) for row in texts], found.sequences_scores.tolist()


def before_the_end(ids: list[int], stops: tuple[int, ...]) -> tuple[int, ...]:
    end = next((place for place, token in enumerate(ids) if token in stops), len(ids))
    return tuple(ids[:end])


def same(ours, theirs) -> None:
    """The same texts with the same scores, but where two scores are as good as tied."""
    ids, scores = theirs
    found = [each for beams in ours for each in beams]
    assert len(found) == len(ids)
    for one, wanted, score in zip(found, ids, scores, strict=True):
        assert one.score == pytest.approx(score, abs=1e-4)
        assert one.ids == wanted


SEARCHES = [
    (Search(stops=(), divide=average(alpha), patience=patience), alpha)
    for patience in PATIENCE
    for alpha in (1.0, 0.0, 0.6, 2.0)
] + [
    (Search(stops=(), beams=3, never=(PADDING, 8, 9), min_tokens=4), 1.0),
    (Search(stops=(), beams=5, min_tokens=2, patience="none"), 1.0),
    (Search(stops=(), beams=2, divide=average(1.5)), 1.5),
]


def now_and_then(step: Step, prompts: torch.Tensor) -> tuple[int, ...]:
    """Ids that a random model says, but not all the time: texts that end there differ in length."""
    found = beam_search(step, prompts, Search(stops=(), beams=8), max_tokens=MOST)
    said = Counter(token for beams in found for each in beams for token in each.ids)
    _, *others = (token for token, _ in said.most_common(4))
    return tuple(others)


def compare(start: Callable[[], Step], prompts, theirs, search: Search, alpha: float, **inputs):
    """One search by both, with stops that this model says."""
    search = replace(search, stops=now_and_then(start(), prompts))
    ours = beam_search(start(), prompts, search, max_tokens=MOST)
    if search.patience == "none":
        assert len({len(each.ids) for beams in ours for each in beams}) > 1
    same(ours, theirs_finds(theirs, search, alpha, **inputs))


@pytest.mark.parametrize(("search", "alpha"), SEARCHES)
@pytest.mark.parametrize("case", TRANSLATORS, ids=str)
def test_a_translator_finds_the_same(opened, case, search, alpha):
    models, source = opened(case), padded(text(1, 3, LONGEST), LENGTHS, "right", PADDING)
    network, lengths = models.ours.network, torch.tensor(LENGTHS)
    with torch.no_grad():
        memory = network.encoder(source, lengths_B=lengths).hidden_BTM
    compare(
        lambda: Session(network.decoder, memory, lengths_B=lengths),
        torch.full((3, 1), START),
        models.theirs,
        search,
        alpha,
        input_ids=source,
        attention_mask=padded(torch.ones_like(source), LENGTHS, "right", 0),
    )


@pytest.mark.parametrize(("search", "alpha"), SEARCHES)
@pytest.mark.parametrize("case", DECODERS, ids=str)
def test_a_decoder_finds_the_same(opened, case, search, alpha):
    models, prompts = opened(case), text(2, 3, 5)
    compare(
        lambda: Session(models.ours.network),
        prompts,
        models.theirs,
        search,
        alpha,
        input_ids=prompts,
        attention_mask=torch.ones_like(prompts),
    )
