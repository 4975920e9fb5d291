"""Numbers as text: as short as they can be said without saying something else."""

from collections.abc import Iterable

PLACES = 4
NOTHING = 1e-12  # what rounding leaves of a zero in float64
POWERS = -1  # in place of a count of decimals: written as 1.5e+07


def short(number: float) -> str:
    """A number with at most four decimals: `0.5`, `-1.2345`, `−∞`, `3.1e-07`."""
    if abs(number) == float("inf"):
        return "∞" if number > 0 else "−∞"
    if abs(number) < NOTHING:
        return "0"
    if not 5e-5 <= abs(number) < 1e6:
        return f"{number:.2g}"
    return f"{number:.{PLACES}f}".rstrip("0").rstrip(".")


def places_for(numbers: Iterable[float]) -> int:
    """How many decimals a grid of these numbers needs; POWERS where decimals would not do."""
    finite = [abs(float(number)) for number in numbers if abs(number) < float("inf")]
    largest = max(finite, default=0.0)
    if largest >= 1e6 or NOTHING <= largest < 1e-3:
        return POWERS
    most = max(0, min(PLACES, 6 - len(str(int(largest)))))
    for places in range(most):
        if all(abs(round(number, places) - number) < 10.0 ** -(most + 1) for number in finite):
            return places
    return most


def aligned(number: float, places: int) -> str:
    """A number with exactly so many decimals, for a grid; `−∞` as it is."""
    if abs(number) == float("inf"):
        return short(number)
    if places == POWERS:
        return "0" if abs(number) < NOTHING else f"{number:.1e}"
    text = f"{number:.{places}f}"
    return text.lstrip("-") if float(text) == 0 else text
