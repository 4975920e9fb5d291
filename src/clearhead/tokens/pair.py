"""Two vocabularies in one: a text to read is cut by the first, an answer by the second."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tokenizers import Tokenizer

from ..foundation.json_file import read_json, write_json
from .beside import Beside
from .specials import Specials
from .subwords import Subwords
from .vocabulary import Encoded

Reader = Callable[[Path], Tokenizer]
SOURCE, TARGET, ABOUT = "source.tokenizer.json", "target.tokenizer.json", "pair.json"


class Pair:
    """Text ↔ ids, cut differently on either side. It speaks for the source; `target` is beside."""

    def __init__(self, source: Subwords, target: Subwords) -> None:
        self.source, self._target = source, target

    @property
    def size(self) -> int:
        """How many ids the source has."""
        return self.source.size

    @property
    def specials(self) -> Specials:
        """The source's ids with a meaning of their own."""
        return self.source.specials

    @property
    def target(self) -> Subwords:
        """The vocabulary of the answer."""
        return self._target

    def encode(self, text: str, pair: str | None = None, *, specials: bool = True) -> Encoded:
        """The tokens of a text to read."""
        return self.source.encode(text, pair, specials=specials)

    def ids_of(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts to read."""
        return self.source.ids_of(texts)

    def decode(self, ids: Sequence[int], *, specials: bool = False) -> str:
        """The text that was read."""
        return self.source.decode(ids, specials=specials)

    def piece(self, token: int) -> str:
        """A token of the source as its vocabulary spells it."""
        return self.source.piece(token)

    def find(self, piece: str) -> int | None:
        """The id of a token of the source by its spelling."""
        return self.source.find(piece)

    def save(self, folder: Path) -> None:
        """Write both, and what their special tokens are."""
        folder.mkdir(parents=True, exist_ok=True)
        self.source.tokenizer.save(str(folder / SOURCE))
        self.target.tokenizer.save(str(folder / TARGET))
        sides = {"source": self.source.beside, "target": self.target.beside}
        about = {
            side: {"options": dict(beside.options), "generation": dict(beside.generation)}
            for side, beside in sides.items()
        }
        write_json(folder / ABOUT, about)


def read_pair(folder: Path, read: Reader) -> Pair:
    """Both vocabularies of a folder."""
    about = read_json(folder / ABOUT)
    sides = [
        Subwords(read(folder / name), Beside(**about.get(side, {})))
        for side, name in (("source", SOURCE), ("target", TARGET))
    ]
    return Pair(*sides)
