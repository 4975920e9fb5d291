"""What a model is said to cost, against what the built model has and does.

torch's counter knows no fused attention on the CPU, so attention is counted as the two matrix
products it is when torch takes its plain path.
"""

from dataclasses import replace

import pytest
import tiny
import torch
from architectures import architectures, decoders, encoders, translators
from hypothesis import assume, given, settings
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from clearhead.attention import Scene
from clearhead.layers import Block, Labels, Pooled, Taught, Words
from clearhead.models import Architecture, EncoderDecoder, Network, build
from clearhead.models.formulas import (
    block_flops,
    block_parameters,
    cache_bytes_per_token,
    flops_per_token,
    parameters,
)

LENGTH = 7


def counted(architecture: Architecture) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build(architecture).parameters())


@settings(max_examples=100)
@given(architecture=architectures())
def test_parameters_are_those_of_the_built_network(architecture):
    assert parameters(architecture) == counted(architecture)


@settings(max_examples=30)
@given(decoder=decoders())
def test_a_block_has_the_parameters_it_is_said_to_have(decoder):
    stack = decoder.stack
    for reads_memory in (True, False):
        block = Block(stack.layer, stack.width, site="", reads_memory=reads_memory)
        found = sum(parameter.numel() for parameter in block.parameters())
        assert block_parameters(stack, reads_memory=reads_memory) == found


def flops(run) -> int:
    """Multiplications and additions, by torch's own counter."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


def ids(spec: Words, length: int) -> Tensor:
    return torch.zeros(1, length, dtype=torch.long)


@pytest.mark.parametrize("stack", [tiny.PLAIN, tiny.DEEP], ids=["plain", "gated and grouped"])
def test_a_block_does_what_it_is_said_to_do(stack):
    block = Block(stack.layer, stack.width, site="").eval()
    found = flops(lambda: block(torch.zeros(1, LENGTH, stack.width), Scene()))
    assert block_flops(stack, queries=LENGTH, keys=LENGTH) == found


def test_attention_is_counted():
    two, one = (block_flops(tiny.PLAIN, queries=4, keys=keys) for keys in (20, 10))
    assert two - one == 2 * 2 * 4 * 10 * tiny.WIDTH


@settings(max_examples=25)
@given(architecture=encoders())
def test_a_token_s_share_of_an_encoder_is_its_part_of_the_whole(architecture):
    assume(isinstance(architecture.input, Words))
    once = isinstance(architecture.output, Pooled | Taught) or (
        isinstance(architecture.output, Labels) and not architecture.output.each
    )
    counted = replace(architecture, output=None) if once else architecture
    network = build(counted).eval()
    found = flops(lambda: network(ids(counted.input, LENGTH)))
    assert flops_per_token(architecture, length=LENGTH) * LENGTH == found


def next_token(network: Network, length: int, **named: Tensor) -> int:
    """What it costs to read one more token after `length - 1` others."""
    past = network.past()
    sources = (torch.zeros(1, length, dtype=torch.long),) if named else ()
    with torch.no_grad():
        network(*sources, torch.zeros(1, length - 1, dtype=torch.long), past=past, **named)
    return flops(lambda: network(*sources, torch.zeros(1, 1, dtype=torch.long), past=past, **named))


@settings(max_examples=25)
@given(architecture=decoders())
def test_one_more_token_of_a_decoder_costs_what_is_said(architecture):
    every = not isinstance(architecture.output, Labels) or architecture.output.each
    assume(every and architecture.stack.window is None)
    found = next_token(build(architecture).eval(), LENGTH)
    assert flops_per_token(architecture, length=LENGTH) == found


@settings(max_examples=25)
@given(architecture=translators())
def test_one_more_word_of_a_translation_costs_what_is_said(architecture):
    decoder = architecture.decoder
    every = not isinstance(decoder.output, Labels) or decoder.output.each
    assume(every and decoder.stack.window is None)
    network = build(architecture).eval()
    memory = torch.zeros(1, LENGTH, decoder.stack.width)
    found = next_token(network, LENGTH, memory_BSM=memory)
    assert flops_per_token(architecture, length=LENGTH) == found


@settings(max_examples=25)
@given(architecture=decoders() | translators())
def test_a_cache_holds_as_many_bytes_as_is_said(architecture):
    decoder = architecture.decoder if isinstance(architecture, EncoderDecoder) else architecture
    decoder = replace(decoder, stack=replace(decoder.stack, window=None))
    network, past = build(decoder).eval(), None
    past = network.past()
    with torch.no_grad():
        network(ids(decoder.input, LENGTH), past=past)
    held = [cache.held for cache in past.caches]
    assert all(each is not None for each in held)
    found = sum(each.k_BGSD.nbytes + each.v_BGSE.nbytes for each in held)
    assert cache_bytes_per_token(architecture) * LENGTH == found
    assert cache_bytes_per_token(architecture, bytes_a_number=2) * LENGTH * 2 == found


def test_an_encoder_keeps_nothing():
    assert cache_bytes_per_token(tiny.ENCODERS["encoder, nothing"]) == 0
