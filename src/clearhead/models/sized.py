"""One dial, from which the rest of a network follows: tiny, small, base, big.

`base` and `big` are the paper's (Vaswani et al. 2017, table 3), but with norms before each half and
one at the end: such stacks learn without a warm-up that is just right (Xiong et al. 2020).
"""

from dataclasses import dataclass, fields, replace
from typing import Literal

from ..attention import Heads
from ..attention.positions import Sinusoidal
from ..config import setting
from ..foundation.errors import ConfigError
from ..layers import FeedForward, Layer, Logits, Norm, Words
from .decoder import Decoder
from .encoder import Encoder
from .encoder_decoder import EncoderDecoder
from .stack import Stack

Derived = Literal["derived"]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How large a network is. What is `derived` follows from the size."""

    size: Literal["tiny", "small", "base", "big"] = setting("base", help="the one dial")
    width: int | Derived = setting("derived", help="of the model", minimum=8)
    layers: int | Derived = setting("derived", help="of each side", minimum=1)
    heads: int | Derived = setting("derived", help="they share the width", minimum=1)
    dropout: float | Derived = setting("derived", help="on each residual", minimum=0, below=1)

    def settled(self) -> "Settled":
        """The same with everything said."""
        derived = SIZES[self.size]
        given = {
            field.name: getattr(self, field.name)
            for field in fields(Settled)
            if getattr(self, field.name) != "derived"
        }
        return replace(derived, **given)


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A shape in numbers."""

    width: int
    layers: int
    heads: int
    dropout: float

    def __str__(self) -> str:
        return (
            f"width {self.width}, {self.layers} layers a side, {self.heads} heads, "
            f"dropout {self.dropout}"
        )


SIZES = {
    "tiny": Settled(width=128, layers=2, heads=4, dropout=0.1),
    "small": Settled(width=256, layers=4, heads=4, dropout=0.1),
    "base": Settled(width=512, layers=6, heads=8, dropout=0.1),
    "big": Settled(width=1024, layers=6, heads=16, dropout=0.3),
}


def translator(shape: Settled, *, source: int, target: int, shared: bool) -> EncoderDecoder:
    """A network that reads one text and writes another.

    Args:
        source: How many words the text that is read has, `target` the one that is written.
        shared: Both have the same.
    """
    stack = Stack(width=shape.width, layers=shape.layers, layer=layer(shape), final_norm=True)
    reads, writes = (words(shape, count) for count in (source, target))
    return EncoderDecoder(
        encoder=Encoder(input=reads, stack=stack),
        decoder=Decoder(input=writes, stack=stack, output=Logits(vocabulary=target)),
        shared_words=shared,
    )


def layer(shape: Settled) -> Layer:
    """One block, its feed-forward part four times as wide as the model."""
    if shape.width % shape.heads:
        raise ConfigError(
            f"A width of {shape.width} cannot be cut into {shape.heads} heads: give a multiple of "
            f"{shape.heads}."
        )
    return Layer(
        heads=Heads(
            heads=shape.heads, key_value_heads=shape.heads, head_width=shape.width // shape.heads
        ),
        feed_forward=FeedForward(width=4 * shape.width, activation="relu"),
        norm=Norm(epsilon=1e-6),
        norm_place="before",
        dropout=shape.dropout,
    )


def words(shape: Settled, vocabulary: int) -> Words:
    """Embeddings × √width, with sinusoids for places."""
    return Words(
        vocabulary=vocabulary,
        width=shape.width,
        scale=shape.width**0.5,
        positions=Sinusoidal(),
        dropout=shape.dropout,
    )
