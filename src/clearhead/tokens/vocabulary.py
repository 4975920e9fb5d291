"""What a vocabulary promises: text to ids with the place of every token in the text, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from .specials import Specials


@dataclass(frozen=True, kw_only=True)
class Encoded:
    """One text as tokens.

    `spans` are each token's first and one-past-last character in the text ((0, 0) for tokens that
    were added), `types` say which of two texts a token is from.
    """

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    types: tuple[int, ...]


@runtime_checkable
class Vocabulary(Protocol):
    """Text ↔ ids. Nothing is ever cut off or padded here."""

    @property
    def size(self) -> int:
        """How many ids there are, special ones included."""
        ...

    @property
    def specials(self) -> Specials:
        """The ids with a meaning of their own."""
        ...

    @property
    def target(self) -> "Vocabulary":
        """The vocabulary of the answer: the same one, unless source and target are cut apart."""
        ...

    def encode(self, text: str, pair: str | None = None, *, specials: bool = True) -> Encoded:
        """The tokens of a text (or two), with the special tokens the model was trained with."""
        ...

    def decode(self, ids: Sequence[int], *, specials: bool = False) -> str:
        """The text of these ids, without special tokens unless asked for."""
        ...

    def piece(self, token: int) -> str:
        """A token as the vocabulary spells it."""
        ...

    def find(self, piece: str) -> int | None:
        """The id of a token by its spelling; None when there is no such token."""
        ...

    def save(self, folder: Path) -> None:
        """Write files from which this project and `transformers` read the same vocabulary."""
        ...
