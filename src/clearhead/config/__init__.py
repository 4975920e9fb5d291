"""Settings: frozen, keyword-only dataclasses, read from TOML and written back with their help.

    @dataclass(frozen=True, kw_only=True)
    class Rotary:
        kind: Literal["rotary"] = "rotary"  # tells one table of a union from another
        theta: float = setting(10_000.0, help="longest wavelength / 2π", above=0)

    @dataclass(frozen=True, kw_only=True)
    class Decoder:
        width: int = setting(help="width of the model", minimum=1)  # no default: required
        positions: Rotary | Learned | None = None

        def without_effect(self) -> dict[str, str]:  # optional: setting -> why it does nothing
            return {}

A field may be bool, int, float, str, a Literal, a dataclass, a tuple, a dict with text keys, or a
union of these with None. In TOML, None is a key left out, or the word "none". A table in a union
of several dataclasses names its `kind`; the kind alone, `positions = "rotary"`, means its defaults.
"""

from .override import override as override
from .plain import check as check
from .plain import from_plain as from_plain
from .plain import to_plain as to_plain
from .setting import setting as setting
from .toml import from_toml as from_toml
from .toml import read as read
from .toml import to_toml as to_toml

__all__ = [
    "check",
    "from_plain",
    "from_toml",
    "override",
    "read",
    "setting",
    "to_plain",
    "to_toml",
]
