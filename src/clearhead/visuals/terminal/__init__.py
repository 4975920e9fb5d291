"""Traces in the terminal, in any width, with colour where there is colour."""

from .show import show as show

__all__ = ["show"]
