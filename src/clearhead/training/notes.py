"""What whoever looks on is told while a run goes by; the loop never knows who looks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something that happened.

    Args:
        kind: `begin`, `step`, `valid`, `saved`, `end`, or `ended` where it was asked to before.
        numbers: What was measured, by name.
        samples: Texts: what was read, what was answered, what was wanted.
    """

    kind: str
    step: int
    text: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    samples: Sequence[tuple[str, str, str]] = ()


Onlooker = Callable[[Note], None]


def nobody(note: Note) -> None:
    """Look away."""
