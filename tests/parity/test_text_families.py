"""Every published class of text model makes of a text what it makes of it in `transformers`."""

import inspect

import pytest
import torch
from published import (
    LENGTHS,
    LONGEST,
    PUBLISHED,
    READERS,
    TOLERANCE,
    TRANSLATORS,
    bounds,
    ours_says,
    padded,
    real,
    text,
    theirs_says,
)

from clearhead.checkpoints.foreign.huggingface import read_folder
from clearhead.models.families import FAMILIES

TARGET_LENGTHS = (5, 3, 8)
TARGET_LONGEST = max(TARGET_LENGTHS)
NOT_TEXT = {"vit", "deit", "whisper"}


def close(ours, theirs, where=...):
    torch.testing.assert_close(ours[where], theirs[where], atol=TOLERANCE, rtol=0)


def first_alone(case) -> bool:
    """Whether the scores are made from the first token only."""
    return case.model.endswith(("ForSequenceClassification", "BertModel", "bertaModel")) and (
        case.model != "DistilBertModel"
    )


def takes(model, name: str) -> bool:
    return name in inspect.signature(model.forward).parameters


def test_every_published_class_is_compared():
    text_families = [family for family in FAMILIES if family.name not in NOT_TEXT]
    wanted = {name for family in text_families for name in family.architectures}
    assert {case.model for case in PUBLISHED} == wanted


@pytest.mark.parametrize("case", READERS, ids=str)
def test_without_padding_it_says_the_same(opened, case):
    models, ids = opened(case), text(1, 3, LONGEST)
    theirs, ours = theirs_says(models.theirs, input_ids=ids), ours_says(models.ours.network, ids)
    close(ours.hidden, theirs.hidden)
    if theirs.scores is not None:
        close(ours.scores, theirs.scores)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("case", READERS, ids=str)
def test_with_padding_it_says_the_same(opened, case, side):
    models, config = opened(case), opened(case).theirs.config
    filler = config.pad_token_id if config.pad_token_id is not None else 0
    ids = padded(text(1, 3, LONGEST), LENGTHS, side, filler)
    seen = padded(torch.ones_like(ids), LENGTHS, side, 0)
    inputs, named = {"attention_mask": seen}, bounds(LENGTHS, LONGEST, side)
    if getattr(config, "type_vocab_size", 0):
        inputs["token_type_ids"] = named["types_BT"] = text(2, 3, LONGEST) % 3
    # RoBERTa counts from the padding ids by itself.
    if side == "left" and takes(models.theirs, "position_ids") and "Roberta" not in case.config:
        inputs["position_ids"] = (seen.cumsum(1) - 1).clamp(min=0)
    theirs = theirs_says(models.theirs, input_ids=ids, **inputs)
    ours = ours_says(models.ours.network, ids, **named)
    close(ours.hidden, theirs.hidden, seen.bool())
    if theirs.scores is not None and not first_alone(case):
        close(ours.scores, theirs.scores, seen.bool())
    if theirs.scores is not None and first_alone(case) and side == "right":
        close(ours.scores, theirs.scores)


@pytest.mark.parametrize("case", [case for case in READERS if first_alone(case)], ids=str)
def test_the_first_token_is_the_first_behind_the_padding(opened, case):
    models, ids = opened(case), text(1, 3, LONGEST)
    ours = ours_says(
        models.ours.network, padded(ids, LENGTHS, "left", 1), **bounds(LENGTHS, LONGEST, "left")
    )
    for row, length in enumerate(LENGTHS):
        alone = theirs_says(models.theirs, input_ids=ids[row : row + 1, :length])
        close(ours.scores[row], alone.scores[0])


@pytest.mark.parametrize("case", TRANSLATORS, ids=str)
def test_padding_of_source_and_target_changes_nothing(opened, case):
    models = opened(case)
    source, target = text(1, 3, LONGEST), text(2, 3, TARGET_LONGEST)
    alone = [
        theirs_says(
            models.theirs,
            input_ids=source[row : row + 1, : LENGTHS[row]],
            decoder_input_ids=target[row : row + 1, : TARGET_LENGTHS[row]],
        )
        for row in range(3)
    ]
    for here, there in (("right", "right"), ("left", "right"), ("right", "left"), ("left", "left")):
        ours = ours_says(
            models.ours.network,
            padded(source, LENGTHS, here, 1),
            padded(target, TARGET_LENGTHS, there, 1),
            **bounds(LENGTHS, LONGEST, here, "source_"),
            **bounds(TARGET_LENGTHS, TARGET_LONGEST, there, "target_"),
        )
        for row, wanted in enumerate(alone):
            place = real(TARGET_LENGTHS[row], TARGET_LONGEST, there)
            close(ours.memory[row, real(LENGTHS[row], LONGEST, here)], wanted.memory[0])
            close(ours.hidden[row, place], wanted.hidden[0])
            if wanted.scores is not None:
                close(ours.scores[row, place], wanted.scores[0])


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("case", TRANSLATORS, ids=str)
def test_a_padded_source_at_counted_positions_says_the_same(opened, case, side):
    models, target = opened(case), text(2, 3, TARGET_LONGEST)
    source = padded(text(1, 3, LONGEST), LENGTHS, side, 1)
    seen = padded(torch.ones_like(source), LENGTHS, side, 0)
    # Padding on the left shifts a text for `transformers`, which counts it.
    counted = {"source_positions_BS": torch.arange(LONGEST).expand(3, -1)} if side == "left" else {}
    theirs = theirs_says(
        models.theirs, input_ids=source, attention_mask=seen, decoder_input_ids=target
    )
    ours = ours_says(
        models.ours.network,
        source,
        target,
        **bounds(LENGTHS, LONGEST, side, "source_"),
        **counted,
    )
    close(ours.memory, theirs.memory, seen.bool())
    close(ours.hidden, theirs.hidden)


@pytest.mark.parametrize("case", READERS, ids=str)
def test_texts_packed_in_one_row_do_not_see_each_other(opened, case):
    network, ids = opened(case).ours.network, text(1, 1, LONGEST)
    cut = 5
    documents = (torch.arange(LONGEST) >= cut).long()[None]
    packed = ours_says(network, ids, documents_BT=documents)
    apart = [ours_says(network, ids[:, :cut]), ours_says(network, ids[:, cut:])]
    close(packed.hidden, torch.cat([each.hidden for each in apart], 1))


@pytest.mark.parametrize("case", TRANSLATORS, ids=str)
def test_pairs_packed_in_one_row_do_not_see_each_other(opened, case):
    network = opened(case).ours.network
    source, target, cut, target_cut = text(1, 1, LONGEST), text(2, 1, TARGET_LONGEST), 9, 3
    packed = ours_says(
        network,
        source,
        target,
        source_documents_BS=(torch.arange(LONGEST) >= cut).long()[None],
        target_documents_BT=(torch.arange(TARGET_LONGEST) >= target_cut).long()[None],
    )
    apart = [
        ours_says(network, source[:, :cut], target[:, :target_cut]),
        ours_says(network, source[:, cut:], target[:, target_cut:]),
    ]
    close(packed.hidden, torch.cat([each.hidden for each in apart], 1))


@pytest.mark.parametrize("case", PUBLISHED, ids=str)
def test_a_step_of_training_reaches_every_parameter(opened, case):
    network = read_folder(opened(case).folder).network.train()
    ids = (text(1, 3, LONGEST), text(2, 3, TARGET_LONGEST))
    torch.manual_seed(0)
    found = network(*(ids if case.reads_two else ids[:1]))
    parts = (found.hidden_BTM, found.logits_BTV, found.labels_BC, found.pooled_BM)
    wanted = torch.Generator().manual_seed(3)
    made = [part for part in parts if part is not None]
    sum((part * torch.randn(part.shape, generator=wanted)).sum() for part in made).backward()
    untouched = [
        name
        for name, parameter in network.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ]
    assert not untouched
