"""Packages that are not always installed: fetched where they are used, or named with the remedy."""

from importlib import import_module
from types import ModuleType

from .errors import MissingPartError


def need(module: str, *, extra: str, purpose: str) -> ModuleType:
    """The module of a package that belongs to one of our extras."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MissingPartError(
            f"{purpose} needs the package {error.name or package}, which is not installed: "
            f"pip install 'clearhead[{extra}]'"
        ) from error
