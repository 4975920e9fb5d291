"""Beam search, against its definition in plain loops and against every text there is."""

import math

import pytest
import torch
from doors import unchecked
from hypothesis import given, settings
from hypothesis import strategies as st
from searched import by_hand, every_text
from told import Told

from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.inference.beam import Hypothesis, Search, beam_search
from clearhead.inference.greedy import greedy
from clearhead.inference.lengths import average, gnmt

DIVIDES = [average(), average(0.0), average(2.0), average(-0.5), gnmt(), gnmt(1.0), gnmt(-1.0)]


def same(found: list[Hypothesis], wanted: list) -> None:
    """Sums of a few dozen logarithms in double precision agree far below 1e-9."""
    assert [each.ids for each in found] == [each.ids for each in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-9)
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-9)


searches = st.builds(
    Search,
    stops=st.sampled_from([(), (0,), (3,), (1, 4), (2, 3, 5)]),
    beams=st.integers(1, 7),
    min_tokens=st.integers(0, 2),
    never=st.sampled_from([(), (2,), (0, 1)]),
    divide=st.sampled_from(DIVIDES),
    patience=st.sampled_from(["none", "likely", "sure"]),
)


@settings(max_examples=300)
@given(
    search=searches,
    seed=st.integers(0, 99),
    prompts=st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=1, max_size=4),
    data=st.data(),
)
def test_it_finds_what_plain_loops_find(search, seed, prompts, data):
    limits = [data.draw(st.integers(max(1, search.min_tokens), 8)) for _ in prompts]
    found = beam_search(Told(6, seed), torch.tensor(prompts), search, max_tokens=limits)
    for each, prompt, limit in zip(found, prompts, limits, strict=True):
        same(each, by_hand(Told(6, seed), prompt, search, limit))


@pytest.mark.parametrize("divide", DIVIDES)
@pytest.mark.parametrize("stops", [(), (1,), (0, 2)])
@pytest.mark.parametrize("patience", ["none", "likely", "sure"])
def test_a_beam_as_wide_as_all_finds_every_text_in_order(divide, stops, patience):
    search = Search(stops=stops, beams=3**5, divide=divide, patience=patience)
    (found,) = beam_search(Told(3), torch.tensor([[0, 2]]), search, max_tokens=4)
    same(found, every_text(Told(3), (0, 2), stops, 4, divide))


@pytest.mark.parametrize("divide", DIVIDES)
@pytest.mark.parametrize("seed", range(20))
def test_patience_that_is_sure_misses_nothing_that_more_steps_would_find(divide, seed):
    search = Search(stops=(0,), beams=3, divide=divide, patience="sure")
    (found,) = beam_search(Told(5, seed), torch.tensor([[1]]), search, max_tokens=9)
    same(found, to_the_end(Told(5, seed), (1,), search, 9))


def to_the_end(model: Told, prompt: tuple[int, ...], search: Search, limit: int) -> list:
    """The same beams without a rule to stop: one at a time, all ends kept, the best of them."""
    ended: list = []
    live: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while live:
        grown = sorted(
            (log_p + more, (*ids, token))
            for log_p, ids in live
            for token, more in enumerate(
                torch.tensor(model.scores((*prompt, *ids)), dtype=torch.float64)
                .log_softmax(0)
                .tolist()
            )
        )[::-1]
        at_end = [len(ids) == limit or ids[-1] in search.stops for _, ids in grown]
        for (log_p, ids), over in list(zip(grown, at_end, strict=True))[: search.beams]:
            if over:
                text = ids[:-1] if ids[-1] in search.stops else ids
                score = log_p / search.divide(len(ids))
                ended.append(Hypothesis(ids=text, score=score, log_probability=log_p))
        live = [each for each, over in zip(grown, at_end, strict=True) if not over][: search.beams]
    return sorted(ended, key=lambda each: -each.score)[: search.beams]


@given(
    seed=st.integers(0, 30),
    size=st.integers(1, 5),
    most=st.integers(1, 9),
    patience=st.sampled_from(["none", "likely", "sure"]),
)
def test_one_beam_without_patience_is_greedy(seed, size, most, patience):
    prompts = torch.arange(size)[:, None]
    search = Search(stops=(3,), beams=1, divide=average(0.0), patience=patience)
    found = beam_search(Told(6, seed), prompts, search, max_tokens=most)
    wanted = greedy(Told(6, seed), prompts, max_tokens=most, stops=(3,))
    if patience == "none":
        assert [list(best.ids) for (best,) in found] == wanted
    assert all(len(each) == 1 for each in found)


def test_each_step_is_given_the_newest_ids_and_whom_they_continue():
    step = Told(6, 1)
    prompts = torch.tensor([[0, 1], [2, 3], [4, 5]])
    search = Search(stops=(), beams=2)
    found = beam_search(step, prompts, search, max_tokens=[2, 6, 3])
    assert step.fed[0] == (prompts.tolist(), None)
    assert step.fed[1][1] == [0, 0, 1, 1, 2, 2]
    assert [len(newest) for newest, _ in step.fed] == [3, 6, 4, 2, 2, 2]  # ended texts leave
    assert all(len(tokens) == 1 for newest, _ in step.fed[1:] for tokens in newest)
    assert [len(each) for each in found] == [2, 2, 2]


def test_neighbours_change_nothing():
    prompts = torch.tensor([[0, 1], [2, 3], [4, 5], [1, 1]])
    search, limits = Search(stops=(0, 3), beams=3), [9, 2, 5, 7]
    together = beam_search(Told(6), prompts, search, max_tokens=limits)
    for row, limit in enumerate(limits):
        alone = beam_search(Told(6), prompts[row : row + 1], search, max_tokens=limit)
        assert alone == [together[row]]


def test_no_prompts_are_no_steps():
    step = Told(6)
    nothing = torch.zeros(0, 1, dtype=torch.long)
    assert beam_search(step, nothing, Search(stops=(0,)), max_tokens=3) == []
    assert step.fed == []


def level(count: int):
    """A step to which everything is as likely."""
    return lambda newest_BT, rows: torch.zeros(len(newest_BT), count)


@pytest.mark.parametrize("vocabulary", [7, 3000])
def test_of_what_is_as_likely_the_better_beam_and_the_lower_id_go_first(vocabulary):
    search = Search(stops=(), beams=4)
    (found,) = beam_search(level(vocabulary), torch.tensor([[0]]), search, max_tokens=3)
    assert [each.ids for each in found] == [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3)]
    search = Search(stops=(1,), beams=3, never=(0,), divide=average(0.0))
    (found,) = beam_search(level(vocabulary), torch.tensor([[0]]), search, max_tokens=3)
    assert [each.ids for each in found] == [(), (2,), (2, 2)]


def test_the_end_is_no_part_of_a_text_and_counts_for_its_length():
    def step(newest_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        return torch.tensor([[0.0, 0.0]]).expand(len(newest_BT), 2)

    for divide, by in ((average(), 2.0), (average(0.5), 2**0.5), (gnmt(), (7 / 6) ** 0.6)):
        search = Search(stops=(1,), beams=8, divide=divide)
        (found,) = beam_search(step, torch.tensor([[0]]), search, max_tokens=3)
        (one,) = [each for each in found if each.ids == (0,)]
        assert one.log_probability == pytest.approx(2 * math.log(0.5))
        assert one.score == pytest.approx(2 * math.log(0.5) / by)
        assert sorted(each.ids for each in found) == [(), (0,), (0, 0), (0, 0, 0)]


def test_scores_in_half_precision_are_added_in_more():
    def step(newest_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        return torch.tensor([[1.0, 3.0]], dtype=torch.bfloat16).expand(len(newest_BT), 2)

    (found,) = beam_search(step, torch.tensor([[0]]), Search(stops=(), beams=1), max_tokens=40)
    wanted = 40 * (3.0 - math.log(math.exp(1.0) + math.exp(3.0)))
    assert found[0].log_probability == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beams": 0}, r"A search with 0 beams finds nothing: give 1 or more"),
        ({"min_tokens": -1}, r"cannot have -1 tokens at least: give 0 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        Search(stops=(), **settings)


@pytest.mark.parametrize("alpha", [11, -10.5, math.inf, math.nan])
@pytest.mark.parametrize("divide", [average, gnmt])
def test_an_alpha_beyond_all_sense_is_refused(divide, alpha):
    with unchecked(), pytest.raises(ConfigError, match=r"An alpha of .*: give a number from -10"):
        divide(alpha)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (0, r"may have 0 tokens at most and needs 1 at least: give a larger max_tokens"),
        ([3, 2], r"may have 2 tokens at most and needs 3 at least"),
        ([3], r"There are 1 numbers of tokens for 2 prompts: give one for each, or one number"),
    ],
)
def test_lengths_that_cannot_be_are_refused(limits, message):
    search = Search(stops=(0,), min_tokens=3 if isinstance(limits, list) else 0)
    with pytest.raises(InputError, match=message):
        beam_search(Told(4), torch.tensor([[1], [2]]), search, max_tokens=limits)


@pytest.mark.parametrize("scores", [math.nan, -math.inf])
def test_scores_that_are_not_numbers_are_answered_with_a_sentence(scores):
    def step(newest_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        return torch.full((len(newest_BT), 4), scores)

    with pytest.raises(CannotError, match=r"No text has any probability: the scores .* weights"):
        beam_search(step, torch.tensor([[0]]), Search(stops=(0,)), max_tokens=3)


def test_everything_forbidden_is_answered_with_a_sentence():
    search = Search(stops=(0,), never=range(9))
    with pytest.raises(CannotError, match=r"every token is forbidden"):
        beam_search(Told(4), torch.tensor([[0]]), search, max_tokens=3)
