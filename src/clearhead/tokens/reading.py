"""Find and read the vocabulary in a model's folder, in whichever form it has.

source.spm, target.spm, vocab.json    Marian: one vocabulary, two sides
source.tokenizer.json, pair.json      ours, where source and target are cut differently
tokenizer.json                        what the `tokenizers` library writes
vocab.txt                             BERT
vocab.json, merges.txt                GPT-2, RoBERTa, BART, Qwen, Whisper
spiece.model, tokenizer.model         SentencePiece: T5, Llama 2, Mistral
"""

from pathlib import Path

from tokenizers import Tokenizer

from ..foundation.errors import FileError
from .beside import Beside, read_beside
from .byte_level import read_byte_level
from .pair import ABOUT, read_pair
from .sentencepieces import read_sentencepiece
from .subwords import Subwords
from .two_sides import TwoSides, read_two_sides
from .vocabulary import Vocabulary
from .wordpiece import read_wordpiece

SENTENCEPIECE = ("spiece.model", "tokenizer.model", "sentencepiece.bpe.model")
MARIAN = ("source.spm", "target.spm", "vocab.json")
PAIRS = ("vocab.json", "merges.txt")


def read_vocabulary(folder: Path) -> Vocabulary | None:
    """The vocabulary stored in a folder; None when it has none."""
    if (folder / ABOUT).is_file():
        return read_pair(folder, read_tokenizer)
    beside = read_beside(folder)
    sides: TwoSides | None = read_two_sides(folder, beside) if _complete(folder, MARIAN) else None
    if sides is not None:
        return sides
    tokenizer = _tokenizer(folder, beside)
    return None if tokenizer is None else Subwords(tokenizer, beside)


def _tokenizer(folder: Path, beside: Beside) -> Tokenizer | None:
    if (folder / "tokenizer.json").is_file():
        return read_tokenizer(folder / "tokenizer.json")
    if (folder / "vocab.txt").is_file():
        return read_wordpiece(folder / "vocab.txt", beside)
    if _complete(folder, PAIRS):
        return read_byte_level(folder, beside)
    for name in SENTENCEPIECE:
        if (folder / name).is_file():
            return read_sentencepiece(folder / name, beside)
    return None


def _complete(folder: Path, names: tuple[str, ...]) -> bool:
    """Whether all these files are there. Some of them alone are of no use, and refused."""
    there = [name for name in names if (folder / name).is_file()]
    if there in ([], ["vocab.json"]) and names == MARIAN:
        return False  # vocab.json alone may belong to merges.txt
    if there and len(there) < len(names):
        missing = [name for name in names if name not in there]
        raise FileError(
            f"{folder} has {', '.join(there)} and no {', '.join(missing)}: only together are they "
            "a vocabulary. Copy what is missing there."
        )
    return bool(there)


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer in a tokenizer.json."""
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        raise FileError(
            f"{path} is not a tokenizer ({error}): the file is damaged, or newer than the "
            "tokenizers package here. Copy it again, or update the package."
        ) from error
