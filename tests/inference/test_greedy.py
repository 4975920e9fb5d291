"""Greedy search, against a table of what follows what."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from clearhead.inference.greedy import greedy

FOLLOWS = {0: 3, 3: 2, 2: 4, 4: 1, 1: 0}


def chain(fed: list[list[int]]):
    """A step that scores highest what the table says, and notes what it was given."""

    def step(ids_BT: torch.Tensor) -> torch.Tensor:
        fed.append(ids_BT[0].tolist())
        scores = torch.zeros(1, 5)
        scores[0, FOLLOWS[int(ids_BT[0, -1])]] = 1.0
        return scores

    return step


def test_each_step_is_given_the_newest_ids_alone():
    fed: list[list[int]] = []
    found = greedy(chain(fed), torch.tensor([[2, 2, 0]]), max_tokens=4, stops=())
    assert found == [3, 2, 4, 1]
    assert fed == [[2, 2, 0], [3], [2], [4]]


def test_it_ends_before_the_first_stop():
    assert greedy(chain([]), torch.tensor([[0]]), max_tokens=9, stops=(9, 4)) == [3, 2]
    assert greedy(chain([]), torch.tensor([[2]]), max_tokens=9, stops=(4,)) == []


def test_no_tokens_asked_for_are_no_steps():
    fed: list[list[int]] = []
    assert greedy(chain(fed), torch.tensor([[0]]), max_tokens=0, stops=()) == []
    assert fed == []


@given(start=st.sampled_from(sorted(FOLLOWS)), most=st.integers(0, 12), stop=st.integers(0, 6))
def test_it_follows_the_table(start, most, stop):
    wanted, now = [], start
    for _ in range(most):
        now = FOLLOWS[now]
        if now == stop:
            break
        wanted.append(now)
    assert greedy(chain([]), torch.tensor([[start]]), max_tokens=most, stops=(stop,)) == wanted


def test_nothing_is_kept_for_a_gradient():
    weight = torch.ones(1, 3, requires_grad=True)
    seen = []

    def step(ids_BT: torch.Tensor) -> torch.Tensor:
        scores = weight * len(ids_BT)
        seen.append(scores.requires_grad)
        return scores

    greedy(step, torch.tensor([[0]]), max_tokens=2, stops=())
    assert seen == [False, False]
