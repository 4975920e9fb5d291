"""The block: norm before or after, the residual, cross-attention between the two halves."""

from dataclasses import replace

import pytest
import tiny
import torch
from doors import unchecked

from clearhead.attention import Causal, Everything, Scene
from clearhead.foundation.errors import ConfigError
from clearhead.layers import Block, FeedForward, Norm
from clearhead.layers.block import Memory

X = tiny.numbers(0, 2, 5, tiny.WIDTH)
MEMORY = tiny.numbers(1, 2, 7, tiny.WIDTH)
SCENE = Scene(mask=Causal())


def made(spec, *, reads_memory: bool) -> Block:
    block = Block(spec, tiny.WIDTH, site="here.3", reads_memory=reads_memory).double().eval()
    tiny.redraw(block, seed=0)
    return block


@pytest.mark.parametrize("reads_memory", [True, False])
@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("spec", [tiny.LAYER, tiny.GROUPED], ids=["layer norm", "rms norm"])
@torch.no_grad()
def test_each_half_is_normed_and_added_to_what_came_in(spec, place, reads_memory):
    block = made(replace(spec, norm_place=place), reads_memory=reads_memory)
    halves = [(block.attention_residual.norm, lambda x: block.attention(x, SCENE))]
    memory = None
    if reads_memory:
        memory = Memory(block.cross.remember(MEMORY), Everything())
        halves.append(
            (block.cross_residual.norm, lambda x: block.cross(x, memory.held, memory.mask))
        )
    halves.append((block.feed_forward_residual.norm, block.feed_forward))
    x = X
    for norm, half in halves:
        x = x + half(norm(x)) if place == "before" else norm(x + half(x))
    tiny.close(block(X, SCENE, memory=memory), x)


def test_a_block_names_its_sites():
    block = made(tiny.LAYER, reads_memory=True)
    assert (block.attention.site, block.cross.site) == ("here.3.self", "here.3.cross")


UNKNOWN = {
    "norm": (lambda: Norm(form="batch"), "norm 'batch'. There are: layer, rms"),
    "activation": (
        lambda: FeedForward(width=8, activation="gelu_tan"),
        r"activation 'gelu_tan'. Did you mean 'gelu_tanh'\? There are: relu, gelu, gelu_tanh, silu",
    ),
    "place": (
        lambda: replace(tiny.LAYER, norm_place="befor"),
        r"place for a norm 'befor'. Did you mean 'before'\? There are: before, after",
    ),
}


@pytest.mark.parametrize("part", UNKNOWN)
def test_a_choice_there_is_not_is_refused_and_never_taken_for_another(part):
    make, message = UNKNOWN[part]
    with unchecked(), pytest.raises(ConfigError, match=f"There is no {message}"):
        make()


@pytest.mark.parametrize("place", ["before", "after"])
def test_what_each_half_adds_is_dropped_in_training_only(place):
    spec = replace(tiny.LAYER, norm_place=place, dropout=0.5)
    block = made(spec, reads_memory=True).train()
    memory = Memory(block.cross.remember(MEMORY), Everything())
    dropped = []
    for residual in (
        block.attention_residual,
        block.cross_residual,
        block.feed_forward_residual,
    ):
        residual.dropout.register_forward_hook(lambda _, __, out: dropped.append(out == 0))
    torch.manual_seed(0)
    block(X, SCENE, memory=memory)
    block.eval()(X, SCENE, memory=memory)
    shares = [float(zeros.double().mean()) for zeros in dropped]
    assert all(0.3 < share < 0.7 for share in shares[:3])
    assert shares[3:] == [0.0] * 3
