"""What a network is asked about: text or ids as tokens with labels, or a picture, or sound."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...foundation.errors import CannotError, InputError
from ...tokens import Encoded, Vocabulary


@dataclass(frozen=True)
class Tokens:
    """What goes into a network, a batch of one, and what its tokens are called.

    `first_word` is the first token that stands for a piece of the text.
    """

    tensor: Tensor
    labels: tuple[str, ...] = ()
    first_word: int = 0

    def labels_for(self, count: int) -> tuple[str, ...]:
        """The labels; numbers for what has no names, such as the patches of a picture."""
        return self.labels if len(self.labels) == count else tuple(map(str, range(count)))


def vocabulary_of(model: object) -> Vocabulary | None:
    """The vocabulary that came with a model; None where it has none, or reads no text."""
    found = getattr(model, "tokens", None)
    return found if hasattr(found, "encode") else None


def source_of(given: str | Sequence[int] | Tensor, vocabulary: Vocabulary | None) -> Tokens:
    """Text as the vocabulary cuts it; ids and what is not made of words as they are."""
    if not isinstance(given, str):
        return _of_numbers(given, vocabulary)
    words = _needed(vocabulary)
    if not given.strip():
        raise InputError("The text is empty. Give at least one word.")
    return _of_encoded(given, words.encode(given))


def target_of(given: str | Sequence[int] | None, vocabulary: Vocabulary | None) -> Tokens | None:
    """What a decoder has written so far: where it starts, then the text. None when nobody knows."""
    if given is not None and not isinstance(given, str):
        return _of_numbers(given, vocabulary.target if vocabulary else None)
    if given is None and (vocabulary is None or vocabulary.specials.start is None):
        return None
    words = _needed(vocabulary).target
    start = words.specials.start
    written = _of_encoded(given or "", words.encode(given or "", specials=False))
    if start is None:
        return written
    ids = torch.cat([torch.tensor([[start]]), written.tensor], dim=1)
    return Tokens(ids, (words.piece(start), *written.labels), 0)


def _needed(vocabulary: Vocabulary | None) -> Vocabulary:
    if vocabulary is None:
        raise CannotError(
            "This model has no vocabulary, so it cannot read text. Give what it reads as numbers "
            "(from Python), or load it from a folder that has its tokenizer files."
        )
    return vocabulary


def _of_encoded(text: str, encoded: Encoded) -> Tokens:
    labels = tuple(
        text[start:end].strip() or piece
        for piece, (start, end) in zip(encoded.pieces, encoded.spans, strict=True)
    )
    words = [place for place, (start, end) in enumerate(encoded.spans) if end > start]
    ids = torch.tensor([encoded.ids], dtype=torch.long)
    return Tokens(ids, labels, words[0] if words else 0)


def _of_numbers(given: Sequence[int] | Tensor, vocabulary: Vocabulary | None) -> Tokens:
    tensor = given if isinstance(given, Tensor) else torch.tensor(list(given), dtype=torch.long)
    if tensor.dim() == 1:
        tensor = tensor[None]
    if len(tensor) != 1 or not tensor.numel():
        raise InputError(
            f"Numbers of shape {tuple(tensor.shape)} are not one example: give one list of ids, "
            "or one picture or spectrogram with a batch axis of 1 in front."
        )
    if tensor.is_floating_point():
        return Tokens(tensor)
    ids = [int(token) for token in tensor[0]]
    spell = str if vocabulary is None else vocabulary.piece
    return Tokens(tensor, tuple(map(spell, ids)))
