"""Which queries, keys and heads are meant, checked."""

from collections.abc import Sequence
from operator import index
from typing import Any

from ...foundation.errors import InputError

Places = slice | int | None


def places(given: Places, count: int, what: str) -> slice:
    """A stretch of places, counted from 0; negative numbers count from the end."""
    if given is None:
        return slice(0, count)
    if isinstance(given, int):
        given = slice(given, given + 1 if given != -1 else None)
    start, stop, step = given.indices(count)
    asked = (given.start or 0, count if given.stop is None else given.stop)
    if step != 1 or start >= stop or max(asked) > count or min(asked) < -count:
        raise InputError(
            f"There are {count} {what}, 0 to {count - 1}, and {given.start} to {given.stop} was "
            "asked for. Give a slice of places that are there, in steps of 1."
        )
    return slice(start, stop)


def is_one(given: object) -> bool:
    """Whether it is one number and no list of them."""
    return not hasattr(given, "__len__") or (hasattr(given, "dim") and given.dim() == 0)


def whole_numbers(given: object, what: str) -> list[int]:
    """One whole number, or several, as a list; what is none is refused and never rounded."""
    several: Any = [given] if is_one(given) else given
    try:
        return [index(each) for each in several]
    except TypeError:
        raise InputError(
            f"{given!r} is no {what}: give a whole number, or a list of them."
        ) from None


def numbers(given: Sequence[int] | int, count: int, what: str) -> list[int]:
    """Places by number; an error names those that are not there."""
    chosen = whole_numbers(given, what)
    wrong = [each for each in chosen if not 0 <= each < count]
    if wrong or not chosen:
        raise InputError(
            f"There is no {what} {wrong[0] if wrong else 'in an empty list'}: give numbers from 0 "
            f"to {count - 1}."
        )
    return chosen
