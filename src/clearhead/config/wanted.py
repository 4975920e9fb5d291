"""What an annotation asks for: taken apart, and said in words."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from .setting import Range

WORDS: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    NoneType: '"none"',
}


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union, or the annotation alone."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def tables_in(annotation: Any) -> dict[str, type]:
    """Return the dataclasses of a union by their `kind`; by class name where one has none."""
    tables = [member for member in alternatives(annotation) if is_dataclass(member)]
    return {kind_of(table): table for table in tables if isinstance(table, type)}


def kind_of(table: type) -> str:
    """Return the word that tells this table from others in a union."""
    kind = getattr(table, "kind", None)
    return kind if isinstance(kind, str) else table.__name__


def in_words(annotation: Any, limits: Range) -> str:
    """Say what a setting wants: `a whole number, at least 1`."""
    words = " or ".join(dict.fromkeys(name(member) for member in alternatives(annotation)))
    return f"{words}, {limits}" if str(limits) else words


def name(member: Any) -> str:
    """Say what one member of a union is."""
    origin, inside = get_origin(member), get_args(member)
    if origin is Literal:
        return f"one of {', '.join(map(repr, inside))}" if len(inside) > 1 else repr(inside[0])
    if origin is tuple and inside[-1:] == (Ellipsis,):
        return f"a list, each item {in_words(inside[0], Range())}"
    if origin is tuple:
        return f"a list of {len(inside)}: {', '.join(in_words(part, Range()) for part in inside)}"
    if origin is dict:
        return f"a table, each value {in_words(inside[1], Range())}"
    if is_dataclass(member) and isinstance(member, type):
        return f"a table of kind {kind_of(member)!r}" if hasattr(member, "kind") else "a table"
    if member in WORDS:
        return WORDS[member]
    raise TypeError(f"A setting cannot be {member!r}; clearhead.config lists what it can be.")
