"""Scores of labels from two tokens: one learned from the truth, one from a teacher (DeiT)."""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class Taught:
    """A score for each of `count` labels: the mean of what the first and second token say."""

    kind: Literal["taught"] = "taught"
    count: int


class TaughtOutput(nn.Module):
    """Scores of labels (Touvron et al. 2021, section 4)."""

    def __init__(self, spec: Taught, width: int) -> None:
        super().__init__()
        self.scores = nn.Linear(width, spec.count)
        self.taught_scores = nn.Linear(width, spec.count)

    def forward(self, hidden_BTM: Float[Tensor, "b t m"]) -> Float[Tensor, "b c"]:
        scores: Tensor = self.scores(hidden_BTM[:, 0]) + self.taught_scores(hidden_BTM[:, 1])
        return scores / 2
