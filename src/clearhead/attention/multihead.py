"""Projections around attention: many heads, grouped heads, one shared head; self and cross.

x_BTM ─▶ inputs ─▶ q_BHTD, k_BGTD, v_BGTD ─▶ norm? turn? cache? ─▶ attend ─▶ joined ─▶ output

The module knows its site in the model and announces it with every attention.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..foundation.errors import ConfigError
from .attend import EVERYTHING, Site, attend
from .bias import Bias
from .caches import Cache, Held
from .contract import Scores
from .masks import Mask
from .positions import Turn


@dataclass(frozen=True, kw_only=True)
class Heads:
    """How the width of a model is cut into heads.

    Args:
        key_value_heads: Fewer than `heads` when several query heads share one (grouped), 1 for
            multi-query.
        scale: Multiplies q·k; `1 / sqrt(head_width)` when left out.
        norm_epsilon: RMS-normalise every query and key with this epsilon; not when left out.
    """

    heads: int
    key_value_heads: int
    head_width: int
    input_bias: bool = True
    output_bias: bool = True
    scale: float | None = None
    softcap: float | None = None
    norm_epsilon: float | None = None

    def __post_init__(self) -> None:
        if min(self.heads, self.key_value_heads, self.head_width) < 1:
            raise ConfigError(
                f"{self.heads} heads, {self.key_value_heads} key/value heads, each "
                f"{self.head_width} wide, cannot be: each must be 1 or more."
            )
        if self.heads % self.key_value_heads:
            raise ConfigError(
                f"{self.heads} query heads cannot be shared out over {self.key_value_heads} "
                "key/value heads: the first must be a multiple of the second. Try "
                f"{' or '.join(map(str, divisors(self.heads)))} key/value heads."
            )


def divisors(number: int) -> list[int]:
    """All that divide it without a rest."""
    return [each for each in range(1, number + 1) if number % each == 0]


@dataclass(frozen=True)
class Scene:
    """What the layers of a stack share in one forward pass: who may look, where tokens stand."""

    mask: Mask = EVERYTHING
    turn: Turn | None = None
    bias: Bias | Tensor | None = None


class SelfAttention(nn.Module):
    """Every position gathers from the positions of its own sequence."""

    def __init__(self, width: int, spec: Heads, *, site: str, dropout: float = 0.0) -> None:
        super().__init__()
        self.spec, self.dropout = spec, dropout
        self.site = site
        rows = (spec.heads + 2 * spec.key_value_heads) * spec.head_width
        self.inputs = nn.Linear(width, rows, bias=spec.input_bias)
        self.output = nn.Linear(spec.heads * spec.head_width, width, bias=spec.output_bias)
        self.query_norm, self.key_norm = _norms(spec)

    def forward(
        self, x_BTM: Float[Tensor, "b t m"], scene: Scene, cache: Cache | None = None
    ) -> Float[Tensor, "b t m"]:
        spec = self.spec
        parts = [spec.heads, spec.key_value_heads, spec.key_value_heads]
        packed_BNTD = in_heads(self.inputs(x_BTM), sum(parts))
        q_BHTD, k_BGTD, v_BGTD = torch.split(packed_BNTD, parts, dim=1)
        if self.query_norm is not None and self.key_norm is not None:
            q_BHTD, k_BGTD = self.query_norm(q_BHTD), self.key_norm(k_BGTD)
        if scene.turn is not None:
            q_BHTD, k_BGTD = scene.turn(q_BHTD), scene.turn(k_BGTD)
        held = Held(k_BGTD, v_BGTD) if cache is None else cache.extend(k_BGTD, v_BGTD)
        attended = attend(
            q_BHTD,
            held.k_BGSD,
            held.v_BGSE,
            mask=scene.mask,
            scores=Scores(scale=spec.scale, softcap=spec.softcap, bias=scene.bias),
            dropout=self.dropout if self.training else None,
            first=held.first,
            site=Site(self.site, self),
        )
        mixed_BTM: Tensor = self.output(joined(attended.values_BHTE))
        return mixed_BTM


class CrossAttention(nn.Module):
    """Every position gathers from another sequence: the memory."""

    def __init__(self, width: int, spec: Heads, *, site: str, dropout: float = 0.0) -> None:
        super().__init__()
        self.spec, self.dropout = spec, dropout
        self.site = site
        rows = 2 * spec.key_value_heads * spec.head_width
        self.queries = nn.Linear(width, spec.heads * spec.head_width, bias=spec.input_bias)
        self.memory = nn.Linear(width, rows, bias=spec.input_bias)
        self.output = nn.Linear(spec.heads * spec.head_width, width, bias=spec.output_bias)
        self.query_norm, self.key_norm = _norms(spec)

    def remember(self, memory_BSM: Float[Tensor, "b s m"]) -> Held:
        """The memory's keys and values, worked out once for all steps of a decoder."""
        packed = in_heads(self.memory(memory_BSM), 2 * self.spec.key_value_heads)
        k_BGSD, v_BGSD = packed.chunk(2, dim=1)
        return Held(k_BGSD if self.key_norm is None else self.key_norm(k_BGSD), v_BGSD)

    def forward(
        self, x_BTM: Float[Tensor, "b t m"], memory: Held, mask: Mask
    ) -> Float[Tensor, "b t m"]:
        spec = self.spec
        q_BHTD = in_heads(self.queries(x_BTM), spec.heads)
        attended = attend(
            q_BHTD if self.query_norm is None else self.query_norm(q_BHTD),
            memory.k_BGSD,
            memory.v_BGSE,
            mask=mask,
            scores=Scores(scale=spec.scale, softcap=spec.softcap),
            dropout=self.dropout if self.training else None,
            site=Site(self.site, self),
        )
        mixed_BTM: Tensor = self.output(joined(attended.values_BHTE))
        return mixed_BTM


def in_heads(x_BTM: Float[Tensor, "b t hd"], heads: int) -> Float[Tensor, "b h t d"]:
    """A projection cut into heads."""
    batch, length, width = x_BTM.shape
    return x_BTM.view(batch, length, heads, width // heads).transpose(1, 2)


def joined(values_BHTE: Float[Tensor, "b h t e"]) -> Float[Tensor, "b t he"]:
    """The heads' values side by side."""
    return values_BHTE.transpose(1, 2).flatten(2)


def _norms(spec: Heads) -> tuple[nn.RMSNorm | None, nn.RMSNorm | None]:
    if spec.norm_epsilon is None:
        return None, None
    return (
        nn.RMSNorm(spec.head_width, eps=spec.norm_epsilon),
        nn.RMSNorm(spec.head_width, eps=spec.norm_epsilon),
    )
