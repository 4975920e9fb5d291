"""Batches: every example once an epoch, no batch too large, and the same from any position."""

from itertools import pairwise

import numpy as np
import pytest

from clearhead.data import Batches, Position, open_store, write_store
from clearhead.data.order import Order
from clearhead.foundation.errors import ConfigError, InputError


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 65, 1000, 4097])
def test_an_order_has_every_number_once(count):
    found = Order(count, 5, 0).at(np.arange(count))
    assert sorted(found.tolist()) == list(range(count))


def test_orders_differ_by_seed_and_epoch_and_look_like_chance():
    orders = [Order(1000, seed, epoch).at(np.arange(1000)) for seed in (1, 2) for epoch in (0, 1)]
    for one, other in pairwise(orders):
        # Two shuffles agree in one place on average, in ten hardly ever.
        assert (one == other).sum() < 10
    steps = np.diff(orders[0])
    assert (steps == 1).sum() < 10
    # The mean distance of a number from its place is a third of all in a fair shuffle.
    assert abs(np.abs(orders[0] - np.arange(1000)).mean() - 1000 / 3) < 30


def test_any_place_is_known_without_the_others():
    order = Order(10**12, 3, 7)
    places = np.array([0, 5, 10**12 - 1])
    assert order.at(places[1:2]).tolist() == order.at(places).tolist()[1:2]
    assert (order.at(places) < 10**12).all()


@pytest.fixture
def stored(tmp_path):
    draw = np.random.default_rng(0)
    sizes = draw.integers(1, 30, (500, 2))
    examples = ([[number] * one, [number] * two] for number, (one, two) in enumerate(sizes))
    write_store(tmp_path / "train.arrow", ("source", "target"), examples)
    return open_store(tmp_path / "train.arrow")


def epoch_of(batches, epoch):
    position, found = Position(epoch=epoch), []
    while position.epoch == epoch:
        numbers, position = batches.at(position)
        found.append(numbers)
    return found


@pytest.mark.parametrize("pool", [64, 10_000])
def test_an_epoch_has_every_example_once_and_no_batch_is_too_large(stored, pool):
    batches = Batches(stored, tokens=100, seed=1, pool=pool)
    first, second = epoch_of(batches, 0), epoch_of(batches, 1)
    for cut in (first, second):
        assert sorted(np.concatenate(cut).tolist()) == list(range(500))
        for numbers in cut:
            assert len(numbers) * stored.lengths(numbers).max() <= 100
    assert [len(cut) for cut in first[:20]] != [len(cut) for cut in second[:20]]


def test_batches_are_nearly_full_and_mixed(stored):
    cut = epoch_of(Batches(stored, tokens=300, seed=1), 0)
    sizes = [len(numbers) * stored.lengths(numbers).max() for numbers in cut]
    assert np.mean(sizes) > 0.8 * 300
    longest = [stored.lengths(numbers).max() for numbers in cut]
    assert longest != sorted(longest)


@pytest.mark.parametrize("pool", [64, 10_000])
def test_from_any_position_the_rest_is_the_same(stored, pool):
    position, positions, found = Position(), [], []
    batches = Batches(stored, tokens=100, seed=1, pool=pool)
    for _ in range(200):
        positions.append(position)
        numbers, position = batches.at(position)
        found.append(numbers.tolist())
    assert positions[-1].epoch >= 1
    for start in (0, 1, 60, 190):
        again, position = Batches(stored, tokens=100, seed=1, pool=pool), positions[start]
        for numbers in found[start : start + 60]:
            got, position = again.at(position)
            assert got.tolist() == numbers
    other = Batches(stored, tokens=100, seed=2, pool=pool)
    assert other.at(Position())[0].tolist() != found[0]


def test_measuring_takes_every_example_once(stored):
    cut = list(Batches(stored, tokens=100, seed=1, pool=64).once())
    assert sorted(np.concatenate(cut).tolist()) == list(range(500))


def test_an_example_longer_than_a_batch_and_no_examples_are_refused(stored, tmp_path):
    with pytest.raises(ConfigError, match=r"has 29 tokens and a batch may have 20: raise train"):
        Batches(stored, tokens=20, seed=1).at(Position())
    write_store(tmp_path / "none.arrow", ("source", "target"), [])
    with pytest.raises(InputError, match=r"no examples to make batches of"):
        Batches(open_store(tmp_path / "none.arrow"), tokens=20, seed=1)
