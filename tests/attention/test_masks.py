"""Masks against their rule in plain Python, pair by pair. (Kernels share them: no judges.)"""

from itertools import product

import pytest
import torch

from clearhead.attention import (
    Blocks,
    Causal,
    Documents,
    Everything,
    Given,
    Global,
    Padding,
    Prefix,
    Window,
)
from clearhead.attention.masks import Once, grid, tile_verdict

CPU = torch.device("cpu")
POSITIONS = 12  # no query or key of these tests stands beyond
LAYOUT = ((1, 0, 0), (0, 1, 1), (1, 1, 0))
IDS = ((0, 0, 3, 3, 1, 1, 1, 0, 2, 2, 2, 2), (0, 1) * 6)
ROW_IDS = ((0, 1, 1, 2), (2, 2, 0, 0))
TABLE = torch.rand(2, 4, 9, generator=torch.Generator().manual_seed(0)) < 0.5

# Every rule, and the same said of one pair: (example, query position, key position).
RULES = {
    "everything": (Everything(), lambda b, row, col: True),
    "causal": (Causal(), lambda b, row, col: col <= row),
    "window": (Window(3, 1), lambda b, row, col: row - 3 <= col <= row + 1),
    "window left": (Window(2, None), lambda b, row, col: row - 2 <= col),
    "window right": (Window(None, 2), lambda b, row, col: col <= row + 2),
    "window of all": (Window(None, None), lambda b, row, col: True),
    "window of itself": (Window(0, 0), lambda b, row, col: col == row),
    "padding right": (
        Padding(lengths_B=torch.tensor([3, 7])),
        lambda b, row, col: col < (3, 7)[b],
    ),
    "padding left": (
        Padding(starts_B=torch.tensor([4, 0])),
        lambda b, row, col: col >= (4, 0)[b],
    ),
    "padding both": (
        Padding(lengths_B=torch.tensor([8, 5]), starts_B=torch.tensor([2, 5])),
        lambda b, row, col: (2, 5)[b] <= col < (8, 5)[b],
    ),
    "padding of nothing": (Padding(), lambda b, row, col: True),
    "prefix": (Prefix(3), lambda b, row, col: col < 3),
    "prefix of nothing": (Prefix(0), lambda b, row, col: False),
    "global": (Global((1, 5, 6)), lambda b, row, col: row in (1, 5, 6) or col in (1, 5, 6)),
    "global, none": (Global(()), lambda b, row, col: False),
    "documents": (
        Documents(torch.tensor(IDS)),
        lambda b, row, col: IDS[b][row] == IDS[b][col],
    ),
    "blocks": (
        Blocks.of(torch.tensor(LAYOUT, dtype=torch.bool), size=4),
        lambda b, row, col: bool(LAYOUT[row // 4][col // 4]),
    ),
    "and": (Causal() & Window(2, 2), lambda b, row, col: row - 2 <= col <= row),
    "or": (Causal() | Prefix(4), lambda b, row, col: col <= row or col < 4),
    "not": (~Window(1, 1), lambda b, row, col: abs(row - col) > 1),
    "not, of examples": (
        ~Padding(lengths_B=torch.tensor([3, 7])),
        lambda b, row, col: col >= (3, 7)[b],
    ),
    "longformer": (
        Window(1, 1) | Global((0, 8)),
        lambda b, row, col: abs(row - col) <= 1 or row in (0, 8) or col in (0, 8),
    ),
    "bigbird": (
        Window(1, 1) | Global((0,)) | Blocks.of(torch.tensor(LAYOUT, dtype=torch.bool), size=4),
        lambda b, row, col: (
            abs(row - col) <= 1 or row == 0 or col == 0 or bool(LAYOUT[row // 4][col // 4])
        ),
    ),
    "remembered": (Once(Causal()), lambda b, row, col: col <= row),
}
# (queries, keys, first): square, fewer queries, one, a later start, one pair
PLACES = [(9, 9, 0), (4, 9, 0), (1, 9, 0), (3, 5, 4), (9, 9, 3), (1, 1, 0), (1, 1, 6)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("queries", "keys", "first"), PLACES)
def test_a_grid_is_the_rule_pair_by_pair(rule, queries, keys, first):
    mask, may_look = RULES[rule]
    allowed_BTS = grid(mask, batch=2, queries=queries, keys=keys, first=first, device=CPU)
    assert allowed_BTS.shape == (2 if mask.batched else 1, queries, keys)
    assert allowed_BTS.dtype == torch.bool
    rows = range(first + keys - queries, first + keys)
    for example in range(2):
        found = allowed_BTS[example if mask.batched else 0].tolist()
        assert found == [
            [may_look(example, row, col) for col in range(first, first + keys)] for row in rows
        ]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("queries", "keys", "first"), PLACES)
def test_tiles_are_judged_as_their_pairs_would_be(rule, queries, keys, first):
    """Exactly, where a tile is one pair; where it is more, `some` and `every` are never wrong."""
    mask, place = RULES[rule][0], {"queries": queries, "keys": keys, "first": first}
    allowed = grid(mask, batch=2, device=CPU, **place)
    for height, width in ((1, 1), (1, 3), (2, 2), (4, 3), (3, 5)):
        verdict = tile_verdict(mask, batch=2, size=(height, width), device=CPU, **place)
        if height == width == 1:
            assert torch.equal(verdict.some, allowed)
            assert torch.equal(verdict.every, allowed)
        for row, column in product(range(-(-queries // height)), range(-(-keys // width))):
            tile = allowed[
                :, row * height : (row + 1) * height, column * width : (column + 1) * width
            ]
            assert not tile[~verdict.some[:, row, column]].any()
            assert tile[verdict.every[:, row, column]].all()


@pytest.mark.parametrize("rule", ["everything", "causal", "window", "padding both", "or", "not"])
def test_queries_before_the_first_key_follow_the_same_rule(rule):
    mask, may_look = RULES[rule]
    allowed_BTS = grid(mask, batch=2, queries=5, keys=3, device=CPU)
    for example in range(2):
        assert allowed_BTS[example if mask.batched else 0].tolist() == [
            [may_look(example, row, col) for col in range(3)] for row in range(-2, 3)
        ]


def test_a_mask_written_out_is_taken_pair_by_pair():
    each = grid(Given(TABLE), batch=2, queries=4, keys=9, device=CPU)
    assert torch.equal(each, TABLE)
    one = grid(Given(TABLE[:1]), batch=2, queries=4, keys=9, device=CPU)
    assert torch.equal(one, TABLE[:1])


def test_documents_with_queries_of_their_own_are_numbered_from_their_first_query():
    mask = Documents(torch.tensor(IDS)[:, :9], rows_BT=torch.tensor(ROW_IDS))
    allowed_BTS = grid(mask, batch=2, queries=4, keys=9, device=CPU)
    for example in range(2):
        assert allowed_BTS[example].tolist() == [
            [ROW_IDS[example][row] == IDS[example][col] for col in range(9)] for row in range(4)
        ]
    last = grid(mask, batch=2, queries=2, keys=9, device=CPU)
    assert torch.equal(last, allowed_BTS[:, 2:])


def test_packed_documents_see_their_own_memory():
    mask = Documents.packed([2, 1, 3], [1, 0, 4])
    of_query, of_key = [0, 0, 1, 2, 2, 2], [0, 2, 2, 2, 2]
    found = grid(mask, batch=1, queries=6, keys=5, device=CPU)[0].tolist()
    assert found == [[row == col for col in of_key] for row in of_query]


def test_packed_documents_are_laid_side_by_side():
    found = grid(Documents.packed([2, 3]), batch=1, queries=5, keys=5, device=CPU)[0]
    first, second = torch.ones(2, 2), torch.ones(3, 3)
    assert torch.equal(found, torch.block_diag(first, second).bool())


def test_scattered_blocks_give_every_row_as_many_blocks_as_asked_and_the_same_every_time():
    def scattered(seed: int) -> torch.Tensor:
        draw = torch.Generator().manual_seed(seed)
        return Blocks.scattered(8, each=3, size=2, draw=draw).layout_RC

    assert scattered(0).sum(1).tolist() == [3] * 8
    assert torch.equal(scattered(0), scattered(0))
    assert not torch.equal(scattered(0), scattered(1))


def test_two_windows_together_are_a_window():
    narrow = Causal() & Window(5, None)
    assert isinstance(narrow, Window)
    assert (narrow.left, narrow.right) == (5, 0)
    assert (Window(3, 9) & Window(4, 2)) == Window(3, 2)


def test_a_rule_is_remembered_for_each_place_it_is_used_in():
    mask = Once(Padding(lengths_B=torch.tensor([1, 4])))
    one = grid(mask, batch=2, queries=3, keys=5, device=CPU)
    assert grid(mask, batch=2, queries=3, keys=5, device=CPU) is one
    for other in ({"queries": 2}, {"keys": 4}, {"first": 1}):
        place = {"queries": 3, "keys": 5, "first": 0} | other
        fresh = grid(Padding(lengths_B=torch.tensor([1, 4])), batch=2, device=CPU, **place)
        assert torch.equal(grid(mask, batch=2, device=CPU, **place), fresh)


def test_what_is_known_of_its_tiles_is_remembered_too():
    mask, place = Once(Window(2, 0)), {"batch": 1, "queries": 9, "keys": 9, "device": CPU}
    known = tile_verdict(mask, first=0, size=(3, 3), **place)
    assert tile_verdict(mask, first=0, size=(3, 3), **place) is known
    assert tile_verdict(mask, first=0, size=(3, 4), **place).some.shape == (1, 3, 3)
    fresh = tile_verdict(Window(2, 0), first=0, size=(3, 3), **place)
    assert torch.equal(known.some, fresh.some)
    assert torch.equal(known.every, fresh.every)


def test_a_causal_rule_says_so():
    assert repr(Causal()) == "Causal()"
    assert Causal().is_causal
    assert Window(None, 0).is_causal
    assert not Window(3, 0).is_causal
