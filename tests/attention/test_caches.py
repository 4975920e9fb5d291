"""A cache changes nothing: pieces of any size say what the whole says at once."""

from dataclasses import replace
from itertools import pairwise

import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from clearhead.attention import Causal, Heads, Padding, Scene, SelfAttention, Window
from clearhead.attention.caches import Cache, Growing, Held, Rolling, Static
from clearhead.attention.positions import Rotary
from clearhead.attention.positions.rotary import speeds, turn_at
from clearhead.foundation.errors import CannotError, ConfigError

LENGTH = 20


@st.composite
def cuts(draw, length: int = LENGTH) -> list[slice]:
    """A text of `length` in pieces of any size."""
    inner = draw(st.sets(st.integers(1, length - 1)))
    return [slice(*ends) for ends in pairwise([0, *sorted(inner), length])]


def attention(groups: int) -> SelfAttention:
    spec = Heads(heads=4, key_value_heads=groups, head_width=4)
    made = SelfAttention(tiny.WIDTH, spec, site="here").double().eval()
    tiny.redraw(made, seed=groups)
    return made


def in_pieces(
    module: SelfAttention, x_BTM: Tensor, mask, cache: Cache, pieces: list[slice]
) -> Tensor:
    found, speed = [], speeds(Rotary(base=50.0), 4)
    for piece in pieces:
        turn = turn_at(torch.arange(x_BTM.shape[1])[piece], speed, torch.float64)
        found.append(module(x_BTM[:, piece], Scene(mask=mask, turn=turn), cache))
    return torch.cat(found, 1)


def at_once(module: SelfAttention, x_BTM: Tensor, mask) -> Tensor:
    turn = turn_at(torch.arange(x_BTM.shape[1]), speeds(Rotary(base=50.0), 4), torch.float64)
    return module(x_BTM, Scene(mask=mask, turn=turn))


starts = st.lists(st.integers(0, LENGTH), min_size=2, max_size=2).map(torch.tensor)


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["growing", "static", "rolling"]),
    groups=st.sampled_from([1, 2, 4]),
    window=st.integers(1, LENGTH + 3),
    spare=st.integers(0, 3),
    starts_B=starts,
    pieces=cuts(),
)
def test_pieces_attend_like_the_whole(kind, groups, window, spare, starts_B, pieces):
    caches = {"growing": Growing(), "static": Static(LENGTH + spare), "rolling": Rolling(window)}
    mask = Causal() & Padding(starts_B=starts_B)
    if kind == "rolling":
        mask = mask & Window(left=window - 1, right=0)
    module, x_BTM = attention(groups), tiny.numbers(1, 2, LENGTH, tiny.WIDTH)
    with torch.no_grad():
        whole = at_once(module, x_BTM, mask)
        tiny.close(in_pieces(module, x_BTM, mask, caches[kind], pieces), whole)
    assert caches[kind].length == LENGTH


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(tiny.DECODERS)),
    cache=st.sampled_from(["growing", "static"]),
    window=st.integers(1, LENGTH + 3),
    starts_B=starts,
    pieces=cuts(),
)
def test_a_decoder_says_in_pieces_what_it_says_at_once(name, cache, window, starts_B, pieces):
    spec = tiny.DECODERS[name]
    if spec.stack.window is not None:
        spec = replace(spec, stack=replace(spec.stack, window=window))
    network, ids = tiny.made(spec), tiny.ids(2, 2, LENGTH)
    past = network.past(cache, capacity=LENGTH)
    with torch.no_grad():
        whole = network(ids, starts_B=starts_B).hidden_BTM
        said = [network(ids[:, piece], starts_B=starts_B, past=past) for piece in pieces]
    assert past.length == LENGTH
    tiny.close(torch.cat([each.hidden_BTM for each in said], 1), whole)


@settings(max_examples=20)
@given(cache=st.sampled_from(["growing", "static"]), pieces=cuts())
@pytest.mark.parametrize("name", tiny.TRANSLATORS)
def test_a_translator_says_in_pieces_what_it_says_at_once(name, cache, pieces):
    network = tiny.made(tiny.TRANSLATORS[name])
    source, target = tiny.ids(1, 2, 7), tiny.ids(2, 2, LENGTH)
    padding = {"source_lengths_B": torch.tensor([7, 4])}
    past, memory = network.past(cache, capacity=LENGTH), None
    said = []
    with torch.no_grad():
        whole = network(source, target, **padding).logits_BTV
        for piece in pieces:
            step = network(source, target[:, piece], past=past, memory_BSM=memory, **padding)
            memory = step.memory_BSM
            said.append(step.logits_BTV)
    tiny.close(torch.cat(said, 1), whole)


@settings(max_examples=20)
@given(pieces=cuts())
def test_packed_documents_say_in_pieces_what_they_say_at_once(pieces):
    network, ids = tiny.made(tiny.DECODERS["decoder, learned"]), tiny.ids(2, 1, LENGTH)
    documents = torch.tensor([[0] * 7 + [1] * 9 + [2] * 4])
    past, said = network.past(), []
    with torch.no_grad():
        whole = network(ids, documents_BT=documents).hidden_BTM
        for piece in pieces:
            so_far = documents[:, : piece.stop]
            said.append(network(ids[:, piece], documents_BT=so_far, past=past).hidden_BTM)
    tiny.close(torch.cat(said, 1), whole)


@settings(max_examples=50)
@given(window=st.integers(1, 6), data=st.data())
def test_a_rolling_cache_stays_small_and_right_over_many_windows(window, data):
    length = 30 * window
    pieces = data.draw(cuts(length))
    module, x_BTM = attention(2), tiny.numbers(3, 1, length, tiny.WIDTH)
    mask, cache, found = Window(left=window - 1, right=0), Rolling(window), []
    with torch.no_grad():
        for piece in pieces:
            found.append(module(x_BTM[:, piece], Scene(mask=mask), cache))
            assert cache.room is not None
            for kept in (cache.room.k_BGSD, cache.room.v_BGSE):
                assert kept.shape[2] <= 2 * window
                assert kept.untyped_storage().nbytes() == kept.nbytes
        tiny.close(torch.cat(found, 1), module(x_BTM, Scene(mask=mask)))


@pytest.mark.parametrize("width", [3, 5])
def test_keys_and_values_may_be_of_different_widths(width):
    for cache in (Growing(), Static(6), Rolling(6)):
        k, v = tiny.numbers(0, 2, 1, 5, 4), tiny.numbers(1, 2, 1, 5, width)
        cache.extend(k[:, :, :2], v[:, :, :2])
        held = cache.extend(k[:, :, 2:], v[:, :, 2:])
        assert torch.equal(held.k_BGSD, k)
        assert torch.equal(held.v_BGSE, v)


ROWS = [2, 0, 0, 1, 2]


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["growing", "static", "rolling"]),
    window=st.integers(1, LENGTH + 3),
    pieces=cuts(),
    data=st.data(),
)
def test_rows_put_in_another_order_are_as_if_fed_that_way_from_the_start(
    kind, window, pieces, data
):
    made = {
        "growing": Growing,
        "static": lambda: Static(LENGTH),
        "rolling": lambda: Rolling(window),
    }
    moved, fresh = made[kind](), made[kind]()
    k, v = tiny.numbers(0, 3, 2, LENGTH, 4), tiny.numbers(1, 3, 2, LENGTH, 5)
    when = data.draw(st.integers(0, len(pieces) - 1))
    rows = torch.arange(3)
    for number, piece in enumerate(pieces):
        if number == when:
            rows = torch.tensor(ROWS)
            moved.reorder(rows)
        one = moved.extend(k[rows][:, :, piece], v[rows][:, :, piece])
        other = fresh.extend(k[ROWS][:, :, piece], v[ROWS][:, :, piece])
    assert (moved.length, one.first) == (fresh.length, other.first)
    assert torch.equal(one.k_BGSD, other.k_BGSD)
    assert torch.equal(one.v_BGSE, other.v_BGSE)


@pytest.mark.parametrize("cache", [Growing(), Static(4), Rolling(4)])
def test_what_was_handed_out_stays_when_rows_move(cache):
    k = tiny.numbers(0, 2, 1, 2, 3)
    held = cache.extend(k, k)
    cache.reorder(torch.tensor([1, 1]))
    cache.extend(k[:, :, :1], k[:, :, :1])
    assert torch.equal(held.k_BGSD, k)


@pytest.mark.parametrize("cache", ["growing", "static"])
@pytest.mark.parametrize("name", [*tiny.DECODERS, *tiny.TRANSLATORS])
def test_a_past_put_in_another_order_is_that_of_those_rows(name, cache):
    network = tiny.made((tiny.DECODERS | tiny.TRANSLATORS)[name])
    ids, after, rows = tiny.ids(2, 3, 6), tiny.ids(3, 5, 3), torch.tensor(ROWS)
    sources = [tiny.ids(1, 3, 7)] * (name in tiny.TRANSLATORS)
    past, wanted = (network.past(cache, capacity=LENGTH) for _ in range(2))
    with torch.no_grad():
        memory = network(*sources, ids, past=past).memory_BSM
        network(*(each[rows] for each in sources), ids[rows], past=wanted)
        past.reorder(rows)
        given = {"memory_BSM": memory[rows]} if sources else {}
        said, alone = (
            network(*(each[rows] for each in sources), after, past=each, **given).hidden_BTM
            for each in (past, wanted)
        )
    assert past.length == wanted.length == 9
    tiny.close(said, alone)
    held = [each.k_BGSD for each in past.memories]
    assert all(len(each) == len(ROWS) for each in held)


def test_a_past_may_move_its_caches_alone():
    network = tiny.made(tiny.TRANSLATORS["encoder-decoder, shared words"])
    past = network.past()
    with torch.no_grad():
        network(tiny.ids(1, 3, 7), tiny.ids(2, 3, 4), past=past)
    before = list(past.memories)
    past.reorder_caches(torch.tensor([0, 2]))
    assert past.memories == before
    assert [len(cache.held.k_BGSD) for cache in past.caches] == [2, 2]


def test_an_empty_cache_has_no_rows_to_move():
    for cache in (Growing(), Static(3), Rolling(3)):
        cache.reorder(torch.tensor([1, 0]))
        assert cache.length == 0


def test_a_rolling_cache_says_where_its_first_key_stands():
    cache, places = Rolling(3), []
    for _ in range(9):
        held = cache.extend(torch.zeros(1, 1, 1, 2), torch.full((1, 1, 1, 2), float(len(places))))
        places.append(held.first)
        assert held.v_BGSE[0, 0, 0, 0] == held.first
    assert places == [0, 0, 0, 1, 2, 3, 4, 5, 6]


def test_every_cache_is_one():
    assert all(isinstance(cache, Cache) for cache in (Growing(), Static(1), Rolling(1)))
    assert [cache.length for cache in (Growing(), Static(1), Rolling(1))] == [0, 0, 0]


def test_a_static_cache_that_is_full_says_how_much_is_needed():
    cache, piece = Static(4), torch.zeros(1, 1, 3, 2)
    held = cache.extend(piece, piece)
    assert isinstance(held, Held)
    with pytest.raises(CannotError, match=r"room for 4 positions and 6 are needed: make it larger"):
        cache.extend(piece, piece)
    assert cache.length == 3


@pytest.mark.parametrize("window", [0, -2])
def test_a_rolling_cache_that_keeps_nothing_is_refused(window):
    with pytest.raises(ConfigError, match=rf"of {window} positions keeps nothing: give 1 or more"):
        Rolling(window)
