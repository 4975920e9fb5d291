"""Pairs of dates drawn from a seed, and files of them; some months are kept for judging.

The same seed gives the same pairs, while babel brings the same names and numpy the same numbers.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cache
from itertools import islice, repeat
from pathlib import Path

from ...foundation.errors import ConfigError
from ...foundation.seeds import derived, numpy_generator
from .written import FIRST_YEAR, LAST_YEAR, english_forms, translated

YEARS = (1900, 2099)
HELD_OUT = 10  # one month in so many
CHUNK = 4096

Pair = tuple[str, str]


def pairs(
    count: int, *, seed: int, held_out: bool, years: tuple[int, int] = YEARS
) -> Iterator[Pair]:
    """So many pairs of English and Chinese: days of these years, in any form, all equally likely.

    Training pairs are of months that are not held out, the others of those alone. Drawing more
    pairs leaves the first ones as they are.
    """
    _refuse_less_than_none(count)
    return islice(_stream(seed, held_out=held_out, years=years), count)


def write(
    folder: Path,
    *,
    seed: int,
    train: int,
    valid: int,
    test: int,
    years: tuple[int, int] = YEARS,
) -> None:
    """Write so many pairs to train.tsv, valid.tsv and test.tsv; what has these names is replaced.

    The last two are of held-out months, and together hold no source twice. Training pairs are
    drawn freely, so that a common one may return.
    """
    kept = _distinct(valid, test, seed=seed, years=years)
    drawn = pairs(train, seed=seed, held_out=False, years=years)
    folder.mkdir(parents=True, exist_ok=True)
    _save(folder / "train.tsv", drawn)
    _save(folder / "valid.tsv", kept[:valid])
    _save(folder / "test.tsv", kept[valid:])


def is_held_out(year: int, month: int) -> bool:
    """Whether a month is kept for judging, whatever the seed: nothing ever trains on it."""
    return derived(0, f"dates of {year}-{month:02}") % HELD_OUT == 0


@cache
def days_of(years: tuple[int, int], *, held_out: bool) -> tuple[date, ...]:
    """Every day from the first year to the last that is held out, or every one that is not."""
    first, last = years
    if not FIRST_YEAR <= first <= last <= LAST_YEAR:
        raise ConfigError(
            f"The years {first} to {last} cannot be drawn from. Choose a first and a last year "
            f"from {FIRST_YEAR} to {LAST_YEAR}, the earlier one first."
        )
    found = [
        date(year, month, day)
        for year in range(first, last + 1)
        for month in range(1, 13)
        if is_held_out(year, month) == held_out
        for day in range(1, monthrange(year, month)[1] + 1)
    ]
    if not found:
        raise ConfigError(
            f"No month of the years {first} to {last} is held out: about one in {HELD_OUT} is. "
            "Choose more years."
        )
    return tuple(found)


def _stream(seed: int, *, held_out: bool, years: tuple[int, int]) -> Iterator[Pair]:
    """Pairs without an end."""
    days, forms = days_of(years, held_out=held_out), english_forms()
    generator = numpy_generator(seed, "dates held out" if held_out else "dates to train on")
    return (
        translated(days[day], forms[form])
        for _ in repeat(None)
        for day, form in generator.integers((len(days), len(forms)), size=(CHUNK, 2)).tolist()
    )


def _distinct(valid: int, test: int, *, seed: int, years: tuple[int, int]) -> list[Pair]:
    """So many held-out pairs without a source that returns."""
    _refuse_less_than_none(valid)
    _refuse_less_than_none(test)
    wanted = valid + test
    # Half of what there is: the last ones would be drawn again and again before they are complete.
    room = len(days_of(years, held_out=True)) * len(english_forms()) // 2
    if wanted > room:
        raise ConfigError(
            f"{valid} pairs for valid.tsv and {test} for test.tsv were asked for, and the held-out "
            f"months of {years[0]} to {years[1]} give {room} together. Ask for fewer, or for more "
            "years."
        )
    found: dict[str, str] = {}
    for source, target in _stream(seed, held_out=True, years=years):
        if len(found) == wanted:
            break
        found[source] = target
    return list(found.items())


def _save(path: Path, found: Iterable[Pair]) -> None:
    lines = ["source\ttarget", *("\t".join(pair) for pair in found)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _refuse_less_than_none(count: int) -> None:
    if count < 0:
        raise ConfigError(f"{count} pairs cannot be drawn. Choose a whole number from 0 on.")
