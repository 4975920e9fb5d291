"""What the three skeletons return, and what they refuse."""

from dataclasses import replace

import pytest
import tiny
import torch
from doors import unchecked

from clearhead.attention import Everything, Padding
from clearhead.foundation.errors import ConfigError, InputError, ShapeError
from clearhead.layers import Words

IDS = tiny.ids(1, 2, 6)
SOURCE = tiny.ids(2, 2, 5)
DECODER = tiny.DECODERS["decoder, learned"]
TRANSLATOR = tiny.TRANSLATORS["encoder-decoder, shared words"]


@pytest.mark.parametrize(
    ("name", "field", "shape"),
    [
        ("encoder, learned, types, masked", "logits_BTV", (2, 6, 23)),
        ("encoder, sinusoidal, labels", "labels_BC", (2, 3)),
        ("encoder, rotary, pooled", "pooled_BM", (2, 16)),
        ("decoder, rotary", "logits_BTV", (2, 6, 23)),
        ("decoder, buckets", "labels_BC", (2, 6, 3)),
        ("encoder-decoder, buckets, grouped", "logits_BTV", (2, 6, 19)),
    ],
)
def test_a_result_has_what_its_head_made_and_nothing_else(name, field, shape):
    texts = (SOURCE, IDS) if name in tiny.TRANSLATORS else (IDS,)
    found = tiny.made(tiny.TEXTS[name])(*texts)
    assert found.hidden_BTM.shape == (2, 6, 16)
    made = {
        key for key in ("logits_BTV", "labels_BC", "pooled_BM") if getattr(found, key) is not None
    }
    assert made == {field}
    assert getattr(found, field).shape == shape
    assert (found.memory_BSM is not None) == (name in tiny.TRANSLATORS)


def test_pictures_and_sound_come_in_their_own_shapes():
    pictures, sound = tiny.made(tiny.OTHERS["pictures"]), tiny.made(tiny.OTHERS["sound"])
    assert pictures(tiny.numbers(1, 2, 2, 8, 8)).pooled_BM.shape == (2, 16)
    assert sound(tiny.numbers(1, 2, 5, 13)).labels_BC.shape == (2, 3)
    heard = tiny.made(tiny.OTHERS["sound to text"])(tiny.numbers(1, 2, 5, 13), IDS)
    assert heard.logits_BTV.shape == (2, 6, 23)
    assert heard.memory_BSM.shape == (2, 7, 16)


@torch.no_grad()
def test_the_target_reads_the_encoder_s_last_vectors():
    network = tiny.made(TRANSLATOR)
    found = network(SOURCE, IDS, source_lengths_B=torch.tensor([5, 2]))
    memory = network.encoder(SOURCE, lengths_B=torch.tensor([5, 2])).hidden_BTM
    read = network.decoder(
        IDS, memory_BSM=memory, memory_mask=Padding(lengths_B=torch.tensor([5, 2]))
    )
    assert torch.equal(found.memory_BSM, memory)
    assert torch.equal(found.logits_BTV, read.logits_BTV)


@torch.no_grad()
def test_a_memory_without_a_mask_is_read_whole():
    decoder, memory = tiny.made(TRANSLATOR).decoder, tiny.numbers(1, 2, 5, 16)
    whole = decoder(IDS, memory_BSM=memory, memory_mask=Everything()).hidden_BTM
    assert torch.equal(decoder(IDS, memory_BSM=memory).hidden_BTM, whole)


@torch.no_grad()
def test_keys_and_values_of_the_memory_are_worked_out_once():
    network = tiny.made(TRANSLATOR)
    calls, past = [], network.past()
    for block in network.decoder.stack.blocks:
        block.cross.memory.register_forward_hook(lambda *_: calls.append(1))
    memory = None
    for place in range(6):
        step = network(SOURCE, IDS[:, place : place + 1], past=past, memory_BSM=memory)
        memory = step.memory_BSM
    assert len(calls) == len(past.memories) == 2


def test_words_are_one_table_where_they_are_shared():
    network = tiny.made(TRANSLATOR)
    assert network.encoder.input.words is network.decoder.input.words
    apart = tiny.made(replace(TRANSLATOR, shared_words=False))
    assert apart.encoder.input.words is not apart.decoder.input.words


def test_segment_types_reach_the_encoder():
    network = tiny.made(tiny.ENCODERS["encoder, learned, types, masked"])
    types = torch.tensor([[0, 1, 2, 0, 1, 2]] * 2)
    assert not torch.equal(network(IDS, types_BT=types).hidden_BTM, network(IDS).hidden_BTM)


@torch.no_grad()
def test_segment_types_reach_the_side_they_are_given_for():
    words = replace(tiny.WORDS, types=3)
    spec = replace(
        TRANSLATOR,
        encoder=replace(TRANSLATOR.encoder, input=words),
        decoder=replace(TRANSLATOR.decoder, input=words),
    )
    network = tiny.made(spec)
    of_source, of_target = tiny.ids(3, 2, 5) % 3, tiny.ids(4, 2, 6) % 3
    found = network(SOURCE, IDS, source_types_BS=of_source, target_types_BT=of_target)
    memory = network.encoder(SOURCE, types_BT=of_source).hidden_BTM
    assert torch.equal(found.memory_BSM, memory)
    apart = network.decoder(IDS, memory_BSM=memory, types_BT=of_target)
    assert torch.equal(found.logits_BTV, apart.logits_BTV)
    assert not torch.equal(found.logits_BTV, network(SOURCE, IDS).logits_BTV)


def test_a_text_longer_than_the_learned_positions_is_refused():
    with pytest.raises(InputError, match=r"reaches position 41 .* learned 40 positions: shorten"):
        tiny.made(DECODER)(tiny.ids(1, 1, 41))
    with pytest.raises(InputError, match=r"reaches position 101 "):
        tiny.made(DECODER)(IDS, positions_BT=IDS * 0 + 100)
    past = tiny.made(DECODER).past()
    network = tiny.made(DECODER)
    network(tiny.ids(1, 1, 40), past=past)
    with pytest.raises(InputError, match=r"reaches position 41 "):
        network(tiny.ids(1, 1, 1), past=past)


@pytest.mark.parametrize("spec", [DECODER, tiny.ENCODERS["encoder, learned, types, masked"]])
def test_one_text_that_is_no_batch_is_refused(spec):
    message = (
        r"Ids of shape \(6,\) are no batch: \[batch, tokens\] was wanted\. Give .* ids\[None\]"
    )
    with unchecked(), pytest.raises(ShapeError, match=message):
        tiny.made(spec)(IDS[0])


def test_a_cache_there_is_not_is_refused():
    with (
        unchecked(),
        pytest.raises(ConfigError, match=r"no cache 'rolling'.* There are: growing, st"),
    ):
        tiny.made(DECODER).past("rolling")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": -1}, "A stack of -1 layers cannot be: give 0 or more"),
        ({"window": 0}, "A window of 0 positions leaves a query nothing to see: give 1"),
    ],
)
def test_a_stack_that_cannot_be_is_refused_when_it_is_made(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(tiny.PLAIN, **changes)


def test_a_position_below_zero_is_refused():
    with pytest.raises(InputError, match=r"given position -1: positions count from 0"):
        tiny.made(DECODER)(IDS, positions_BT=torch.arange(6).expand(2, -1) - 1)


def test_document_numbers_for_another_length_are_refused():
    network, past = tiny.made(DECODER), tiny.made(DECODER).past()
    network(IDS, documents_BT=IDS * 0, past=past)
    with pytest.raises(ShapeError, match=r"6 document numbers for 12 tokens, those of earlier"):
        network(IDS, documents_BT=IDS * 0, past=past)


def test_document_numbers_of_one_side_alone_are_refused():
    network = tiny.made(TRANSLATOR)
    for given in ({"source_documents_BS": SOURCE}, {"target_documents_BT": IDS}):
        with pytest.raises(InputError, match=r"the source or the target alone: give both"):
            network(SOURCE, IDS, **given)


def test_a_decoder_that_reads_no_memory_refuses_one():
    with pytest.raises(InputError, match=r"a memory was given|A memory was given .* leave memory"):
        tiny.made(DECODER)(IDS, memory_BSM=tiny.numbers(1, 2, 5, 16))


def test_a_decoder_that_reads_a_memory_wants_one():
    with pytest.raises(InputError, match=r"reads an encoder's memory and none was given: add mem"):
        tiny.made(TRANSLATOR).decoder(IDS)


def test_both_sides_must_be_of_one_width():
    narrow = replace(TRANSLATOR.encoder, stack=replace(tiny.PLAIN, width=8))
    with pytest.raises(ConfigError, match=r"encoder is 8 wide and the decoder .* 16: give both"):
        replace(TRANSLATOR, encoder=narrow)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (Words(vocabulary=24, width=16), "24 × 16"),
        (Words(vocabulary=23, width=8), "23 × 8"),
        (tiny.OTHERS["sound"].input, "frames"),
    ],
)
def test_tables_of_other_sizes_cannot_be_shared(given, named):
    with pytest.raises(
        ConfigError, match=rf"decoder's is 23 × 16 and the encoder's {named}\. Make"
    ):
        replace(TRANSLATOR, encoder=replace(TRANSLATOR.encoder, input=given))


def test_a_model_of_no_layers_is_its_input():
    spec = replace(DECODER, stack=replace(DECODER.stack, layers=0), output=None)
    network = tiny.made(spec)
    tiny.close(network(IDS).hidden_BTM, network.input(IDS, positions=torch.arange(6), longest=6))
    assert network.past().length == 0
