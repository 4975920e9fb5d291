"""Who sees what in the three skeletons: the past only, no padding, no other document, no order."""

from dataclasses import replace

import pytest
import tiny
import torch
from torch import Tensor

from clearhead.attention import Documents
from clearhead.models import Encoder, Network

LENGTH = 12
CHANGED = 7
PLACED = [
    "encoder, learned, types, masked",
    "encoder, sinusoidal, labels",
    "encoder, rotary, pooled",
]


@torch.no_grad()
def hidden(network: Network, *texts: Tensor, **named: Tensor) -> Tensor:
    return network(*texts, **named).hidden_BTM


def other(ids_BT: Tensor, where) -> Tensor:
    """The same text with other words in some places."""
    changed = ids_BT.clone()
    changed[:, where] = (changed[:, where] + 5) % 19
    return changed


def source_first(name: str) -> tuple[Tensor, ...]:
    """What comes before the text of interest: a translator's source."""
    return (tiny.ids(9, 2, 5),) if name in tiny.TRANSLATORS else ()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", tiny.DECODERS | tiny.TRANSLATORS)
def test_a_later_word_changes_nothing_before_it(name, dtype):
    network, ids = tiny.made(tiny.TEXTS[name], dtype=dtype), tiny.ids(1, 2, LENGTH)
    before = hidden(network, *source_first(name), ids)
    after = hidden(network, *source_first(name), other(ids, CHANGED))
    assert torch.equal(before[:, :CHANGED], after[:, :CHANGED])
    assert (before[:, CHANGED] != after[:, CHANGED]).any()


@pytest.mark.parametrize("name", tiny.ENCODERS)
def test_in_an_encoder_every_word_changes_every_other(name):
    network, ids = tiny.made(tiny.ENCODERS[name]), tiny.ids(1, 2, LENGTH)
    before, after = hidden(network, ids), hidden(network, other(ids, CHANGED))
    assert (before != after).any(-1).all()


@pytest.mark.parametrize("name", tiny.TRANSLATORS)
def test_every_word_of_the_source_changes_every_word_of_the_target(name):
    network, source, ids = tiny.made(tiny.TRANSLATORS[name]), tiny.ids(9, 2, 5), tiny.ids(1, 2, 4)
    for place in range(5):
        before, after = hidden(network, source, ids), hidden(network, other(source, place), ids)
        assert (before != after).any(-1).all()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", tiny.TEXTS)
def test_what_stands_in_the_padding_never_matters(name, side):
    network, ids = tiny.made(tiny.TEXTS[name], dtype=torch.float32), tiny.ids(1, 2, LENGTH)
    padding = slice(0, 4) if side == "left" else slice(8, None)
    real = slice(4, None) if side == "left" else slice(0, 8)
    bound = (
        {"starts_B": torch.tensor([4, 4])}
        if side == "left"
        else {"lengths_B": torch.tensor([8, 8])}
    )
    if name in tiny.TRANSLATORS:
        bound = {f"target_{key}": value for key, value in bound.items()}
    before = hidden(network, *source_first(name), ids, **bound)
    after = hidden(network, *source_first(name), other(ids, padding), **bound)
    assert torch.equal(before[:, real], after[:, real])
    assert (before[:, padding] != after[:, padding]).any()


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", tiny.TRANSLATORS)
def test_what_stands_in_the_source_s_padding_never_matters(name, side):
    network, ids = tiny.made(tiny.TRANSLATORS[name], dtype=torch.float32), tiny.ids(1, 2, 4)
    source = tiny.ids(9, 2, LENGTH)
    padding = slice(0, 4) if side == "left" else slice(8, None)
    key, value = ("starts", 4) if side == "left" else ("lengths", 8)
    bound = {f"source_{key}_B": torch.tensor([value, value])}
    before = hidden(network, source, ids, **bound)
    assert torch.equal(hidden(network, other(source, padding), ids, **bound), before)


@pytest.mark.parametrize("name", tiny.READERS)
def test_padding_on_either_side_is_no_padding_at_all(name):
    network, lengths = tiny.made(tiny.READERS[name]), (LENGTH, 5, 1)
    texts = [tiny.ids(seed, 1, length) for seed, length in enumerate(lengths)]
    left, right = torch.zeros(2, 3, LENGTH, dtype=torch.long)
    for row, text in enumerate(texts):
        left[row, LENGTH - lengths[row] :] = right[row, : lengths[row]] = text[0]
    from_left = hidden(network, left, starts_B=LENGTH - torch.tensor(lengths))
    from_right = hidden(network, right, lengths_B=torch.tensor(lengths))
    for row, text in enumerate(texts):
        alone = hidden(network, text)[0]
        tiny.close(from_left[row, LENGTH - lengths[row] :], alone)
        tiny.close(from_right[row, : lengths[row]], alone)


def told(way: str, lengths: list[int]) -> Tensor | Documents:
    """Which document each token belongs to, in both of the ways it can be said."""
    if way == "by lengths":
        return Documents.packed(lengths)
    return torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))[None]


@pytest.mark.parametrize("way", ["by lengths", "by numbers"])
@pytest.mark.parametrize("name", tiny.READERS)
def test_documents_in_one_row_are_read_as_if_alone(name, way):
    network, lengths = tiny.made(tiny.READERS[name]), [5, 1, 6]
    texts = [tiny.ids(seed, 1, length) for seed, length in enumerate(lengths)]
    packed = hidden(network, torch.cat(texts, 1), documents_BT=told(way, lengths))
    tiny.close(packed, torch.cat([hidden(network, text) for text in texts], 1))


@pytest.mark.parametrize("name", tiny.READERS)
def test_documents_behind_padding_are_read_as_if_alone(name):
    network, one, two = tiny.made(tiny.READERS[name]), tiny.ids(1, 1, 5), tiny.ids(2, 1, 4)
    row = torch.cat([torch.zeros(1, 3, dtype=torch.long), one, two], 1)
    documents = torch.tensor([[0] * 8 + [1] * 4])  # the padding counts as part of the first
    packed = hidden(network, row, documents_BT=documents, starts_B=torch.tensor([3]))
    tiny.close(packed[:, 3:], torch.cat([hidden(network, one), hidden(network, two)], 1))


@pytest.mark.parametrize("name", tiny.TRANSLATORS)
def test_pairs_in_one_row_are_read_as_if_alone(name):
    network = tiny.made(tiny.TRANSLATORS[name])
    sources, targets = (
        [tiny.ids(1, 1, 4), tiny.ids(2, 1, 7)],
        [tiny.ids(3, 1, 5), tiny.ids(4, 1, 3)],
    )
    packed = hidden(
        network,
        torch.cat(sources, 1),
        torch.cat(targets, 1),
        source_documents_BS=told("by numbers", [4, 7]),
        target_documents_BT=told("by numbers", [5, 3]),
    )
    alone = [
        hidden(network, source, target) for source, target in zip(sources, targets, strict=True)
    ]
    tiny.close(packed, torch.cat(alone, 1))


def shuffled(length: int) -> Tensor:
    order = torch.randperm(length, generator=torch.Generator().manual_seed(0))
    assert (order != torch.arange(length)).any()
    return order


def test_without_positions_an_encoder_knows_no_order():
    network, ids = tiny.made(tiny.ENCODERS["encoder, nothing"]), tiny.ids(1, 2, LENGTH)
    order = shuffled(LENGTH)
    tiny.close(hidden(network, ids[:, order]), hidden(network, ids)[:, order])


@pytest.mark.parametrize(
    "name", sorted(set(tiny.ENCODERS) - {"encoder, nothing"} - {"encoder, alibi, narrow words"})
)
def test_with_positions_an_encoder_knows_the_order(name):
    network, ids, order = tiny.made(tiny.ENCODERS[name]), tiny.ids(1, 2, LENGTH), shuffled(LENGTH)
    apart = (hidden(network, ids[:, order]) - hidden(network, ids)[:, order]).abs()
    assert apart.amax() > 1e-4


@pytest.mark.parametrize("name", PLACED)
def test_words_may_stand_in_any_order_when_told_where_they_belong(name):
    network, ids, order = tiny.made(tiny.ENCODERS[name]), tiny.ids(1, 2, LENGTH), shuffled(LENGTH)
    places = order.expand(2, -1)
    tiny.close(hidden(network, ids[:, order], positions_BT=places), hidden(network, ids)[:, order])


@pytest.mark.parametrize("name", ["encoder, alibi, narrow words", "decoder, buckets"])
def test_distances_are_counted_in_the_row_all_the_same(name):
    network, ids = tiny.made(tiny.READERS[name]), tiny.ids(1, 2, LENGTH)
    places = shuffled(LENGTH).expand(2, -1)
    assert torch.equal(hidden(network, ids, positions_BT=places), hidden(network, ids))


@pytest.mark.parametrize("name", tiny.READERS)
def test_positions_are_counted_from_zero_when_left_out(name):
    network, ids = tiny.made(tiny.READERS[name]), tiny.ids(1, 2, LENGTH)
    counted = torch.arange(LENGTH).expand(2, -1)
    assert torch.equal(hidden(network, ids), hidden(network, ids, positions_BT=counted))


def test_a_window_forgets_what_is_further_away():
    spec = tiny.DECODERS["decoder, rotary, window"]  # 3 words a layer, so 5 in two layers
    network, ids = tiny.made(spec, dtype=torch.float32), tiny.ids(1, 2, LENGTH)
    before, after = hidden(network, ids), hidden(network, other(ids, 2))
    assert torch.equal(before[:, 7:], after[:, 7:])
    assert (before[:, 6] != after[:, 6]).any()


def test_a_window_from_the_second_layer_leaves_the_first_wide():
    network = tiny.made(tiny.DECODERS["decoder, rotary, window from layer 1"])
    ids = tiny.ids(1, 2, LENGTH)
    assert (hidden(network, ids) != hidden(network, other(ids, 0))).any(-1).all()


def test_padding_of_a_sound_is_counted_in_tokens():
    spec = tiny.OTHERS["sound"]
    assert isinstance(spec, Encoder)
    network, sound = tiny.made(spec), tiny.numbers(1, 2, 5, 14)
    lengths = torch.tensor([3, 3])  # frames 0 to 5, and one more that the convolutions touch
    before = hidden(network, sound, lengths_B=lengths)
    sound[:, :, 7:] = 0.5
    after = hidden(network, sound, lengths_B=lengths)
    assert torch.equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).any()


def test_nothing_to_read_is_nothing_said():
    for name, spec in tiny.READERS.items():
        if "labels" in name or "pooled" in name:
            continue
        network = tiny.made(replace(spec))
        assert hidden(network, torch.zeros(2, 0, dtype=torch.long)).shape == (2, 0, tiny.WIDTH)
