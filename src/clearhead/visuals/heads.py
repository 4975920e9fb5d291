"""What a trace of attention says of each head, ready to be drawn or listed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..foundation.errors import InputError, nearest
from ..traces import Trace


@dataclass(frozen=True)
class Head:
    """One head of one site: the means over its real queries, and what it is called.

    `head` is its number in the model, of which a trace may hold only some. A head without a pattern
    is called `mixed` and has no score; one nobody judged has no name.
    """

    site: str
    head: int
    entropy: float
    sink: float
    distance: float
    peak: float
    name: str = ""
    score: float | None = None


def heads_of(trace: Trace, *, example: int = 0) -> list[Head]:
    """Every head of the trace, in the order of the model."""
    found = []
    for site, facts in sites_of(trace).items():
        real_T = real_queries(facts, example)
        means = {
            name: trace[f"{site}.{name}"].numbers[example][:, real_T].mean(-1)
            for name in ("entropy", "sink", "distance", "peak")
        }
        names = facts.get("names", [["", None]] * facts["heads"])
        for place, head in enumerate(numbers_of(facts)):
            numbers = {name: float(values[place]) for name, values in means.items()}
            name, score = names[place]
            found.append(Head(site, head, **numbers, name=name, score=score))
    return found


def numbers_of(facts: Mapping[str, Any]) -> Sequence[int]:
    """Which heads of the model those of a site are; all, where the trace does not say."""
    numbers: Sequence[int] = facts.get("numbers", range(facts["heads"]))
    return numbers


def place_of(trace: Trace, head: Head) -> int:
    """Where this head stands among those that the trace has of its site."""
    return numbers_of(sites_of(trace)[head.site]).index(head.head)


def sites_of(trace: Trace) -> Mapping[str, Mapping[str, Any]]:
    """What the trace says of each site."""
    sites: Mapping[str, Mapping[str, Any]] = trace.about["sites"]
    return sites


def real_queries(facts: Mapping[str, Any], example: int) -> NDArray[np.bool_]:
    """Which queries of an example are no padding."""
    real_T = np.ones(facts["queries"], dtype=bool)
    for of, query in facts["left_out"]:
        if of == example:
            real_T[query] = False
    return real_T if real_T.any() else ~real_T


BY_CONTENT = ("induction", "duplicate", "diagonal")
BY_PLACE = ("previous", "next", "self", "first", "local", "stripe", "broad")


def telling(heads: Sequence[Head]) -> Head:
    """The head most worth looking at first: one that looks at what tokens are, sure of itself.

    Where the text shows no such head, one of no simple pattern; then the rest.
    """

    def worth(head: Head) -> tuple[bool, bool, float]:
        sure = head.peak * (1 - head.sink)
        return head.name in BY_CONTENT, head.name not in BY_PLACE, sure

    return max(heads, key=worth)


def chosen(trace: Trace, site: str | None, head: int | None) -> Head:
    """The head asked for; the most telling one of those left open."""
    heads, sites = heads_of(trace), sites_of(trace)
    if site is not None and site not in sites:
        raise InputError(
            f"There is no attention {site!r}.{nearest(site, sites)} There are: {', '.join(sites)}."
        )
    among = [each for each in heads if site in (None, each.site)]
    there = sorted({each.head for each in among})
    if head is not None and head not in there:
        every = there == list(range(len(there)))
        told = f"from 0 to {there[-1]}" if every else f"of {', '.join(map(str, there))}"
        raise InputError(f"There is no head {head}: give one {told}.")
    return telling([each for each in among if head in (None, each.head)])


@dataclass(frozen=True)
class Gaze:
    """Where one query looks: its strongest keys with their weights, and what all others have."""

    query: str
    keys: tuple[tuple[str, float], ...]
    left_out: float


def gazes(trace: Trace, head: Head, rows: slice, *, example: int = 0) -> list[Gaze]:
    """Where each of these queries looks."""
    facts, place = sites_of(trace)[head.site], place_of(trace, head)
    keys = trace[f"{head.site}.top_keys"].values[example, place]
    weights = trace[f"{head.site}.top_weights"].values[example, place]
    left_out = trace[f"{head.site}.top_left_out"].values[example, place]
    row_labels = labels_of(trace, head.site, "entropy", facts["queries"])
    key_labels = labels_of(trace, head.site, "received", facts["keys"])
    real_T = real_queries(facts, example)
    return [
        Gaze(
            row_labels[row],
            tuple(
                (key_labels[key], float(weight))
                for key, weight in zip(keys[row], weights[row], strict=True)
                if key >= 0
            ),
            float(left_out[row]),
        )
        for row in range(*rows.indices(facts["queries"]))
        if real_T[row]
    ]


def labels_of(trace: Trace, site: str, name: str, count: int) -> Sequence[str]:
    """What the tokens along the last axis of an entry are called; their numbers, if nothing."""
    axis = trace[f"{site}.{name}"].axes[-1]
    return trace.labels.get(axis) or [str(number) for number in range(count)]
