"""Which head and which query: what was asked for, found or refused."""

from collections.abc import Sequence

from ...foundation.errors import ConfigError, InputError, nearest

SHOWN = 40  # a refusal lists at most this many tokens


def pick_number(what: str, asked: int | None, count: int, owner: str) -> int:
    """The layer or head asked for, the first when left out."""
    if asked is not None and not 0 <= asked < count:
        only = f"only {what} 0" if count == 1 else f"{what}s 0 to {count - 1}"
        raise ConfigError(f"There is no {what} {asked}: {owner} has {only}.")
    return asked or 0


def pick_query(labels: Sequence[str], asked: str | int | None, *, otherwise: int = 0) -> int:
    """The place of the query asked for: a number, or a token that is there once."""
    if asked is None:
        return otherwise
    if isinstance(asked, str):
        places = [place for place, label in enumerate(labels) if _same(label, asked)]
        if len(places) > 1:
            known = ", ".join(map(str, places))
            raise InputError(
                f"The token {asked!r} is there {len(places)} times, at {known}: "
                "give one of these numbers as the query."
            )
        if places:
            return places[0]
        if not asked.strip().lstrip("-").isdecimal():
            close = nearest(asked.casefold(), {label.casefold() for label in labels})
            raise InputError(f"No token is {asked!r}.{close} {_tokens(labels)}")
        asked = int(asked)
    if not 0 <= asked < len(labels):
        raise InputError(f"There is no token {asked}. {_tokens(labels)}")
    return asked


def _same(label: str, asked: str) -> bool:
    return label.strip().casefold() == asked.strip().casefold()


def _tokens(labels: Sequence[str]) -> str:
    """The tokens with their places, which is what one can ask for."""
    listed = ", ".join(f"{place} {label}" for place, label in enumerate(labels[:SHOWN]))
    more = f", … {len(labels) - 1} {labels[-1]}" if len(labels) > SHOWN else ""
    return f"The tokens are: {listed}{more}. Give a token or its number."
