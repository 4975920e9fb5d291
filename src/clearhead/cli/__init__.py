"""The command line: one file a verb."""

from .main import main as main

__all__ = ["main"]
