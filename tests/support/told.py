"""A model that is a table: the scores of the next token are drawn from the text so far."""

from dataclasses import dataclass, field
from random import Random

import torch

Text = tuple[int, ...]


@dataclass
class Told:
    """A step that knows no network. It keeps every row's whole text, as a cache would.

    Texts that begin alike are scored alike, whatever row they are in. `fed` notes what the step
    was given.
    """

    vocabulary: int
    seed: int = 0
    texts: list[Text] = field(default_factory=list)
    fed: list[tuple[list[list[int]], list[int] | None]] = field(default_factory=list)

    def scores(self, text: Text) -> list[float]:
        """The scores of what follows a text."""
        draw = Random(f"{self.seed} {text}")
        return [draw.gauss(0, 1.5) for _ in range(self.vocabulary)]

    def __call__(self, newest_BT: torch.Tensor, rows: list[int] | None) -> torch.Tensor:
        newest = newest_BT.tolist()
        self.fed.append((newest, rows))
        before = self.texts or [()] * len(newest)
        rows = list(range(len(before))) if rows is None else rows
        self.texts = [(*before[row], *tokens) for row, tokens in zip(rows, newest, strict=True)]
        scores = [self.scores(text) for text in self.texts]
        return torch.tensor(scores, dtype=torch.float64)
