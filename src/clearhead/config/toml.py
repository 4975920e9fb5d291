"""A dataclass ↔ TOML. What is written carries each setting's help, choices and range."""

import tomllib
from collections.abc import Mapping
from dataclasses import Field, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import tomlkit
from tomlkit.items import AoT, Array, Item, Table

from ..foundation.errors import ConfigError, FileError
from .plain import from_plain, to_plain
from .setting import help_of, range_of, settings_of
from .wanted import alternatives, in_words

Made = TypeVar("Made")


def read(cls: type[Made], source: Mapping[str, object] | str | Path) -> Made:
    """Return the dataclass described by a TOML file, or by a mapping already in memory."""
    if isinstance(source, Mapping):
        return from_plain(cls, source)
    path = Path(source)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"{path} cannot be read: {error.strerror}. Give the path of a TOML file."
        ) from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8 text. Save it as UTF-8.") from error
    return from_toml(cls, text, source=path.name)


def from_toml(cls: type[Made], text: str, *, source: str = "the configuration") -> Made:
    """Return the dataclass the text describes; `source` names it in an error."""
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f'{source} is not TOML: {error}. Text wants quotes: name = "value".'
        ) from error
    return from_plain(cls, plain, source=source)


def to_toml(value: object) -> str:
    """Return commented TOML from which `from_toml` makes the same dataclass again."""
    document = tomlkit.document()
    write_table(document, value, to_plain(value))
    return tomlkit.dumps(document)


def write_table(table: Any, value: object, plain: Mapping[str, object]) -> None:
    """Write settings into a TOML table; tomlkit puts plain lines before tables, as TOML asks."""
    settings, hints = settings_of(type(value)), get_type_hints(type(value))
    for name, content in plain.items():
        item = item_of(getattr(value, name), content)
        about = remark(settings[name], hints[name])
        if about:
            header_of(item).comment(about)
        table.add(name, item)


def header_of(item: Item) -> Item:
    """Return the item whose line can carry a comment: of several [[tables]], the first."""
    return item[0] if isinstance(item, AoT) else item


def item_of(value: object, plain: object) -> Item:
    """Return the TOML for one setting."""
    if isinstance(plain, dict):
        table = tomlkit.table()
        fill(table, value, plain)
        return table
    if isinstance(value, tuple) and isinstance(plain, list):
        return list_of(value, plain)
    return tomlkit.item(plain)


def list_of(values: tuple[object, ...], plain: list[object]) -> Item:
    """Return a list: one [[table]] for each item when all are tables, else on one line."""
    if plain and all(isinstance(content, dict) for content in plain):
        tables = tomlkit.aot()
        for value, content in zip(values, plain, strict=True):
            table = item_of(value, content)
            assert isinstance(table, Table)
            tables.append(table)
        return tables
    line: Array = tomlkit.item(plain)
    return line


def fill(table: Table, value: object, plain: Mapping[str, object]) -> None:
    """Write a dataclass with its comments, or a dict without."""
    if is_dataclass(value) and not isinstance(value, type):
        write_table(table, value, plain)
        return
    for key, content in plain.items():
        table.add(key, tomlkit.item(content))


def remark(item: Field[Any], annotation: Any) -> str:
    """Return what a reader of the file wants to know: the help, and the choices or the range."""
    limits = range_of(item)
    wanted = in_words(annotation, limits) if has_choice(annotation) else str(limits)
    return "; ".join(part for part in (help_of(item), wanted) if part)


def has_choice(annotation: Any) -> bool:
    """Whether a setting is one of a few words; a `kind` with one word leaves no choice."""
    members = alternatives(annotation)
    words = [
        word for member in members if get_origin(member) is Literal for word in get_args(member)
    ]
    return bool(words) and len(members) + len(words) > 2
