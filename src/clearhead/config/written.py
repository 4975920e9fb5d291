"""A value as somebody typed it after `key=`: what it means depends on what the setting wants."""

import tomllib
from typing import Any

from .wanted import alternatives


class Written(str):
    """Text from a command line, not yet understood."""

    __slots__ = ()

    def meant_for(self, annotation: Any) -> object:
        """Return the value as TOML reads it; as plain text where TOML cannot, or text is wanted."""
        try:
            understood: object = tomllib.loads(f"value = {self}")["value"]
        except tomllib.TOMLDecodeError:
            return str(self)
        wants_text = str in alternatives(annotation)
        return str(self) if wants_text and not isinstance(understood, str) else understood
