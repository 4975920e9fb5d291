"""Hidden vectors to scores: of words, of masked words, of labels; or one vector for the whole."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from .activation import BENDS, Activation
from .norm import Norm, build_norm


@dataclass(frozen=True, kw_only=True)
class Logits:
    """A score for every word of the vocabulary.

    Args:
        tied: Use the input embeddings as weights.
        scale: Multiplies the hidden vectors first (T5 with tied weights: 1/√width).
    """

    kind: Literal["logits"] = "logits"
    vocabulary: int
    tied: bool = True
    bias: bool = False
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Masked:
    """BERT's way to a masked word: one more layer, then the input embeddings and a bias."""

    kind: Literal["masked"] = "masked"
    vocabulary: int
    width: int
    activation: Activation
    norm: Norm


@dataclass(frozen=True, kw_only=True)
class Labels:
    """A score for each of `count` labels, from the first token or from each.

    Args:
        through: One more layer with this bend between the hidden vector and the scores.
    """

    kind: Literal["labels"] = "labels"
    count: int
    through: Activation | None = None
    each: bool = False
    dropout: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Pooled:
    """One vector for the whole: the first token through a layer."""

    kind: Literal["pooled"] = "pooled"
    activation: Activation = "tanh"


class LogitOutput(nn.Module):
    """Scores of words."""

    def __init__(self, spec: Logits, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.weight = None if spec.tied else nn.Parameter(torch.empty(spec.vocabulary, width))
        if self.weight is not None:
            nn.init.normal_(self.weight, std=width**-0.5)
        self.bias = nn.Parameter(torch.zeros(spec.vocabulary)) if spec.bias else None

    def forward(
        self, hidden_BTM: Float[Tensor, "b t m"], words_VM: Float[Tensor, "words e"]
    ) -> Float[Tensor, "b t v"]:
        if self.spec.scale != 1.0:
            hidden_BTM = hidden_BTM * self.spec.scale
        return linear(hidden_BTM, words_VM if self.weight is None else self.weight, self.bias)


class MaskedOutput(nn.Module):
    """Scores of masked words."""

    def __init__(self, spec: Masked, width: int) -> None:
        super().__init__()
        self.bend = BENDS[spec.activation]
        self.through = nn.Linear(width, spec.width)
        self.norm = build_norm(spec.norm, spec.width)
        self.bias = nn.Parameter(torch.zeros(spec.vocabulary))

    def forward(
        self, hidden_BTM: Float[Tensor, "b t m"], words_VM: Float[Tensor, "v e"]
    ) -> Float[Tensor, "b t v"]:
        return linear(self.norm(self.bend(self.through(hidden_BTM))), words_VM, self.bias)


class LabelOutput(nn.Module):
    """Scores of labels."""

    def __init__(self, spec: Labels, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.bend = BENDS[spec.through] if spec.through else None
        self.through = nn.Linear(width, width) if spec.through else None
        self.dropout = nn.Dropout(spec.dropout)
        self.scores = nn.Linear(width, spec.count)

    def forward(
        self, hidden_BTM: Float[Tensor, "b t m"], starts_B: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b *t c"]:
        x = hidden_BTM if self.spec.each else first_of(hidden_BTM, starts_B)
        if self.through is not None and self.bend is not None:
            x = self.bend(self.through(x))
        scores: Tensor = self.scores(self.dropout(x))
        return scores


class PooledOutput(nn.Module):
    """One vector for the whole."""

    def __init__(self, spec: Pooled, width: int) -> None:
        super().__init__()
        self.bend = BENDS[spec.activation]
        self.through = nn.Linear(width, width)

    def forward(
        self, hidden_BTM: Float[Tensor, "b t m"], starts_B: Int[Tensor, " b"] | None = None
    ) -> Float[Tensor, "b m"]:
        return self.bend(self.through(first_of(hidden_BTM, starts_B)))


def first_of(
    hidden_BTM: Float[Tensor, "b t m"], starts_B: Int[Tensor, " b"] | None
) -> Float[Tensor, "b m"]:
    """The first vector of every example, behind its padding."""
    if starts_B is None:
        return hidden_BTM[:, 0]
    return hidden_BTM[torch.arange(len(hidden_BTM), device=hidden_BTM.device), starts_B]
