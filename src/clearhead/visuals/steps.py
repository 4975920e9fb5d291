"""An explanation as plain steps, for whoever reads it by machine: name, value, note."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..foundation.errors import InputError
from ..traces import Trace
from .words import Words, words_in


def steps_of(trace: Trace, *, language: str = "en") -> list[dict[str, Any]]:
    """Every step with its name, its numbers as nested lists and what is to be said about it.

    A step that does not take place has no value; −∞, which JSON cannot say, becomes None, too.
    """
    words = words_in(language)
    return [
        {"name": name, "value": _plain(trace, name), "note": note_on(trace, name, words)}
        for name in names_of(trace)
    ]


def names_of(trace: Trace) -> list[str]:
    """The names of the steps, in order."""
    if trace.kind != "explanation":
        raise InputError(
            f"This trace is a {trace.kind!r} and not an explanation, which is what is drawn here. "
            "Give one that `clearhead explain --save` wrote."
        )
    return [str(name) for name in trace.about["steps"]]


def note_on(trace: Trace, name: str, words: Words) -> str:
    """Why there is such a step, and what is special about it here."""
    said = [words.why.get(name, ""), *map(words.sentence, trace.notes_about(name))]
    if name in trace and np.isinf(trace[name].values).any():
        said.append(words.screen["null"])
    return words.space.join(sentence for sentence in said if sentence)


def _plain(trace: Trace, name: str) -> Any:
    return _without_infinities(trace[name].values) if name in trace else None


def _without_infinities(values: NDArray[Any]) -> Any:
    if np.isfinite(values).all():
        return values.tolist()
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return plain.tolist()
