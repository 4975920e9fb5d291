"""A vocabulary the `tokenizers` library runs: WordPiece, byte-level BPE, unigram."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from ..foundation.errors import InputError
from ..foundation.json_file import write_json
from .beside import Beside
from .specials import Specials, generation_settings, read_specials
from .vocabulary import Encoded


class Subwords:
    """Text ↔ ids by one tokenizer, for both sides alike."""

    def __init__(self, tokenizer: Tokenizer, beside: Beside | None = None) -> None:
        # Files may ask to cut and pad every text; a batch does that where it is seen.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.tokenizer = tokenizer
        self.beside = beside or Beside()
        # Their word for it: what is spelled like a special token in a text is text.
        if self.beside.options.get("split_special_tokens"):
            tokenizer.encode_special_tokens = True
        self.specials: Specials = read_specials(
            tokenizer.token_to_id, self.beside.special_tokens, self.beside.ids
        )

    @property
    def size(self) -> int:
        """How many ids there are, special ones included."""
        return self.tokenizer.get_vocab_size(with_added_tokens=True)

    @property
    def target(self) -> "Subwords":
        """The vocabulary of the answer: this one."""
        return self

    def encode(self, text: str, pair: str | None = None, *, specials: bool = True) -> Encoded:
        """The tokens of a text (or two), with the special tokens the model was trained with."""
        found = self.tokenizer.encode(text, pair, add_special_tokens=specials)
        return Encoded(
            ids=tuple(found.ids),
            pieces=tuple(found.tokens),
            spans=tuple(found.offsets),
            types=tuple(found.type_ids),
        )

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, as `encode` gives them: several at once where there are cores."""
        found = self.tokenizer.encode_batch_fast(list(texts))
        return [each.ids for each in found]

    def decode(self, ids: Sequence[int], *, specials: bool = False) -> str:
        """The text of these ids, without special tokens unless asked for."""
        check_ids(ids, self.size)
        return self.tokenizer.decode(list(ids), skip_special_tokens=not specials)

    def piece(self, token: int) -> str:
        """A token as the vocabulary spells it."""
        check_ids((token,), self.size)
        return self.tokenizer.id_to_token(token) or ""

    def find(self, piece: str) -> int | None:
        """The id of a token by its spelling; None when there is no such token."""
        return self.tokenizer.token_to_id(piece)

    def save(self, folder: Path) -> None:
        """Write tokenizer.json and the settings beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        self.tokenizer.save(str(folder / "tokenizer.json"))
        save_beside(self.beside, self.specials, folder)


def save_beside(beside: Beside, specials: Specials, folder: Path) -> None:
    """Write what stands beside a vocabulary: its options, and the ids a generator needs."""
    options = {**beside.special_tokens, **beside.options}
    options.setdefault("tokenizer_class", beside.published_as or "PreTrainedTokenizerFast")
    write_json(folder / "tokenizer_config.json", options)
    generation = {**beside.generation, **generation_settings(specials)}
    if generation:
        write_json(folder / "generation_config.json", generation)


def check_ids(ids: Sequence[int], size: int) -> None:
    """Refuse ids that a vocabulary does not have."""
    for token in (min(ids), max(ids)) if ids else ():
        if not 0 <= token < size:
            raise InputError(outside(token, size))


def outside(token: int, size: int) -> str:
    """The sentence about an id outside the vocabulary."""
    return (
        f"Id {token} is outside the vocabulary of {size}: ids go from 0 to {size - 1}. Use the "
        "vocabulary that belongs to the model that made it."
    )
