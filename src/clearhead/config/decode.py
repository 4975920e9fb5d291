"""Plain values (what TOML and JSON hold) → a dataclass. Every refusal says where, what and why."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from ..foundation.errors import ClearheadError, ConfigError, nearest
from .place import Place
from .setting import Range, help_of, idle_settings, is_required, range_of, settings_of
from .wanted import alternatives, in_words, tables_in
from .written import Written

Table = TypeVar("Table")
NONE = "none"


def decode_table(cls: type[Table], plain: object, place: Place) -> Table:
    """Return the dataclass a table describes."""
    if not isinstance(plain, Mapping):
        header = ".".join(place.keys) or "name"
        raise ConfigError(
            f"{place} is {plain!r}, but it wants a table. Write [{header}] with its settings below."
        )
    settings, hints = settings_of(cls), get_type_hints(cls)
    for key in plain:
        if key not in settings:
            known = f"It has: {', '.join(settings)}." if settings else "It has no settings."
            raise ConfigError(f"{place.table} has no {key!r}.{nearest(str(key), settings)} {known}")
    values = {}
    for name, item in settings.items():
        limits = range_of(item)
        if name in plain:
            values[name] = decode(hints[name], plain[name], limits, place.at(name))
        elif is_required(item):
            about = f" ({help_of(item)})" if help_of(item) else ""
            wanted = in_words(hints[name], limits)
            raise ConfigError(
                f"{place.table} lacks {name!r}{about}, which has no default. Add it: {wanted}."
            )
    made = build(cls, values, place)
    refuse_idle(made, plain, place)
    return made


def build(cls: type[Table], values: Mapping[str, object], place: Place) -> Table:
    """Call the class; what its own checks refuse is told with the place."""
    try:
        return cls(**values)
    except ClearheadError as error:
        raise type(error)(f"{place.table}: {error}") from error


def refuse_idle(made: object, given: Mapping[str, object], place: Place) -> None:
    """Refuse a setting that was given and does nothing, unless it is required to be there."""
    settings = settings_of(type(made))
    for name, reason in idle_settings(made).items():
        if name in given and not is_required(settings[name]):
            raise ConfigError(f"{place.at(name)} has no effect: {reason}. Leave {name!r} out.")


def decode(annotation: Any, plain: object, limits: Range, place: Place) -> object:
    """Return the value an annotation asks for."""
    members = alternatives(annotation)
    if len(members) > 1:
        return decode_union(annotation, plain, limits, place)
    if isinstance(plain, Written):
        plain = plain.meant_for(annotation)
    origin = get_origin(annotation)
    if origin is tuple:
        return decode_tuple(annotation, plain, limits, place)
    if origin is dict:
        return decode_dict(annotation, plain, limits, place)
    if is_dataclass(annotation) and isinstance(annotation, type):
        return decode_table(annotation, plain, place)
    return decode_leaf(annotation, plain, limits, place)


def decode_union(annotation: Any, plain: object, limits: Range, place: Place) -> object:
    """Return what the first fitting member makes of the value; tables are told apart by `kind`."""
    members = alternatives(annotation)
    if NoneType in members and (plain is None or plain == NONE):
        return None
    tables = tables_in(annotation)
    meant = plain.meant_for(annotation) if isinstance(plain, Written) else plain
    if tables and isinstance(meant, Mapping):
        return decode_one_of(tables, meant, place)
    if isinstance(meant, str) and meant in tables:
        return decode_table(tables[meant], {}, place)
    simple = [member for member in members if member not in (NoneType, *tables.values())]
    if len(simple) == 1 and not tables:
        return decode(simple[0], plain, limits, place)
    for member in sorted(simple, key=lambda member: member is str):  # text fits anything: last
        try:
            return decode(member, plain, limits, place)
        except ConfigError:
            continue
    close = nearest(plain, tables) if isinstance(plain, str) else ""
    raise refusal(annotation, plain, limits, place, close)


def decode_one_of(tables: Mapping[str, type], plain: Mapping[str, object], place: Place) -> object:
    """Return the table whose `kind` is named; where only one is possible it need not be."""
    kind = plain.get("kind")
    kind = str(kind.meant_for(str)) if isinstance(kind, Written) else kind
    known = ", ".join(map(repr, tables))
    if kind is None and len(tables) > 1:
        raise ConfigError(
            f"{place.table} lacks 'kind', which says what it is. Add one of: {known}."
        )
    if kind is not None and kind not in tables:
        close = nearest(str(kind), tables)
        raise ConfigError(
            f"{place.at('kind')} is {kind!r}, which is unknown.{close} Known: {known}."
        )
    chosen = next(iter(tables.values())) if kind is None else tables[str(kind)]
    return decode_table(chosen, plain, place)


def decode_tuple(annotation: Any, plain: object, limits: Range, place: Place) -> tuple[object, ...]:
    """Return a tuple, of any length or of the length asked for."""
    inside = get_args(annotation)
    endless = inside[-1:] == (Ellipsis,)
    if not isinstance(plain, list | tuple) or not (endless or len(plain) == len(inside)):
        raise refusal(annotation, plain, limits, place)
    parts = inside[:1] * len(plain) if endless else inside
    places = [place.at(str(index)) for index in range(len(plain))]
    return tuple(
        decode(part, item, limits, where)
        for part, item, where in zip(parts, plain, places, strict=True)
    )


def decode_dict(annotation: Any, plain: object, limits: Range, place: Place) -> dict[str, object]:
    """Return a dict with text keys."""
    if not isinstance(plain, Mapping):
        raise refusal(annotation, plain, limits, place)
    inside = get_args(annotation)[1]
    return {
        str(key): decode(inside, item, limits, place.at(str(key))) for key, item in plain.items()
    }


def decode_leaf(annotation: Any, plain: object, limits: Range, place: Place) -> object:
    """Return a truth value, number, text or choice, exactly as typed: 1 is not true."""
    if get_origin(annotation) is Literal:
        for choice in get_args(annotation):
            if plain == choice and type(plain) is type(choice):
                return plain
        known = [choice for choice in get_args(annotation) if isinstance(choice, str)]
        close = nearest(plain, known) if isinstance(plain, str) else ""
        raise refusal(annotation, plain, limits, place, close)
    if annotation is float and type(plain) is int:
        plain = float(plain)
    if type(plain) is not annotation:
        raise refusal(annotation, plain, limits, place)
    if isinstance(plain, int | float) and annotation is not bool and not limits.holds(plain):
        raise refusal(annotation, plain, limits, place)
    return plain


def refusal(
    annotation: Any, plain: object, limits: Range, place: Place, close: str = ""
) -> ConfigError:
    """Return the error for a value that is not what the setting wants."""
    shown = repr(str(plain)) if isinstance(plain, str) else repr(plain)
    shown = {"True": "true", "False": "false"}.get(shown, shown)
    return ConfigError(f"{place} is {shown}, but it wants {in_words(annotation, limits)}.{close}")
