"""Which word of the source each word of the translation comes from, by cross-attention.

Every weight is exact; pieces are merged to words by adding over the source's and averaging over
the target's. What comes out are pairs `source-target` as alignment tools write them (Pharaoh).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ..foundation.errors import ConfigError, InputError
from .look import Look
from .questions.places import numbers

Span = tuple[int, int]  # the first piece of a word, and the piece behind its last


@dataclass(frozen=True)
class Pair:
    """A word of the source, the word of the target that comes from it, and how much of it."""

    source: int
    target: int
    score: float


@dataclass(frozen=True)
class Alignment:
    """The pairs of one sentence, one for each word of the target."""

    pairs: tuple[Pair, ...]

    @property
    def pharaoh(self) -> str:
        """`0-0 1-2 2-1`: source word, target word."""
        return " ".join(f"{pair.source}-{pair.target}" for pair in self.pairs)


@dataclass(frozen=True, kw_only=True)
class Words:
    """Which pieces make up the words of both sides, in one example of a batch.

    Args:
        written: Which query a piece of the target belongs to: the one that `produces` it, which
            has read the piece before, or the one that `reads` it.
    """

    source: Sequence[Span]
    target: Sequence[Span]
    example: int = 0
    written: str = "produces"


def align(look: Look, words: Words, *, heads: Sequence[int] | None = None) -> Alignment:
    """For each word of the target the word of the source it looks at most.

    Args:
        heads: The mean of these; of all when left out.
    """
    masses_nm = word_masses(look, words, heads)
    best = masses_nm.max(-1)
    return Alignment(
        tuple(
            Pair(int(source), target, float(score))
            for target, (source, score) in enumerate(
                zip(best.indices.tolist(), best.values.tolist(), strict=True)
            )
        )
    )


def word_masses(
    look: Look, words: Words, heads: Sequence[int] | None = None
) -> Float[Tensor, "n m"]:
    """How much of its attention each word of the target gives to each word of the source."""
    _, count, queries, keys = look.shape
    check(words, queries, keys)
    chosen = list(range(count)) if heads is None else numbers(heads, count, "head")
    spans = {str(number): span for number, span in enumerate(words.source)}
    masses_HTm = look.spans(spans).values[words.example]
    masses_Tm = masses_HTm[chosen].mean(0)
    back = 1 if words.written == "produces" else 0
    return torch.stack(
        [masses_Tm[start - back : stop - back].mean(0) for start, stop in words.target]
    )


def check(words: Words, queries: int, keys: int) -> None:
    """Refuse words whose pieces are not there."""
    if words.written not in ("produces", "reads"):
        raise ConfigError(
            f"written={words.written!r} says nothing: give 'produces' (the query that has read the "
            "piece before) or 'reads' (the one that reads the piece itself)."
        )
    back = 1 if words.written == "produces" else 0
    for side, spans, low, high in (
        ("source", words.source, 0, keys),
        ("target", words.target, back, queries + back),
    ):
        for number, (start, stop) in enumerate(spans):
            if not low <= start < stop <= high:
                raise InputError(
                    f"Word {number} of the {side} is pieces {start} to {stop}, and there are "
                    f"pieces {low} to {high}: give (first piece, piece behind the last)."
                )
        if not spans:
            raise InputError(f"The {side} has no words to align: give at least one.")


@dataclass(frozen=True)
class Judged:
    """One head as an aligner: its share of errors over a set of sentences (0 is perfect)."""

    head: int
    error_rate: float


def best_heads(
    examples: Sequence[tuple[Look, Words, frozenset[tuple[int, int]]]],
) -> list[Judged]:
    """The heads of one site from best to worst aligner, judged by (source, target) pairs.

    The share of errors is the alignment error rate with every pair sure (Och & Ney 2003):
    1 − 2·|found ∩ true| / (|found| + |true|).
    """
    if not examples:
        raise InputError("There are no sentences to judge heads by: give at least one.")
    judged = []
    for head in range(examples[0][0].shape[1]):
        hits = total = 0
        for look, words, true in examples:
            pairs = align(look, words, heads=[head]).pairs
            found = {(pair.source, pair.target) for pair in pairs}
            hits += len(found & true)
            total += len(found) + len(true)
        judged.append(Judged(head, 1 - 2 * hits / total))
    return sorted(judged, key=lambda each: (each.error_rate, each.head))


def words_of(spans: Sequence[tuple[int, int]], text: str) -> list[Span]:
    """Pieces joined to words where nothing stands between them in the text.

    Args:
        spans: Each piece's first and one-past-last character; an empty span belongs to no word.
    """
    words: list[list[int]] = []
    last = -1
    for piece, (start, stop) in enumerate(spans):
        if stop <= start:
            last = -1
            continue
        inner = text[start:stop]
        begins = not words or last < 0 or start > last or inner[:1].isspace()
        begins = begins or not _joins(text[last - 1], inner[:1])
        if begins:
            words.append([piece, piece + 1])
        else:
            words[-1][1] = piece + 1
        last = stop
    return [(first, behind) for first, behind in words]


def _joins(before: str, after: str) -> bool:
    """Whether two neighbouring letters belong to one word; Chinese characters stand alone."""
    return before.isalnum() and after.isalnum() and not (_alone(before) or _alone(after))


def _alone(letter: str) -> bool:
    return "\u2e80" <= letter <= "\u9fff" or "\uf900" <= letter <= "\ufaff"
