"""A dataclass ↔ plain values: dicts, lists, numbers and text, as TOML and JSON hold them."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TypeVar

from ..foundation.errors import ConfigError
from .decode import NONE, decode_table
from .place import Place
from .setting import idle_settings, is_default, settings_of

Table = TypeVar("Table")


def from_plain(
    cls: type[Table], plain: Mapping[str, object], *, source: str = "the configuration"
) -> Table:
    """Return the dataclass the values describe; `source` names them in an error."""
    return decode_table(cls, plain, Place(source))


def to_plain(value: object) -> dict[str, object]:
    """Return values from which `from_plain` makes the same dataclass again.

    A setting that is None by default, or that has no effect, is left out while it has its default.
    Refuses what `from_plain` would refuse.
    """
    plain = encode_table(value)
    again = from_plain(type(value), plain, source=type(value).__name__)
    if again != value:
        raise ConfigError(
            f"{value!r} would read back as {again!r}. Give each setting the type it asks for; "
            f"the text {NONE!r} stands for nothing at all where a setting is optional."
        )
    return plain


def check(value: Table) -> Table:
    """Return the same value, or refuse it as if it had been read: types, ranges, idle settings."""
    to_plain(value)
    return value


def encode_table(value: object) -> dict[str, object]:
    """Return one dataclass as a dict."""
    idle = idle_settings(value)
    plain: dict[str, object] = {}
    for name, item in settings_of(type(value)).items():
        current: object = getattr(value, name)
        needless = current is None or name in idle
        if not (needless and is_default(item, current)):
            plain[name] = encode(current)
    return plain


def encode(value: object) -> object:
    """Return one value as TOML and JSON can hold it; what they cannot hold is left as it is."""
    if value is None:
        return NONE
    if is_dataclass(value) and not isinstance(value, type):
        return encode_table(value)
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value
