"""Beam search as its definition says, in plain loops over every token, one sentence at a time."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from told import Text, Told

from clearhead.inference.beam import Search


@dataclass
class Found:
    """A text with its score."""

    ids: Text
    score: float
    log_probability: float


def log_probabilities(scores: list[float]) -> list[float]:
    total = math.log(sum(math.exp(score) for score in scores))
    return [score - total for score in scores]


def by_hand(model: Told, prompt: Text, search: Search, limit: int) -> list[Found]:
    """The best ends by beam search."""
    live: list[tuple[float, Text]] = [(0.0, ())]
    ended: list[Found] = []
    for length in range(1, limit + 1):
        grown = sorted(longer(model, prompt, live, search), key=lambda each: -each[0])
        live = []
        for rank, (log_p, ids) in enumerate(grown):
            stops = ids[-1] in search.stops
            if (stops or length == limit) and rank < search.beams:
                score = log_p / search.divide(length)
                ended.append(Found(ids[:-1] if stops else ids, score, log_p))
            if not stops and length < limit and len(live) < search.beams:
                live.append((log_p, ids))
        ended = sorted(ended, key=lambda each: -each.score)[: search.beams]
        if over(live, ended, search, length, limit):
            break
    return ended


def longer(model: Told, prompt: Text, live: list[tuple[float, Text]], search: Search):
    """Every beginning with every token that may follow."""
    for log_p, ids in live:
        for token, more in enumerate(log_probabilities(model.scores((*prompt, *ids)))):
            early = token in search.stops and len(ids) < search.min_tokens
            if not early and token not in search.never:
                yield log_p + more, (*ids, token)


def over(live: list, ended: list, search: Search, length: int, limit: int) -> bool:
    if len(ended) < search.beams or not live:
        return not live
    best, worst = max(log_p for log_p, _ in live), ended[-1].score
    if search.patience == "likely":
        return best / search.divide(length) <= worst
    if search.patience == "none":
        return True
    # Whatever its length will be, and were all its tokens to come certain.
    return all(best / search.divide(later) <= worst for later in range(length + 1, limit + 1))


def every_text(
    model: Told, prompt: Text, stops: tuple[int, ...], limit: int, divide: Callable[[int], float]
) -> list[Found]:
    """Every text there is, the best first."""
    found = []
    for length in range(1, limit + 1):
        for ids in product(range(model.vocabulary), repeat=length):
            inner, last = ids[:-1], ids[-1]
            if any(token in stops for token in inner) or (last not in stops and length < limit):
                continue
            log_p = sum(
                log_probabilities(model.scores((*prompt, *ids[:place])))[token]
                for place, token in enumerate(ids)
            )
            text = inner if last in stops else ids
            found.append(Found(text, log_p / divide(length), log_p))
    return sorted(found, key=lambda each: -each.score)
