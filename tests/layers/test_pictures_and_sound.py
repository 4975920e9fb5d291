"""Patches and frames, against loops over squares and over time; and what is refused."""

import math

import pytest
import tiny
import torch

from clearhead.foundation.errors import InputError
from clearhead.layers import FrameInput, Frames, Patches, PatchInput

PATCHES = Patches(picture=6, patch=2, channels=3, specials=2)


def made(module: torch.nn.Module) -> torch.nn.Module:
    module.double().eval()
    tiny.redraw(module, seed=0)
    return module


@torch.no_grad()
def test_a_picture_is_cut_row_by_row_behind_its_special_tokens():
    module, pixels = made(PatchInput(PATCHES, 5)), tiny.numbers(1, 2, 3, 6, 6)
    found = module(pixels)
    assert PATCHES.tokens == found.shape[1] == 2 + 9
    weight, bias = module.squares.weight.flatten(1), module.squares.bias
    for example in range(2):
        tokens = [*module.specials[0]]
        for row in range(0, 6, 2):
            for column in range(0, 6, 2):
                square = pixels[example, :, row : row + 2, column : column + 2]
                tokens.append(weight @ square.flatten() + bias)
        tiny.close(found[example], torch.stack(tokens) + module.positions[0])


def test_a_picture_that_does_not_divide_loses_its_edge():
    assert Patches(picture=7, patch=2).tokens == 1 + 9


@pytest.mark.parametrize("shape", [(3, 6, 5), (1, 6, 6), (3, 8, 8)])
def test_a_picture_of_another_size_is_refused(shape):
    with pytest.raises(
        InputError, match=rf"pictures are \({shape[0]}, .* takes \(3, 6, 6\) .* resize them first"
    ):
        made(PatchInput(PATCHES, 5))(torch.zeros(1, *shape).double())


def gelu(x: torch.Tensor) -> torch.Tensor:
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def heard(sound: torch.Tensor, convolution: torch.nn.Conv1d, step: int) -> torch.Tensor:
    """[C, T] → [M, T / step]: three neighbours at a time, silence around."""
    silence = torch.zeros(len(sound), 1).double()
    padded = torch.cat([silence, sound, silence], 1)
    columns = [
        (convolution.weight * padded[:, at : at + 3]).sum((1, 2)) + convolution.bias
        for at in range(0, sound.shape[1], step)
    ]
    return gelu(torch.stack(columns, 1))


@pytest.mark.parametrize("length", [1, 5, 8])
@torch.no_grad()
def test_two_frames_of_sound_make_a_token(length):
    module, bands = made(FrameInput(Frames(bands=3, length=4), 5)), tiny.numbers(1, 2, 3, length)
    found = module(bands)
    assert found.shape == (2, (length + 1) // 2, 5)
    for example in range(2):
        wanted = heard(heard(bands[example], module.near, 1), module.halve, 2)
        tiny.close(found[example], wanted.T + module.positions[: found.shape[1]])


@pytest.mark.parametrize(("bands", "length"), [(4, 8), (3, 9)])
def test_another_spectrogram_is_refused(bands, length):
    with pytest.raises(
        InputError,
        match=rf"has {bands} bands and {length} frames; this model takes 3 bands and at most 8 ",
    ):
        made(FrameInput(Frames(bands=3, length=4), 5))(torch.zeros(1, bands, length).double())
