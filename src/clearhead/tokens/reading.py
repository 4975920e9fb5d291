"""Find and read the vocabulary in a model's folder."""

from pathlib import Path

from tokenizers import Tokenizer

from ..foundation.errors import FileError
from .vocabulary import Vocabulary


def read_vocabulary(folder: Path) -> Vocabulary | None:
    """The vocabulary stored in a folder; None when it has none."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        return None
    try:
        return Vocabulary(Tokenizer.from_file(str(path)))
    except Exception as error:  # tokenizers raises bare Exception
        raise FileError(f"{path} is not a tokenizer ({error}). Copy it again.") from error
