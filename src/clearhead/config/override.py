"""Changes written as `key=value`, as a command line gives them, made to a whole configuration."""

from collections.abc import Iterable
from typing import TypeVar

from ..foundation.errors import ConfigError
from .decode import NONE
from .plain import from_plain, to_plain
from .written import Written

Table = TypeVar("Table")


def override(value: Table, changes: Iterable[str], *, source: str = "the command line") -> Table:
    """Return the configuration with each change made.

    `train.steps=100` sets one value, `blocks.0.width=8` one in a list, `positions=rotary` the kind
    of a table, and `train.steps=` goes back to the default. Order matters only between equal keys.
    """
    plain = to_plain(value)
    parsed = [parse(change) for change in changes]
    # What replaces a whole table comes before what changes one setting in it.
    for keys, text in sorted(parsed, key=lambda change: (len(change[0]), change[0][-1] != "kind")):
        put(plain, keys, text)
    return from_plain(type(value), plain, source=source)


def parse(change: str) -> tuple[list[str], Written]:
    """Return the keys and the text of one change."""
    path, equals, text = change.partition("=")
    keys = [key.strip() for key in path.split(".")]
    if not equals or not all(keys):
        raise ConfigError(
            f"{change!r} is not a change. Write key=value, for example train.steps=100."
        )
    return keys, Written(text.strip())


def put(plain: dict[str, object], keys: list[str], text: Written) -> None:
    """Make one change in place. A name nobody knows is found later, by whoever reads the table."""
    holder: object = plain
    for depth, key in enumerate(keys[:-1]):
        holder = opened(holder, key, keys[: depth + 1])
    last, path = keys[-1], ".".join(keys)
    if isinstance(holder, list):
        if not text:
            raise ConfigError(f"{path}= means the default, and an item of a list has none.")
        holder[position(holder, last, path)] = text
        return
    if not isinstance(holder, dict):
        raise ConfigError(f"{path} leads into {holder!r}, which has no settings inside.")
    if last == "kind" and holder.get("kind") != text.meant_for(str):
        holder.clear()  # the other settings belong to the kind that was there
    holder[last] = text
    if not text:
        del holder[last]


def opened(holder: object, key: str, keys: list[str]) -> object:
    """Return what stands under a key, opened where it can be; a table where nothing stood."""
    if isinstance(holder, list):
        return holder[position(holder, key, ".".join(keys))]
    if not isinstance(holder, dict):
        raise ConfigError(f"{'.'.join(keys)} leads into {holder!r}, which has no settings inside.")
    inside = holder.get(key, NONE)
    if isinstance(inside, Written):
        inside = inside.meant_for(dict)
    if isinstance(inside, str):
        inside = {} if inside == NONE else {"kind": inside}
    holder[key] = inside
    return inside


def position(items: list[object], key: str, path: str) -> int:
    """Return the position a key names in a list."""
    if not key.isdecimal() or int(key) >= len(items):
        raise ConfigError(f"{path} names no item: the list has {len(items)}, counted from 0.")
    return int(key)
