"""Ids to vectors: scale, positions, types, norm, projection; and what is refused."""

import math
from dataclasses import replace

import pytest
import tiny
import torch
from doors import unchecked

from clearhead.attention.positions import Learned, Sinusoidal
from clearhead.foundation.errors import ConfigError, InputError
from clearhead.layers import Masked, Norm, WordInput, Words
from clearhead.layers.words import check_tied
from clearhead.models import Decoder, Encoder

WORDS = Words(vocabulary=11, width=6)
IDS = torch.tensor([[3, 0, 10, 3], [1, 1, 2, 5]])
TYPES = torch.tensor([[0, 1, 2, 2], [1, 0, 0, 2]])
POSITIONS = torch.tensor([[4, 0, 1, 3], [0, 1, 2, 3]])


def made(spec: Words, width: int = 6) -> WordInput:
    module = WordInput(spec, width).double()
    tiny.redraw(module, seed=0)
    return module


def read(module: WordInput, **named: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return module(IDS, **{"positions": POSITIONS, "longest": 5} | named)


def test_a_word_is_its_row():
    module = made(WORDS)
    assert torch.equal(read(module), module.words.weight[IDS])


def test_words_are_scaled_before_positions_are_added():
    module = made(replace(WORDS, scale=3.0, positions=Learned(length=5)))
    wanted = 3.0 * module.words.weight[IDS] + module.positions.weight[POSITIONS]
    tiny.close(read(module), wanted)


def test_waves_are_added_in_the_model_s_own_precision():
    module = made(replace(WORDS, positions=Sinusoidal()))
    found = read(module)
    assert found.dtype == torch.float64
    first = (found - module.words.weight[IDS])[0, 0, 0].item()
    assert abs(first - math.sin(4)) < 1e-7
    assert read(module.bfloat16()).dtype == torch.bfloat16


def test_types_are_added_and_left_out_means_the_first():
    module = made(replace(WORDS, types=3))
    words = module.words.weight[IDS]
    tiny.close(read(module, types_BT=TYPES), words + module.types.weight[TYPES])
    tiny.close(read(module), words + module.types.weight[0])


def test_the_norm_comes_after_all_that_is_added():
    spec = replace(WORDS, types=3, positions=Learned(length=5))
    module, bare = made(replace(spec, norm=Norm(epsilon=0.1))), made(spec)
    bare.load_state_dict(module.state_dict(), strict=False)
    tiny.close(read(module, types_BT=TYPES), module.norm(read(bare, types_BT=TYPES)))


def test_narrow_words_are_projected_last():
    module = made(replace(WORDS, norm=Norm()), width=9)
    tiny.close(read(module), module.project(module.norm(module.words.weight[IDS])))


def test_words_are_dropped_in_training_only():
    module, ids = WordInput(Words(vocabulary=11, width=400, dropout=0.5), 400), IDS[:1, :1]
    where = {"positions": torch.zeros(1, 1, dtype=torch.long), "longest": 1}
    torch.manual_seed(0)
    assert 100 < (module.train()(ids, **where) == 0).sum() < 300
    assert (module.eval()(ids, **where) != 0).all()


def test_fresh_words_times_the_root_of_the_width_are_of_size_one():
    torch.manual_seed(0)
    module = WordInput(Words(vocabulary=500, width=256, scale=16.0, types=500), 256)
    found = module(torch.arange(500)[None], positions=torch.arange(500), longest=500)
    assert 0.95 < found.std() < 1.05
    assert 0.95 / 16 < module.types.weight.std() < 1.05 / 16


@pytest.mark.parametrize(("wrong", "named"), [(11, 11), (-1, -1), (400, 400)])
def test_an_id_outside_the_vocabulary_is_refused(wrong, named):
    ids = IDS.clone()
    ids[1, 2] = wrong
    with pytest.raises(
        InputError, match=rf"Id {named} is outside the vocabulary of 11: ids go from 0 to 10\. Use"
    ):
        made(WORDS)(ids, positions=POSITIONS, longest=5)


def test_ids_that_are_no_whole_numbers_are_refused():
    with unchecked(), pytest.raises(InputError, match=r"Ids of torch.float32 name no words: give"):
        made(WORDS)(IDS.float(), positions=POSITIONS, longest=5)


@pytest.mark.parametrize("wrong", [3, -2])
def test_a_type_the_model_does_not_have_is_refused(wrong):
    module, types = made(replace(WORDS, types=3)), TYPES.clone()
    types[0, 1] = wrong
    with pytest.raises(
        InputError, match=rf"type {wrong} is not one of this model's 3: types go from 0 to 2"
    ):
        read(module, types_BT=types)


def test_types_for_a_model_without_are_refused():
    with pytest.raises(InputError, match=r"types were given and this model has none: leave types"):
        read(made(WORDS), types_BT=TYPES)


def test_no_words_at_all_are_no_vectors():
    nothing = torch.zeros(2, 0, dtype=torch.long)
    assert made(WORDS)(nothing, positions=torch.arange(0), longest=0).shape == (2, 0, 6)


@pytest.mark.parametrize(("vocabulary", "width"), [(12, 6), (11, 7)])
def test_scores_by_embeddings_of_other_sizes_are_refused(vocabulary, width):
    with pytest.raises(
        ConfigError,
        match=rf"scores {vocabulary} words from vectors {width} wide .* 11 words 6 wide: give both",
    ):
        check_tied(WORDS, vocabulary, width)


def test_a_model_checks_its_tied_output():
    words = replace(tiny.WORDS, width=8)
    with pytest.raises(ConfigError, match=r"vectors 16 wide .* words 8 wide"):
        Decoder(input=words, stack=tiny.PLAIN, output=tiny.DECODERS["decoder, alibi"].output)
    output = Masked(vocabulary=23, width=16, activation="gelu", norm=Norm())
    with pytest.raises(ConfigError, match=r"vectors 16 wide .* words 8 wide"):
        Encoder(input=words, stack=tiny.PLAIN, output=output)


def test_masked_words_need_words():
    output = Masked(vocabulary=23, width=16, activation="gelu", norm=Norm())
    with pytest.raises(ConfigError, match=r"by the embeddings of words, and the input is frames"):
        Encoder(input=tiny.OTHERS["sound"].input, stack=tiny.PLAIN, output=output)
