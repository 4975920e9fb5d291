"""What a text's log-probability is divided by: every token makes it smaller, also the right one."""

from collections.abc import Callable

from ..foundation.errors import ConfigError

Divide = Callable[[int], float]  # the length of a text → what its log-probability is divided by


def average(alpha: float = 1.0) -> Divide:
    """By length ** alpha: with 1 a score is that of an average token, with 0 the whole text's."""
    _check(alpha)
    return lambda length: float(length**alpha)


def gnmt(alpha: float = 0.6) -> Divide:
    """By ((5 + length) / 6) ** alpha, gentler on short texts (Wu et al. 2016, section 7)."""
    _check(alpha)
    return lambda length: float(((5 + length) / 6) ** alpha)


def _check(alpha: float) -> None:
    if not abs(alpha) <= 10:  # not a number is not either
        raise ConfigError(
            f"An alpha of {alpha} was given for the length of texts: give a number from -10 to 10, "
            "such as 1 for the average token, 0 to leave the length out."
        )
