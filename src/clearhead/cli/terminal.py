"""The terminal people sit at: its letters and its language."""

import os
from collections.abc import Mapping
from io import TextIOWrapper

from ..visuals.words import words_in


def never_fail_on_a_letter(screen: object) -> None:
    """Write `?` for a letter that this terminal does not have."""
    if isinstance(screen, TextIOWrapper):
        screen.reconfigure(errors="replace")


def spoken(environment: Mapping[str, str]) -> str:
    """The language a terminal is set to: Chinese where it says so, else English."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    named = next((environment[name] for name in names if environment.get(name)), "")
    return "zh" if named.lower().startswith("zh") else "en"


def language_of(asked: str | None) -> str:
    """The language asked for, or that of the terminal; one that is not there is refused."""
    language = asked or spoken(os.environ)
    words_in(language)
    return language
