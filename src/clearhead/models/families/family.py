"""What a family file states: its config in and out, and its weights' names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...foundation.errors import FileError, UnknownModelError, nearest
from ...layers import Activation
from ..build import Architecture

Settings = Mapping[str, Any]  # a config.json, as it was read


@dataclass(frozen=True)
class Weight:
    """One of our weights and the foreign ones it is made of, joined along `axis`.

    Args:
        theirs: Their names; None stands for zeros they do not store (Whisper's key bias).
        sizes: How much of `axis` each takes, where there are several.
        turned: They store it transposed (GPT-2's Conv1D).
    """

    ours: str
    theirs: tuple[str | None, ...]
    sizes: tuple[int, ...] = ()
    axis: int = 0
    turned: bool = False


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models as others publish it.

    Args:
        model_types: What `model_type` says in its config.json.
        architectures: The published classes we read, by the name in `architectures`; the first is
            assumed where a config names none.
        read: From settings and the class name to our architecture.
        write: Back again; what comes out opens in the library the family comes from.
        weights: All weights of an architecture published as this class.
        ignored: Patterns of foreign weights that hold nothing of their own: tied copies, counters.
    """

    name: str
    model_types: tuple[str, ...]
    architectures: tuple[str, ...]
    read: Callable[[Settings, str], Architecture]
    write: Callable[[Architecture, str], dict[str, Any]]
    weights: Callable[[Architecture, str], list[Weight]]
    ignored: tuple[str, ...] = ()


def same(ours: str, theirs: str, parts: tuple[str, ...] = ("weight", "bias")) -> list[Weight]:
    """A layer stored as we have it."""
    return [Weight(f"{ours}.{part}", (f"{theirs}.{part}",)) for part in parts]


def joined(
    ours: str,
    theirs: tuple[str, ...],
    sizes: tuple[int, ...],
    parts: tuple[str, ...] = ("weight", "bias"),
) -> list[Weight]:
    """A layer of ours that is several of theirs on top of each other."""
    return [
        Weight(f"{ours}.{part}", tuple(f"{name}.{part}" for name in theirs), sizes)
        for part in parts
    ]


def want(settings: Settings, key: str) -> Any:  # noqa: ANN401 - JSON has any type
    """Return a setting that must be there."""
    if key not in settings:
        raise FileError(
            f"The config has no {key!r}, which a {settings.get('model_type', 'model')} needs. "
            f"It has: {', '.join(sorted(settings))}. Use the config.json that came with the weights."
        )
    return settings[key]


def first_of(settings: Settings, *keys: str, default: Any = None) -> Any:  # noqa: ANN401
    """Return the first of these settings that is there and not null, else `default`."""
    for key in keys:
        if settings.get(key) is not None:
            return settings[key]
    return default


ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}
THEIR_ACTIVATIONS: dict[Activation, str] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_tanh": "gelu_new",
    "silu": "silu",
}


def activation(name: str) -> Activation:
    """Our name of a published activation."""
    if name not in ACTIVATIONS:
        raise UnknownModelError(
            f"The activation {name!r} is not known here.{nearest(name, ACTIVATIONS)} "
            f"Known: {', '.join(sorted(ACTIVATIONS))}."
        )
    return ACTIVATIONS[name]
