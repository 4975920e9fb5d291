"""One seed, many streams, and no global state unless asked."""

import random

import numpy as np
import pytest
import torch

from clearhead.foundation.errors import ConfigError
from clearhead.foundation.seeds import numpy_generator, seed_globally, torch_generator


def draws(seed, purpose):
    numbers = numpy_generator(seed, purpose).random(3).tolist()
    return numbers + torch.rand(3, generator=torch_generator(seed, purpose)).tolist()


def test_the_same_seed_and_purpose_draw_the_same_numbers():
    assert draws(17, "shuffle") == draws(17, "shuffle")


def test_another_seed_or_purpose_draws_others():
    first = draws(17, "shuffle")
    for other in (draws(17, "dropout"), draws(18, "shuffle"), draws(1, "7shuffle")):
        assert not set(first) & set(other)


def test_generators_leave_the_global_streams_alone():
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    draws(17, "shuffle")
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert before == after


def test_seeding_globally_repeats_what_draws_without_a_generator():
    seen = []
    for seed in (3, 3, 4):
        seed_globally(seed)
        seen.append((random.random(), np.random.rand(), torch.rand(()).item()))
    assert seen[0] == seen[1]
    assert not set(seen[0]) & set(seen[2])


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range_is_refused_with_the_range(seed):
    with pytest.raises(
        ConfigError, match=rf"^{seed} cannot be a seed. .* from 0 to {2**63 - 1}\.$"
    ):
        torch_generator(seed, "shuffle")


def test_the_largest_seeds_work():
    assert draws(0, "") != draws(2**63 - 1, "")
