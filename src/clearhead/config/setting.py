"""What a setting carries beside its type and default: a line of help and the range it lies in."""

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, overload

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class Range:
    """Where a number may lie: `minimum` and `maximum` included, `above` and `below` not."""

    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None

    def holds(self, number: float) -> bool:
        """Whether the number lies inside. Not-a-number lies inside no range that has an end."""
        return (
            (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        """Say the range in words; nothing when it has no end."""
        ends = {
            "at least": self.minimum,
            "above": self.above,
            "at most": self.maximum,
            "below": self.below,
        }
        return " and ".join(f"{word} {end}" for word, end in ends.items() if end is not None)


@overload
def setting(
    default: Value,
    *,
    help: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Value: ...
@overload
def setting(
    *,
    help: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any: ...
def setting(
    default: Any = MISSING,
    *,
    help: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> Any:
    """Return a dataclass field with help and a range; left without a default, it is required.

    The range binds every number in the setting, also inside a tuple or an optional.
    """
    limits = Range(minimum=minimum, maximum=maximum, above=above, below=below)
    metadata = {"help": " ".join(help.split()), "range": limits}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def settings_of(cls: type) -> dict[str, Field[Any]]:
    """Return the fields one can set, by name, in the order they were written."""
    assert is_dataclass(cls), f"{cls!r} is not a dataclass"
    return {item.name: item for item in fields(cls) if item.init}


def is_required(item: Field[Any]) -> bool:
    """Whether the field has no default."""
    return item.default is MISSING and item.default_factory is MISSING


def is_default(item: Field[Any], value: object) -> bool:
    """Whether the value is what the field has when it is left out."""
    if item.default_factory is not MISSING:
        make: Callable[[], object] = item.default_factory
        return value == make()
    return item.default is not MISSING and bool(value == item.default)


def range_of(item: Field[Any]) -> Range:
    """Return the range of a field; a field without one may be any number."""
    limits = item.metadata.get("range", Range())
    assert isinstance(limits, Range)
    return limits


def help_of(item: Field[Any]) -> str:
    """Return the line of help, or nothing."""
    return str(item.metadata.get("help", ""))


def idle_settings(value: object) -> dict[str, str]:
    """Return the settings that do nothing as the others stand, each with the reason."""
    ask = getattr(value, "without_effect", None)
    return dict(ask()) if ask else {}
