"""The block every Transformer here is made of.

    norm before (GPT-2, Llama, T5, ViT)     x + attention(norm(x)),  then  x + feed_forward(norm(x))
    norm after  (the paper, BERT, Marian)   norm(x + attention(x)),  then  norm(x + feed_forward(x))

With a memory (a decoder that reads an encoder) cross-attention stands between the two, alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from ..attention import CrossAttention, Heads, Mask, Scene, SelfAttention
from ..attention.caches import Cache, Held
from ..foundation.errors import refuse_unknown
from .feed_forward import FeedForward, build_feed_forward
from .norm import Norm, build_norm


@dataclass(frozen=True, kw_only=True)
class Layer:
    """What one block is made of.

    Args:
        dropout: On what each half adds to the residual.
        attention_dropout: On attention weights.
        middle_dropout: Inside the feed-forward part.
    """

    heads: Heads
    feed_forward: FeedForward
    norm: Norm
    norm_place: Literal["before", "after"]
    dropout: float = 0.0
    attention_dropout: float = 0.0
    middle_dropout: float = 0.0

    def __post_init__(self) -> None:
        refuse_unknown("place for a norm", self.norm_place, "before", "after")


class Residual(nn.Module):
    """Adds what a half of a block makes to what came in, and norms before or after."""

    def __init__(self, spec: Layer, width: int) -> None:
        super().__init__()
        self.before = spec.norm_place == "before"
        self.norm = build_norm(spec.norm, width)
        self.dropout = nn.Dropout(spec.dropout)

    def forward(
        self, x_BTM: Float[Tensor, "b t m"], half: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "b t m"]:
        after_BTM: Tensor
        if self.before:
            after_BTM = x_BTM + self.dropout(half(self.norm(x_BTM)))
        else:
            after_BTM = self.norm(x_BTM + self.dropout(half(x_BTM)))
        return after_BTM


@dataclass(frozen=True)
class Memory:
    """What a block reads from the encoder: keys and values of this layer, and who may look."""

    held: Held
    mask: Mask


class Block(nn.Module):
    """Self-attention, cross-attention where the block reads a memory, feed-forward."""

    def __init__(self, spec: Layer, width: int, *, site: str, reads_memory: bool = False) -> None:
        super().__init__()
        dropout = spec.attention_dropout
        self.attention = SelfAttention(width, spec.heads, site=f"{site}.self", dropout=dropout)
        self.attention_residual = Residual(spec, width)
        if reads_memory:
            self.cross = CrossAttention(width, spec.heads, site=f"{site}.cross", dropout=dropout)
            self.cross_residual = Residual(spec, width)
        self.feed_forward = build_feed_forward(
            spec.feed_forward, width, dropout=spec.middle_dropout
        )
        self.feed_forward_residual = Residual(spec, width)

    def forward(
        self,
        x_BTM: Float[Tensor, "b t m"],
        scene: Scene,
        *,
        memory: Memory | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "b t m"]:
        x_BTM = self.attention_residual(x_BTM, lambda x: self.attention(x, scene, cache))
        if memory is not None:
            x_BTM = self.cross_residual(x_BTM, lambda x: self.cross(x, memory.held, memory.mask))
        after_BTM: Tensor = self.feed_forward_residual(x_BTM, self.feed_forward)
        return after_BTM
