"""Beam search: at every step the few likeliest beginnings go on, and the best ends are kept.

score = log P(tokens) / divide(length)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from ..foundation.errors import CannotError, ConfigError, InputError
from .lengths import Divide, average
from .likeliest import Option, likeliest, log_probabilities
from .step import Step


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A text that was found: its new tokens without the one that ended it, and how good it is."""

    ids: tuple[int, ...]
    score: float
    log_probability: float


@dataclass(frozen=True, kw_only=True)
class Search:
    """How to search.

    A sentence is done when nothing of it can go on. It is done before where `beams` ends were
    found and `patience` allows: `none` at once; `likely` when its best beginning, scored as if it
    ended there, is not better than the worst of these ends; `sure` when no beginning can become
    better than it, however it goes on, for a `divide` that only grows or only falls.

    Args:
        stops: The ids that end a text.
        beams: How many beginnings go on, and how many ends are kept.
        min_tokens: A text cannot end before it has this many.
        never: Ids that no text has.
        divide: From the length of a text, the token that ended it counted, to what its
            log-probability is divided by.
    """

    stops: Collection[int]
    beams: int = 4
    min_tokens: int = 0
    never: Collection[int] = ()
    divide: Divide = field(default_factory=average)
    patience: Literal["none", "likely", "sure"] = "likely"

    def __post_init__(self) -> None:
        if self.beams < 1:
            raise ConfigError(f"A search with {self.beams} beams finds nothing: give 1 or more.")
        if self.min_tokens < 0:
            raise ConfigError(
                f"A text cannot have {self.min_tokens} tokens at least: give 0 or more."
            )


@torch.inference_mode()
def beam_search(
    step: Step,
    prompts_BT: Int[Tensor, "b t"],
    search: Search,
    *,
    max_tokens: int | Sequence[int],
) -> list[list[Hypothesis]]:
    """The best texts that follow each prompt, at most `search.beams` of them, the best first.

    Where two beginnings are as likely, that of the better beam goes first, then the lower id;
    where two ends score the same, the earlier. What a prompt gets does not depend on the others:
    its beams are searched by themselves, and leave the batch when it is done.

    Args:
        max_tokens: At most so many new tokens, the one that ends a text counted; a text that
            reaches them ends there. One number for all prompts, or one for each.
    """
    limits = _limits(max_tokens, len(prompts_BT), search)
    sentences = [Sentence(search, limit, row) for row, limit in enumerate(limits)]
    waiting, rows, newest_BT, length = sentences, None, prompts_BT, 0
    while waiting:
        banned = [*search.never, *(search.stops if length < search.min_tokens else ())]
        log_BV = log_probabilities(step(newest_BT, rows), banned)
        options = likeliest(log_BV, search.beams + len(search.stops))
        _advance(waiting, options)
        waiting = [sentence for sentence in waiting if not sentence.done]
        beams = [beam for sentence in waiting for beam in sentence.live]
        continued = [beam.row for beam in beams]
        rows = None if continued == list(range(len(options))) else continued
        newest_BT = prompts_BT.new_tensor([beam.ids[-1:] for beam in beams])
        length += 1
    return [sentence.found() for sentence in sentences]


def _limits(max_tokens: int | Sequence[int], count: int, search: Search) -> list[int]:
    """How long each text may become."""
    limits = [max_tokens] * count if isinstance(max_tokens, int) else list(max_tokens)
    if len(limits) != count:
        raise InputError(
            f"There are {len(limits)} numbers of tokens for {count} prompts: give one for each, or "
            "one number for all."
        )
    wanted = max(1, search.min_tokens)
    if limits and min(limits) < wanted:
        raise InputError(
            f"A text may have {min(limits)} tokens at most and needs {wanted} at least: give a "
            "larger max_tokens."
        )
    return limits


@dataclass(frozen=True)
class Beam:
    """A beginning, and which row of the last step it continued."""

    ids: tuple[int, ...]
    log_probability: float
    row: int


class Candidate(NamedTuple):
    """A beam with one token more. The likeliest sorts first, then the better beam, the lower id."""

    cost: float  # -log P
    place: int  # of the beam among its sentence's
    token: int


class Sentence:
    """The beams of one prompt: those that go on, best first, and the best that have ended."""

    def __init__(self, search: Search, max_tokens: int, row: int) -> None:
        self.search, self.max_tokens = search, max_tokens
        self.live = [Beam((), 0.0, row)]
        self.ended: list[Hypothesis] = []

    def advance(self, options: Sequence[Sequence[Option]], first: int) -> None:
        """Go on by one token.

        Args:
            options: The likeliest tokens after each beam, `beams` that end no text among them.
            first: The row of the first beam in the step that scored them.
        """
        search, before = self.search, self.live
        self.live = []
        for rank, (cost, place, token) in enumerate(_candidates(before, options)):
            ids = before[place].ids
            stops, full = token in search.stops, len(ids) + 1 == self.max_tokens
            if not (stops or full) and len(self.live) < search.beams:
                self.live.append(Beam((*ids, token), -cost, first + place))
            # An end that is not among the best now would not have been a beam.
            if (stops or full) and rank < search.beams:
                score = -cost / search.divide(len(ids) + 1)
                text = ids if stops else (*ids, token)
                self.ended.append(Hypothesis(ids=text, score=score, log_probability=-cost))
        self.ended = sorted(self.ended, key=_falling)[: search.beams]

    @property
    def done(self) -> bool:
        """Whether the search for this sentence is over; `Search` has the rule."""
        if not self.live or len(self.ended) < self.search.beams:
            return not self.live
        if self.search.patience == "none":
            return True
        best, length = self.live[0].log_probability, len(self.live[0].ids)
        lengths = (length,) if self.search.patience == "likely" else (length + 1, self.max_tokens)
        hoped = best / max(self.search.divide(each) for each in lengths)
        return hoped <= self.ended[-1].score

    def found(self) -> list[Hypothesis]:
        """The best ends, or a sentence why there are none."""
        if not self.ended:
            raise CannotError(
                "No text has any probability: the scores of the next token are not numbers, or "
                "every token is forbidden. Look at the model's weights, and at stops and never."
            )
        return self.ended


def _advance(sentences: Sequence[Sentence], options: Sequence[Sequence[Option]]) -> None:
    """Give each sentence what was said of its rows."""
    first = 0
    for sentence in sentences:
        end = first + len(sentence.live)
        sentence.advance(options[first:end], first)
        first = end


def _candidates(beams: Sequence[Beam], options: Sequence[Sequence[Option]]) -> list[Candidate]:
    """All that may come next and has any probability, the best first."""
    return sorted(
        Candidate(-(beam.log_probability + log_probability), place, token)
        for place, (beam, following) in enumerate(zip(beams, options, strict=True))
        for log_probability, token in following
        if log_probability > -inf
    )


def _falling(hypothesis: Hypothesis) -> float:
    return -hypothesis.score
