"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), table 3, by name."""

from ..attention import Heads
from ..attention.positions import Sinusoidal
from ..foundation.errors import ConfigError
from ..layers import FeedForward, Layer, Logits, Norm, Words
from .decoder import Decoder
from .encoder import Encoder
from .encoder_decoder import EncoderDecoder
from .stack import Stack


def transformer_base(vocabulary: int = 37_000) -> EncoderDecoder:
    """Width 512, 8 heads, 6 + 6 layers, one table of embeddings for both sides and the output."""
    return transformer(vocabulary, width=512, heads=8, layers=6, dropout=0.1)


def transformer_big(vocabulary: int = 37_000) -> EncoderDecoder:
    """Width 1024, 16 heads, 6 + 6 layers."""
    return transformer(vocabulary, width=1024, heads=16, layers=6, dropout=0.3)


def transformer(
    vocabulary: int, *, width: int, heads: int, layers: int, dropout: float
) -> EncoderDecoder:
    """The paper's architecture at any size; feed-forward four times as wide as the model."""
    if width % heads:
        raise ConfigError(
            f"A width of {width} cannot be cut into {heads} heads: give a multiple of {heads}."
        )
    words = Words(
        vocabulary=vocabulary,
        width=width,
        scale=width**0.5,
        positions=Sinusoidal(),
        dropout=dropout,
    )
    layer = Layer(
        heads=Heads(heads=heads, key_value_heads=heads, head_width=width // heads),
        feed_forward=FeedForward(width=4 * width, activation="relu"),
        norm=Norm(epsilon=1e-6),
        norm_place="after",
        dropout=dropout,
    )
    stack = Stack(width=width, layers=layers, layer=layer)
    return EncoderDecoder(
        encoder=Encoder(input=words, stack=stack),
        decoder=Decoder(input=words, stack=stack, output=Logits(vocabulary=vocabulary)),
        shared_words=True,
    )


NAMED = {"transformer-base": transformer_base, "transformer-big": transformer_big}
