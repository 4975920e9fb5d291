"""A decoder that goes step by step, remembering the past, says what it says of the whole text."""

import pytest
import torch
from published import (
    DECODERS,
    LENGTHS,
    LONGEST,
    TOLERANCE,
    Said,
    bounds,
    ours_says,
    padded,
    text,
    theirs_says,
)

from clearhead.attention.caches import Growing, Rolling, Static

TARGET_LONGEST = 12
STEPS = (5, 1, 1, 3, 1, 1)  # a prompt, then words; three at once as when a draft is checked
DECODERS_ALONE = [case for case in DECODERS if not case.reads_two]
TRANSLATORS = [case for case in DECODERS if case.reads_two]


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=TOLERANCE, rtol=0)


def step_by_step(say, ids: torch.Tensor) -> Said:
    """What is said of pieces of the text, put together again."""
    said, start = [], 0
    for size in STEPS:
        said.append(say(ids[:, start : start + size]))
        start += size
    assert start == ids.shape[1]
    scores = [each.scores for each in said if each.scores is not None]
    hidden = torch.cat([each.hidden for each in said], 1)
    return Said(hidden, torch.cat(scores, 1) if scores else None)


@pytest.mark.parametrize("cache", ["growing", "static"])
@pytest.mark.parametrize("case", DECODERS_ALONE, ids=str)
def test_steps_say_what_the_whole_says(opened, case, cache):
    models, ids = opened(case), text(1, 3, TARGET_LONGEST)
    network = models.ours.network
    past = network.past(cache, capacity=TARGET_LONGEST)
    steps = step_by_step(lambda piece: ours_says(network, piece, past=past), ids)
    whole, theirs = ours_says(network, ids), theirs_says(models.theirs, input_ids=ids)
    assert past.length == TARGET_LONGEST
    close(steps.hidden, whole.hidden)
    close(steps.hidden[:, -1], theirs.hidden[:, -1])
    if theirs.scores is not None:
        close(steps.scores, whole.scores)
        close(steps.scores[:, -1], theirs.scores[:, -1])


@pytest.mark.parametrize("case", DECODERS_ALONE, ids=str)
def test_steps_behind_padding_say_what_the_texts_say_alone(opened, case):
    models, lengths = opened(case), (7, 12, 5)
    network, ids = models.ours.network, text(1, 3, TARGET_LONGEST)
    named = bounds(lengths, TARGET_LONGEST, "left")
    past = network.past()
    row = padded(ids, lengths, "left", 0)
    steps = step_by_step(lambda piece: ours_says(network, piece, past=past, **named), row)
    for each, length in enumerate(lengths):
        alone = theirs_says(models.theirs, input_ids=ids[each : each + 1, :length])
        close(steps.hidden[each, -length:], alone.hidden[0])


@pytest.mark.parametrize("cache", ["growing", "static"])
@pytest.mark.parametrize("case", TRANSLATORS, ids=str)
def test_steps_of_a_translation_say_what_the_whole_says(opened, case, cache):
    models, target = opened(case), text(2, 3, TARGET_LONGEST)
    network, source = models.ours.network, padded(text(1, 3, LONGEST), LENGTHS, "right", 1)
    named = bounds(LENGTHS, LONGEST, "right", "source_")
    past, memory = network.past(cache, capacity=TARGET_LONGEST), None

    def say(piece):
        nonlocal memory
        said = ours_says(network, source, piece, past=past, memory_BSM=memory, **named)
        memory = said.memory
        return said

    steps, whole = step_by_step(say, target), ours_says(network, source, target, **named)
    close(steps.hidden, whole.hidden)
    theirs = theirs_says(
        models.theirs,
        input_ids=source,
        attention_mask=padded(torch.ones_like(source), LENGTHS, "right", 0),
        decoder_input_ids=target,
    )
    close(steps.hidden[:, -1], theirs.hidden[:, -1])
    if theirs.scores is not None:
        close(steps.scores[:, -1], theirs.scores[:, -1])


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("MistralForCausalLM", [Rolling, Rolling]),
        ("MistralForCausalLM no window", [Growing, Growing]),
        ("Qwen2ForCausalLM window from layer 1", [Growing, Rolling]),
        ("LlamaForCausalLM", [Growing, Growing]),
    ],
)
def test_layers_with_a_window_forget(opened, name, kinds):
    case = next(case for case in DECODERS if str(case) == name)
    network = opened(case).ours.network
    assert [type(cache) for cache in network.past().caches] == kinds


def test_a_static_past_is_laid_out_at_once(opened):
    case = next(case for case in DECODERS if case.model == "GPT2LMHeadModel")
    caches = opened(case).ours.network.past("static", capacity=7).caches
    assert [(type(cache), cache.capacity) for cache in caches] == [(Static, 7), (Static, 7)]
