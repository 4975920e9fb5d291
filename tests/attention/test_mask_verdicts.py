"""What a rule says without looking at its pairs must be true of its pairs."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.attention import (
    Blocks,
    Causal,
    Documents,
    Everything,
    Given,
    Global,
    Mask,
    Padding,
    Prefix,
    Window,
)
from clearhead.attention.masks import Once, grid, tile_verdict

CPU = torch.device("cpu")
BATCH = 2
LONGEST = 9


# A rule that is yet to be made: what is drawn is only the recipe, because the doors of the rules
# themselves are checked at random places, and Hypothesis minds.
Recipe = Callable[[], Mask]


def numbers(*, rows: int, length: int, most: int) -> st.SearchStrategy[torch.Tensor]:
    row = st.lists(st.integers(0, most), min_size=length, max_size=length)
    return st.lists(row, min_size=rows, max_size=rows).map(torch.tensor)


@st.composite
def simple_rules(draw, queries: int, keys: int, first: int) -> Recipe:
    """One rule that fits these sizes."""
    reach, end = st.none() | st.integers(0, LONGEST), first + keys
    lengths = st.none() | numbers(rows=1, length=BATCH, most=end).map(lambda x: x[0])
    kinds = [
        st.sampled_from([Everything, Causal]),
        st.builds(partial, st.just(Window), left=reach, right=reach),
        st.builds(partial, st.just(Padding), lengths_B=lengths, starts_B=lengths),
        st.builds(partial, st.just(Prefix), st.integers(0, end)),
        st.lists(st.integers(0, LONGEST), max_size=3).map(lambda at: partial(Global, tuple(at))),
    ]
    if 0 < queries <= end:
        ids = numbers(rows=BATCH, length=end, most=3)
        own = numbers(rows=BATCH, length=queries, most=3)
        layout = numbers(rows=4, length=4, most=1).map(torch.Tensor.bool)
        kinds += [
            st.builds(partial, st.just(Documents), columns_BS=ids, rows_BT=st.none() | own),
            ids.map(lambda x: partial(Documents, x.sort(1).values)),
            layout.map(lambda table: partial(Blocks.of, table, size=-(-2 * LONGEST // 4))),
        ]
    if queries and keys and not first:
        pairs = numbers(rows=queries, length=keys, most=1)
        kinds.append(pairs.map(lambda table: partial(Given, table.bool()[None])))
    return draw(st.one_of(kinds))


@st.composite
def rules_in_place(draw) -> tuple[Recipe, int, int, int]:
    """A rule of rules, and the queries, keys and first position it is used with."""
    queries, keys = draw(st.integers(0, LONGEST)), draw(st.integers(0, LONGEST))
    first = draw(st.sampled_from([0, 0, 4]))
    mask = st.recursive(
        simple_rules(queries, keys, first),
        lambda inner: st.one_of(
            st.builds(lambda one, two: lambda: one() & two(), inner, inner),
            st.builds(lambda one, two: lambda: one() | two(), inner, inner),
            inner.map(lambda rule: lambda: ~rule()),
            inner.map(lambda rule: lambda: Once(rule())),
        ),
        max_leaves=4,
    )
    return draw(mask), queries, keys, first


def drawn(recipe: Recipe, queries: int, keys: int, first: int) -> tuple[Mask, torch.Tensor]:
    """The rule, and every pair of every example."""
    mask = recipe()
    mask.check(BATCH, queries, keys, first)
    allowed = grid(mask, batch=BATCH, queries=queries, keys=keys, first=first, device=CPU)
    return mask, allowed.expand(BATCH, queries, keys)


@given(place=rules_in_place(), height=st.integers(1, 5), width=st.integers(1, 5))
def test_a_tile_said_to_be_empty_is_empty_and_one_said_to_be_full_is_full(place, height, width):
    _, queries, keys, first = place
    if not queries or not keys:
        return  # no tile to judge
    mask, allowed = drawn(*place)
    verdict = tile_verdict(
        mask,
        batch=BATCH,
        queries=queries,
        keys=keys,
        first=first,
        size=(height, width),
        device=CPU,
    )
    some, every = (said.expand(BATCH, -1, -1) for said in (verdict.some, verdict.every))
    assert some.shape == (BATCH, -(-queries // height), -(-keys // width))
    for row in range(some.shape[1]):
        for column in range(some.shape[2]):
            tile = allowed[
                :, row * height : (row + 1) * height, column * width : (column + 1) * width
            ]
            assert not tile[~some[:, row, column]].any()
            assert tile[every[:, row, column]].all()


@given(place=rules_in_place())
def test_a_rule_that_says_it_is_full_or_causal_is_exactly_that(place):
    _, queries, keys, _ = place
    mask, allowed = drawn(*place)
    kind = mask.kind(queries, keys)
    if kind == "full":
        assert allowed.all()
    if kind == "causal":
        assert queries == keys
        assert torch.equal(allowed, torch.ones(BATCH, queries, keys).tril().bool())


@given(place=rules_in_place())
def test_density_is_never_less_than_the_share_of_pairs_allowed(place):
    _, queries, keys, _ = place
    mask, allowed = drawn(*place)
    if allowed.numel():
        assert allowed.double().mean().item() <= mask.density(queries, keys) + 1e-12
    assert 0 <= mask.density(queries, keys) <= 1


@given(place=rules_in_place())
def test_a_rule_that_is_the_same_for_all_examples_says_so(place):
    mask, allowed = drawn(*place)
    assert mask.batched or torch.equal(allowed[0], allowed[1])


KNOWN = {
    "everything": (Everything(), 3, 8, "full"),
    "causal over all": (Causal(), 8, 8, "causal"),
    "causal, one query": (Causal(), 1, 8, "full"),
    "causal, some queries": (Causal(), 3, 8, None),
    "causal, one pair": (Causal(), 1, 1, "full"),
    "causal by another name": (Window(None, 0), 8, 8, "causal"),
    "a window over all": (Window(7, 7), 8, 8, "full"),
    "a causal window over all": (Window(7, 0), 8, 8, "causal"),
    "a window over all for the last queries": (Window(7, 2), 3, 8, "full"),
    "a window too short by one to the left": (Window(6, 7), 8, 8, None),
    "a window too short by one to the right": (Window(7, 6), 8, 8, None),
    "causal and full": (Causal() & Everything(), 8, 8, "causal"),
    "causal and a window over all": (Window(9, 9) & Causal(), 8, 8, "causal"),
    "causal and causal": (Causal() & Causal(), 8, 8, "causal"),
    "causal or causal": (Causal() | Window(9, 0), 8, 8, "causal"),
    "causal or full": (Causal() | Everything(), 8, 8, "full"),
    "causal or a prefix": (Causal() | Prefix(2), 8, 8, None),
    "causal and padding": (Causal() & Padding(torch.tensor([3])), 8, 8, None),
    "remembered": (Once(Causal()), 8, 8, "causal"),
    "not": (~Causal(), 8, 8, None),
}


@pytest.mark.parametrize("case", KNOWN)
def test_known_kinds_are_recognised(case):
    mask, queries, keys, kind = KNOWN[case]
    assert mask.kind(queries, keys) == kind


SPARSE = {
    "window": (Window(64, 63), 1 / 8),
    "causal window": (Causal() & Window(127, None), 1 / 8),
    "window and padding": (Window(64, 63) & Padding(torch.tensor([3])), 1 / 8),
    "prefix": (Prefix(512), 1 / 2),
    "documents": (Documents.packed([256] * 4), 1 / 4),
    "global": (Global((0, 9)), 4 / 1024),
    "longformer": (Window(64, 63) | Global((0, 9)), 1 / 8 + 4 / 1024),
    "blocks": (Blocks.of(torch.eye(16, dtype=torch.bool), size=64), 1 / 16),
    "remembered": (Once(Window(64, 63)), 1 / 8),
}


@pytest.mark.parametrize("case", SPARSE)
def test_sparse_rules_know_how_sparse_they_are(case):
    mask, share = SPARSE[case]
    assert mask.density(1024, 1024) == pytest.approx(share)
