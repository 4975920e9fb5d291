"""A vocabulary: text to ids with the place of every token in the text, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from ..foundation.errors import InputError


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


class Vocabulary:
    """Text ↔ ids, by the `tokenizers` library."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @property
    def size(self) -> int:
        """How many ids there are, special ones included."""
        return self.tokenizer.get_vocab_size(with_added_tokens=True)

    def encode(self, text: str, pair: str | None = None, *, specials: bool = True) -> Encoded:
        """The tokens of a text (or two), with the special tokens the model was trained with."""
        found = self.tokenizer.encode(text, pair, add_special_tokens=specials)
        return Encoded(
            ids=tuple(found.ids),
            pieces=tuple(found.tokens),
            spans=tuple(found.offsets),
            types=tuple(found.type_ids),
        )

    def decode(self, ids: Sequence[int], *, specials: bool = False) -> str:
        """The text of these ids, without special tokens unless asked for."""
        if ids and not 0 <= min(ids) <= max(ids) < self.size:
            raise InputError(
                f"Ids from {min(ids)} to {max(ids)} do not all lie in a vocabulary of {self.size}."
            )
        return self.tokenizer.decode(list(ids), skip_special_tokens=not specials)

    def piece(self, token: int) -> str:
        """A token as the vocabulary spells it."""
        found = self.tokenizer.id_to_token(token)
        if found is None:
            raise InputError(f"Id {token} is outside the vocabulary of {self.size}.")
        return found

    def save(self, folder: Path) -> None:
        """Write tokenizer.json into `folder`."""
        self.tokenizer.save(str(folder / "tokenizer.json"))
