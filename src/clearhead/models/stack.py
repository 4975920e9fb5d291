"""A stack of blocks: the part all three skeletons share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..attention import Bias, Mask, Scene, Window
from ..attention.bias import Slopes
from ..attention.caches import Cache, Held
from ..attention.masks import Once
from ..attention.positions import Alibi, Buckets, Rotary, Turn
from ..attention.positions.alibi import slopes
from ..attention.positions.buckets import Distances
from ..attention.positions.rotary import speeds, turn_at
from ..foundation.errors import ConfigError
from ..layers import Block, Layer, build_norm
from ..layers.block import Memory
from .places import Places


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What a stack is made of.

    Args:
        positions: How its attention learns where tokens stand, if not from the input.
        final_norm: A norm after the last block, as stacks with norm before need.
        window: A query sees only this many positions, its own among them, and none after it.
        window_from: The first layer with the window.
    """

    width: int
    layers: int
    layer: Layer
    positions: Rotary | Alibi | Buckets | None = None
    final_norm: bool = False
    window: int | None = None
    window_from: int = 0

    def __post_init__(self) -> None:
        if self.layers < 0:
            raise ConfigError(f"A stack of {self.layers} layers cannot be: give 0 or more.")
        if self.window is not None and self.window < 1:
            raise ConfigError(
                f"A window of {self.window} positions leaves a query nothing to see: give 1 (its "
                "own) or more, or leave it out for no window."
            )

    def window_of(self, layer: int) -> int | None:
        """How many positions a query of this layer sees; None for all."""
        return self.window if layer >= self.window_from else None


class BlockStack(nn.Module):
    """The stack as a module: vectors in, vectors out."""

    def __init__(
        self, spec: Stack, *, name: str, both_sides: bool, reads_memory: bool = False
    ) -> None:
        super().__init__()
        self.spec = spec
        heads = spec.layer.heads
        self.blocks = nn.ModuleList(
            Block(spec.layer, spec.width, site=f"{name}.{layer}", reads_memory=reads_memory)
            for layer in range(spec.layers)
        )
        self.final_norm = build_norm(spec.layer.norm, spec.width) if spec.final_norm else None
        self.distances = (
            Distances(spec.positions, heads=heads.heads, both_sides=both_sides)
            if isinstance(spec.positions, Buckets)
            else None
        )
        self.constants: Tensor | None = None  # turning speeds or slopes, where they are needed

    def forward(
        self,
        x_BTM: Float[Tensor, "b t m"],
        *,
        mask: Mask,
        places: Places,
        caches: Sequence[Cache] | None = None,
        memories: Sequence[Memory] | None = None,
    ) -> Float[Tensor, "b t m"]:
        wide, narrow = self._scenes(mask, places, x_BTM)
        for layer, block in enumerate(self.blocks):
            x_BTM = block(
                x_BTM,
                wide if self.spec.window_of(layer) is None else narrow,
                memory=memories[layer] if memories is not None else None,
                cache=caches[layer] if caches is not None else None,
            )
        return x_BTM if self.final_norm is None else self.final_norm(x_BTM)

    def remember(self, memory_BSM: Float[Tensor, "b s m"]) -> list[Held]:
        """Every block's keys and values of a memory."""
        return [cast(Block, block).cross.remember(memory_BSM) for block in self.blocks]

    def _scenes(self, mask: Mask, places: Places, x_BTM: Tensor) -> tuple[Scene, Scene]:
        """What layers without and with the window share."""
        turn, bias = self._turn(places, x_BTM), self._bias(x_BTM)
        wide = Scene(mask=mask, turn=turn, bias=bias)
        if self.spec.window is None:
            return wide, wide
        narrow = Once(mask & Window(left=self.spec.window - 1, right=0))
        return wide, Scene(mask=narrow, turn=turn, bias=bias)

    def _turn(self, places: Places, x_BTM: Tensor) -> Turn | None:
        if not isinstance(self.spec.positions, Rotary):
            return None
        if self.constants is None or self.constants.device != x_BTM.device:
            width = self.spec.layer.heads.head_width
            self.constants = speeds(self.spec.positions, width).to(x_BTM.device)
        dtype = torch.get_autocast_dtype(x_BTM.device.type) if _mixed(x_BTM) else x_BTM.dtype
        return turn_at(places.positions, self.constants, dtype)

    def _bias(self, x_BTM: Tensor) -> Bias | None:
        if self.distances is not None:
            table: Bias = self.distances()
            return table
        if not isinstance(self.spec.positions, Alibi):
            return None
        if self.constants is None or self.constants.device != x_BTM.device:
            self.constants = slopes(self.spec.layer.heads.heads).to(x_BTM.device)
        return Slopes(self.constants)


def _mixed(x: Tensor) -> bool:
    return torch.is_autocast_enabled(x.device.type)
