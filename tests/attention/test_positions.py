"""Every way to say where a token stands, against the paper's formula or the published code."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.t5.modeling_t5 import T5Attention

from clearhead.attention.bias import Table as BucketTable
from clearhead.attention.positions import Learned, Linear, Llama3, Rotary, Sinusoidal
from clearhead.attention.positions.alibi import slopes
from clearhead.attention.positions.learned import Table
from clearhead.attention.positions.rotary import speeds, turn_at
from clearhead.attention.positions.sinusoidal import Waves
from clearhead.foundation.errors import ConfigError, InputError

U = torch.finfo(torch.float32).eps / 2  # the largest relative error of one rounding
ROUNDED = U + 1e-10  # a wave in float64, stored in float32


def in_the_paper(position: int, width: int, base: float) -> list[float]:
    """Section 3.5, one number at a time."""
    angles = [position / base ** ((column - column % 2) / width) for column in range(width)]
    return [
        math.cos(angle) if column % 2 else math.sin(angle) for column, angle in enumerate(angles)
    ]


@pytest.mark.parametrize("width", [1, 2, 7, 16, 33])
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_waves_are_those_of_the_paper(width, base):
    places = [0, 1, 2, 3, 17, 511, 512, 513, 4999]
    found = Waves(Sinusoidal(base=base), width)(torch.tensor(places), max(places) + 1)
    wanted = torch.tensor([in_the_paper(place, width, base) for place in places]).double()
    assert found.dtype == torch.float32
    assert (found.double() - wanted).abs().max() <= ROUNDED


@pytest.mark.parametrize("width", [2, 7, 16, 33])
def test_waves_in_halves_are_those_of_marian(width):
    theirs = MarianSinusoidalPositionalEmbedding(600, width).create_weight()
    ours = Waves(Sinusoidal(layout="halves"), width)(torch.arange(600), 600)
    assert (ours - theirs).abs().max() <= 2 * ROUNDED


def test_waves_go_on_beyond_the_table_they_began_with():
    waves = Waves(Sinusoidal(), 16)
    early = waves(torch.arange(4), 4)
    late = waves(torch.tensor([[700, 512], [1300, 0]]), 1301)
    assert late.shape == (2, 2, 16)
    wanted = torch.tensor([in_the_paper(place, 16, 10000.0) for place in (700, 512, 1300, 0)])
    torch.testing.assert_close(late.flatten(0, 1), wanted, atol=ROUNDED, rtol=0)
    assert torch.equal(waves(torch.arange(4), 4), early)


def test_waves_are_worked_out_once_and_kept():
    waves = Waves(Sinusoidal(), 16)
    waves(torch.arange(4), 4)
    table = waves.table_TM
    waves(torch.arange(400), 400)
    assert waves.table_TM is table


def test_waves_found_without_gradients_serve_training_later():
    waves, weight = Waves(Sinusoidal(), 4), torch.ones(4, requires_grad=True)
    with torch.inference_mode():
        waves(torch.arange(3), 3)
    (waves(torch.arange(3), 3) * weight).sum().backward()
    assert weight.grad is not None


def test_waves_of_a_model_made_for_a_length_stop_there():
    waves = Waves(Sinusoidal(length=6), 4)
    assert waves(torch.arange(6), 6).shape == (6, 4)
    with pytest.raises(InputError, match=r"reaches position 7 .* made for 6: shorten .* 6 tokens"):
        waves(torch.arange(7), 7)


@pytest.mark.parametrize("offset", [0, 2])
def test_a_learned_position_is_its_row_below_the_offset(offset):
    table = Table(Learned(length=5, offset=offset), 3)
    assert table.weight.shape == (5 + offset, 3)
    found = table(torch.tensor([[4, 0, 3]]), 5)
    assert torch.equal(found[0], table.weight[[4 + offset, offset, 3 + offset]])


def test_a_text_longer_than_the_learned_positions_is_refused():
    table = Table(Learned(length=5, offset=2), 3)
    with pytest.raises(InputError, match=r"reaches position 6 .* 5 positions: shorten .* 5 tokens"):
        table(torch.arange(6), 6)


WIDTH, HEADS, LENGTH = 8, 2, 300
ROTARY = {
    "plain": (Rotary(base=500.0), {"rope_type": "default"}),
    "linear": (
        Rotary(base=500.0, scaling=Linear(factor=4.0)),
        {"rope_type": "linear", "factor": 4.0},
    ),
    "llama3": (
        Rotary(base=500.0, scaling=Llama3(factor=8.0, low=1.0, high=4.0, trained_length=64)),
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    ),
}


def theirs_turned(settings: dict, positions: torch.Tensor, q: torch.Tensor, k: torch.Tensor):
    """q and k as `transformers` turns them."""
    config = LlamaConfig(
        hidden_size=WIDTH * HEADS,
        num_attention_heads=HEADS,
        max_position_embeddings=LENGTH,
        rope_parameters={"rope_theta": 500.0} | settings,
    )
    return apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, positions))


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def turning_budget(x: torch.Tensor, positions: torch.Tensor, speed: torch.Tensor) -> torch.Tensor:
    """How far two honest float32 turns may be apart: each rounds speed (4 u), angle, wave, sums."""
    angles = (positions[..., None] * speed).repeat(1, 1, 2)[:, None]
    size = x.abs() + torch.cat(list(reversed(x.abs().chunk(2, -1))), -1)
    return 2 * size * (5 * U * angles + 4 * U)


@pytest.mark.parametrize("kind", ROTARY)
def test_queries_and_keys_are_turned_as_llama_turns_them(kind):
    spec, settings = ROTARY[kind]
    q, k = drawn(0, 2, HEADS, LENGTH, WIDTH), drawn(1, 2, 1, LENGTH, WIDTH)
    positions = torch.stack([torch.arange(LENGTH), torch.arange(LENGTH).flip(0)])
    turn = turn_at(positions, speeds(spec, WIDTH), torch.float32)
    for ours, theirs in zip((q, k), theirs_turned(settings, positions, q, k), strict=True):
        budget = turning_budget(ours, positions, speeds(Rotary(base=500.0), WIDTH))
        assert ((turn(ours) - theirs).abs() <= budget).all()


def test_the_three_kinds_of_scaling_differ():
    found = [speeds(spec, WIDTH).tolist() for spec, _ in ROTARY.values()]
    assert all(one != two for one in found for two in found if one is not two)


def test_a_share_of_each_head_is_turned_and_the_rest_left():
    x, positions = drawn(0, 2, HEADS, 9, 16), torch.arange(9)
    turned = turn_at(positions, speeds(Rotary(share=0.5), 16), torch.float32)(x)
    whole = turn_at(positions, speeds(Rotary(), 8), torch.float32)(x[..., :8])
    assert torch.equal(turned[..., 8:], x[..., 8:])
    assert torch.equal(turned[..., :8], whole)


@pytest.mark.parametrize(("width", "share"), [(7, 1.0), (6, 0.5), (8, 0.1)])
def test_what_does_not_come_in_pairs_cannot_be_turned(width, share):
    with pytest.raises(ConfigError, match=r"turn pairs, and .* are \d numbers: .* even number"):
        speeds(Rotary(share=share), width)


def test_angles_are_exact_for_half_precision():
    turn = turn_at(torch.tensor([4001]), speeds(Rotary(), 4), torch.bfloat16)
    assert turn.cos_B1TD.dtype == torch.bfloat16
    assert turn.cos_B1TD[0, 0, 0, 0] == torch.tensor(math.cos(4001)).bfloat16()


places = st.integers(0, 1000)


@given(query=places, key=places, shift=places, kind=st.sampled_from(sorted(ROTARY)))
def test_a_turned_product_depends_on_the_distance_alone(query, key, shift, kind):
    q, k = drawn(0, 1, 1, 1, WIDTH), drawn(1, 1, 1, 1, WIDTH)
    speed = speeds(ROTARY[kind][0], WIDTH)

    def product(at_query: int, at_key: int) -> torch.Tensor:
        turned = turn_at(torch.tensor([at_query]), speed, torch.float32)(q)
        return (turned * turn_at(torch.tensor([at_key]), speed, torch.float32)(k)).sum()

    budget = 2 * q.norm() * k.norm() * (2 * 2000 * U + 2 * WIDTH * U)  # the angles' own rounding
    assert (product(query, key) - product(query + shift, key + shift)).abs() <= budget
    assert (product(query, query) - (q * k).sum()).abs() <= budget


def test_the_slopes_of_eight_heads_halve_from_head_to_head():
    assert slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 16, 20, 33])
def test_slopes_are_those_published_for_any_number_of_heads(heads):
    two_places = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32)  # slope × 0, slope × 1
    torch.testing.assert_close(slopes(heads), two_places[:, 0, 1])


@pytest.mark.parametrize("both_sides", [True, False])
@pytest.mark.parametrize(("count", "furthest"), [(32, 128), (8, 11), (10, 40), (64, 300)])
def test_distances_fall_into_the_buckets_of_t5(count, furthest, both_sides):
    ahead = torch.arange(-300, 301)
    theirs = T5Attention._relative_position_bucket(
        ahead, bidirectional=both_sides, num_buckets=count, max_distance=furthest
    )
    ours = BucketTable(torch.zeros(count, 1), furthest=furthest, both_sides=both_sides)
    assert torch.equal(ours.bucket(ahead), theirs)
