"""The log: Python's own, under one name. The program that uses us decides whether it is shown."""

import logging

from .errors import ConfigError, nearest

NAME = "clearhead"
LEVELS = ("debug", "info", "warning", "error")


def log(room: str = "") -> logging.Logger:
    """Return the log of the project, or of one room in it."""
    return logging.getLogger(f"{NAME}.{room}" if room else NAME)


def show_log(level: str = "info") -> None:
    """Show what is logged from this level up on standard error, in colour where it can.

    For the command line and scripts; calling it again changes the level.
    """
    # Only who shows the log waits for rich.
    from rich.console import Console
    from rich.logging import RichHandler

    if level not in LEVELS:
        known = ", ".join(LEVELS)
        raise ConfigError(
            f"There is no log level {level!r}.{nearest(level, LEVELS)} Choose: {known}."
        )
    console = Console(stderr=True)
    ours = log()
    for handler in list(ours.handlers):
        ours.removeHandler(handler)
    ours.addHandler(RichHandler(console=console, show_path=False, show_time=False))
    ours.setLevel(level.upper())
    ours.propagate = False
