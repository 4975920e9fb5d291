"""Tiny architectures: width 16, two layers, few settings at a default that could hide a mix-up."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from clearhead.attention import Heads
from clearhead.attention.positions import Alibi, Buckets, Learned, Llama3, Rotary, Sinusoidal
from clearhead.layers import (
    FeedForward,
    Frames,
    Labels,
    Layer,
    Logits,
    Masked,
    Norm,
    Patches,
    Pooled,
    Words,
)
from clearhead.models import Decoder, Encoder, EncoderDecoder, Network, Stack, build

WIDTH = 16
VOCABULARY = 23
NORM = Norm(epsilon=1e-3)
LAYER = Layer(
    heads=Heads(heads=4, key_value_heads=4, head_width=4),
    feed_forward=FeedForward(width=24, activation="gelu"),
    norm=NORM,
    norm_place="after",
)
GROUPED = Layer(
    heads=Heads(heads=4, key_value_heads=2, head_width=6, input_bias=False, norm_epsilon=1e-3),
    feed_forward=FeedForward(width=20, activation="silu", gated=True, bias=False),
    norm=Norm(form="rms", epsilon=1e-3),
    norm_place="before",
)
WORDS = Words(vocabulary=VOCABULARY, width=WIDTH)
PLAIN = Stack(width=WIDTH, layers=2, layer=LAYER)
DEEP = Stack(width=WIDTH, layers=2, layer=GROUPED, positions=Rotary(base=100.0), final_norm=True)

ENCODERS = {
    "encoder, learned, types, masked": Encoder(
        input=replace(WORDS, positions=Learned(length=40, offset=2), types=3, norm=NORM),
        stack=PLAIN,
        output=Masked(vocabulary=VOCABULARY, width=WIDTH, activation="gelu", norm=NORM),
    ),
    "encoder, sinusoidal, labels": Encoder(
        input=replace(WORDS, positions=Sinusoidal(), scale=4.0),
        stack=PLAIN,
        output=Labels(count=3, through="tanh"),
    ),
    "encoder, rotary, pooled": Encoder(input=WORDS, stack=DEEP, output=Pooled()),
    "encoder, alibi, narrow words": Encoder(
        input=replace(WORDS, width=8), stack=replace(PLAIN, positions=Alibi())
    ),
    "encoder, buckets": Encoder(
        input=WORDS, stack=replace(PLAIN, positions=Buckets(count=8, furthest=11))
    ),
    "encoder, nothing": Encoder(input=WORDS, stack=PLAIN),
}
DECODERS = {
    "decoder, learned": Decoder(
        input=replace(WORDS, positions=Learned(length=40)),
        stack=PLAIN,
        output=Logits(vocabulary=VOCABULARY, bias=True),
    ),
    "decoder, rotary": Decoder(
        input=WORDS,
        stack=replace(
            DEEP,
            positions=Rotary(
                base=100.0, scaling=Llama3(factor=4.0, low=1.0, high=4.0, trained_length=16)
            ),
        ),
        output=Logits(vocabulary=VOCABULARY, tied=False),
    ),
    "decoder, rotary, window": Decoder(
        input=WORDS, stack=replace(DEEP, window=3), output=Logits(vocabulary=VOCABULARY)
    ),
    "decoder, rotary, window from layer 1": Decoder(
        input=WORDS, stack=replace(DEEP, window=3, window_from=1)
    ),
    "decoder, alibi": Decoder(
        input=WORDS,
        stack=replace(PLAIN, positions=Alibi()),
        output=Logits(vocabulary=VOCABULARY, scale=0.25),
    ),
    "decoder, buckets": Decoder(
        input=WORDS,
        stack=replace(PLAIN, positions=Buckets(count=8, furthest=11)),
        output=Labels(count=3, each=True),
    ),
    "decoder, one shared head": Decoder(
        input=replace(WORDS, positions=Sinusoidal(layout="halves")),
        stack=replace(
            PLAIN,
            layer=replace(LAYER, heads=Heads(heads=4, key_value_heads=1, head_width=4)),
        ),
    ),
}
TRANSLATORS = {
    "encoder-decoder, shared words": EncoderDecoder(
        encoder=Encoder(input=replace(WORDS, positions=Sinusoidal()), stack=PLAIN),
        decoder=Decoder(
            input=replace(WORDS, positions=Sinusoidal(), scale=4.0),
            stack=PLAIN,
            output=Logits(vocabulary=VOCABULARY),
        ),
        shared_words=True,
    ),
    "encoder-decoder, buckets, grouped": EncoderDecoder(
        encoder=Encoder(input=WORDS, stack=replace(DEEP, positions=Buckets(count=8, furthest=9))),
        decoder=Decoder(
            input=replace(WORDS, vocabulary=19),
            stack=replace(DEEP, layers=3, positions=Buckets(count=6, furthest=7)),
            output=Logits(vocabulary=19, tied=False),
        ),
    ),
}
READERS = ENCODERS | DECODERS
TEXTS = READERS | TRANSLATORS
OTHERS = {
    "pictures": Encoder(
        input=Patches(picture=8, patch=4, channels=2, specials=2), stack=PLAIN, output=Pooled()
    ),
    "sound": Encoder(input=Frames(bands=5, length=7), stack=PLAIN, output=Labels(count=3)),
    "sound to text": EncoderDecoder(
        encoder=Encoder(input=Frames(bands=5, length=7), stack=PLAIN),
        decoder=TRANSLATORS["encoder-decoder, shared words"].decoder,
    ),
}
ALL = TEXTS | OTHERS


def made(architecture: Any, *, seed: int = 0, dtype: torch.dtype = torch.float64) -> Network:
    """The network, ready to run, every number in it random: no bias is zero, no norm is one."""
    network = build(architecture).eval()
    redraw(network, seed)
    return network.to(dtype)


def redraw(network: nn.Module, seed: int) -> None:
    """Random numbers into every parameter, none of which vanish or saturate."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            size = 0.3 if parameter.dim() > 1 else 0.5
            parameter.copy_(size * torch.randn(parameter.shape, generator=draw))


def ids(seed: int, *shape: int, below: int = 19) -> Tensor:
    """Random ids, within every vocabulary here."""
    return torch.randint(0, below, shape, generator=torch.Generator().manual_seed(seed))


def numbers(seed: int, *shape: int) -> Tensor:
    """Random numbers in double precision."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(found: Tensor, wanted: Tensor) -> None:
    """The same up to rounding in double precision.

    Two layers of width 16 are sums of some hundred products of size 1; each rounds by 1.1e-16, so
    honest results differ by less than 1e-12, and nothing that is wrong is as near as that.
    """
    torch.testing.assert_close(found, wanted, atol=1e-12, rtol=1e-12)
