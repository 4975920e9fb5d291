"""Every error a user can meet. The message says what came, what was wanted, and what to do.

ClearheadError
├── ShapeError          two sizes that must agree do not
├── ConfigError         a setting is unknown, out of range, or has no effect
├── NoKernelError       no attention kernel can serve the request
├── InputError          text, ids or a file that cannot be used as given
├── FileError           a file or folder is missing, damaged, or not what it should be
├── UnknownModelError   an architecture or a name we do not know
├── MissingPartError    an optional package or a weight file is not installed
└── CannotError         this model or device cannot do what was asked
"""

from collections.abc import Iterable
from difflib import get_close_matches


class ClearheadError(Exception):
    """Base of all errors raised on purpose."""


class ShapeError(ClearheadError):
    """Two sizes that must agree do not."""


class ConfigError(ClearheadError):
    """A setting is unknown, out of range, or has no effect."""


class NoKernelError(ClearheadError):
    """No attention kernel can serve the request."""


class InputError(ClearheadError):
    """Text, ids or a value that cannot be used as given."""


class FileError(ClearheadError):
    """A file or folder is missing, damaged, or not what it should be."""


class UnknownModelError(ClearheadError):
    """An architecture or a model name we do not know."""


class MissingPartError(ClearheadError):
    """An optional package or a weight file is not installed."""


class CannotError(ClearheadError):
    """This model or device cannot do what was asked of it."""


def refuse_unknown(what: str, name: str, *known: str) -> None:
    """Raise ConfigError when `name` is none of those known, listing them."""
    if name not in known:
        raise ConfigError(
            f"There is no {what} {name!r}.{nearest(name, known)} There are: {', '.join(known)}."
        )


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?` for the closest known name, or nothing when none is close."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean {close[0]!r}?" if close else ""
