"""What a task is to whoever trains: rows to ids, ids to a loss, answers to scores.

A task is one file with one frozen class: its fields are its settings, and these are its promises.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..models import Architecture, Network
from ..models.sized import Settled
from ..tokens import Vocabulary
from .model import Model

Ids = Sequence[int] | NDArray[np.int32]


@dataclass(frozen=True)
class Loss:
    """A sum over `count` tokens (or labels): what is learned from is the mean over a whole step."""

    total: Tensor
    count: int


@dataclass(frozen=True, kw_only=True)
class Scored:
    """How well a model answered: numbers by name, and how they were taken.

    Args:
        decides: The numbers that say which of two models is the better: the first, and where that
            is the same the next.
    """

    numbers: Mapping[str, float]
    decides: tuple[str, ...]
    signatures: Mapping[str, str]
    answers: Sequence[str]


@runtime_checkable
class Task(Protocol):
    """What training, validating and scoring ask of a task."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What it reads of each row, by name; a store has the same fields."""
        ...

    def learn(self, rows: Iterable[Sequence[str]]) -> Vocabulary:
        """The vocabulary of these rows."""
        ...

    def architecture(self, vocabulary: Vocabulary, shape: Settled) -> Architecture:
        """A network for this vocabulary."""
        ...

    def encode(
        self, vocabulary: Vocabulary, rows: Sequence[Sequence[str]]
    ) -> Iterable[Sequence[Ids]]:
        """Every row as ids, a field for each column."""
        ...

    def loss(
        self,
        network: Network,
        vocabulary: Vocabulary,
        examples: Sequence[Sequence[Ids]],
        device: torch.device,
    ) -> Loss:
        """How badly the network does on these examples, taken at once."""
        ...

    def score(self, model: Model, rows: Sequence[Sequence[str]]) -> Scored:
        """How well the model answers these rows."""
        ...
