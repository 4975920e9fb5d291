"""Greedy search, against a table of what follows what."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st
from told import Told

from clearhead.inference.greedy import greedy
from clearhead.inference.step import Step

FOLLOWS = {0: 3, 3: 2, 2: 4, 4: 1, 1: 0}


def chain(fed: list[list[list[int]]]):
    """A step that scores highest what the table says, and notes what it was given."""

    def step(ids_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        fed.append(ids_BT.tolist())
        scores = torch.zeros(len(ids_BT), 5)
        for row, ids in enumerate(ids_BT.tolist()):
            scores[row, FOLLOWS[ids[-1]]] = 1.0
        return scores

    return step


def test_each_step_is_given_the_newest_ids_alone():
    fed: list[list[list[int]]] = []
    found = greedy(chain(fed), torch.tensor([[2, 2, 0]]), max_tokens=4, stops=())
    assert found == [[3, 2, 4, 1]]
    assert fed == [[[2, 2, 0]], [[3]], [[2]], [[4]]]


def test_it_ends_before_the_first_stop():
    assert greedy(chain([]), torch.tensor([[0]]), max_tokens=9, stops=(9, 4)) == [[3, 2]]
    assert greedy(chain([]), torch.tensor([[2]]), max_tokens=9, stops=(4,)) == [[]]


def test_no_tokens_asked_for_are_no_steps():
    fed: list[list[list[int]]] = []
    assert greedy(chain(fed), torch.tensor([[0], [1]]), max_tokens=0, stops=()) == [[], []]
    assert greedy(chain(fed), torch.zeros(0, 2, dtype=torch.long), max_tokens=3, stops=()) == []
    assert fed == []


@given(
    starts=st.lists(st.sampled_from(sorted(FOLLOWS)), min_size=1, max_size=6),
    most=st.integers(0, 12),
    stop=st.integers(0, 6),
)
def test_it_follows_the_table(starts, most, stop):
    wanted = []
    for start in starts:
        found, now = [], start
        while len(found) < most and (now := FOLLOWS[now]) != stop:
            found.append(now)
        wanted.append(found)
    prompts = torch.tensor([[start] for start in starts])
    assert greedy(chain([]), prompts, max_tokens=most, stops=(stop,)) == wanted


def test_a_text_that_has_ended_leaves_the_batch_and_the_order_is_kept():
    step = Told(5)
    prompts = torch.tensor([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])
    found = greedy(step, prompts, max_tokens=8, stops=(0, 3))
    alone = [greedy(Told(5), row[None], max_tokens=8, stops=(0, 3))[0] for row in prompts]
    assert found == alone
    assert len({len(ids) for ids in found}) > 2
    sizes = [len(newest) for newest, _ in step.fed]
    assert sizes == [
        5,
        *(sum(len(ids) >= length for ids in found) for length in range(1, len(sizes))),
    ]
    told = [rows for _, rows in step.fed]
    shrunk = [now < before for before, now in pairwise(sizes)]
    assert told[0] is None
    assert [rows is not None for rows in told[1:]] == shrunk


def test_what_it_asks_is_a_step():
    assert isinstance(Told(5), Step)


def test_nothing_is_kept_for_a_gradient():
    weight = torch.ones(1, 3, requires_grad=True)
    seen = []

    def step(ids_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        scores = weight * len(ids_BT)
        seen.append(scores.requires_grad)
        return scores

    greedy(step, torch.tensor([[0]]), max_tokens=2, stops=())
    assert seen == [False, False]
