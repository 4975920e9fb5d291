"""What a family file states: its config in and out, and its weights' names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...foundation.errors import CannotError, FileError, UnknownModelError, nearest
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
        row: They store a vector as a matrix of one row (BART's bias of the logits).
    """

    ours: str
    theirs: tuple[str | None, ...]
    sizes: tuple[int, ...] = ()
    axis: int = 0
    turned: bool = False
    row: bool = False


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
        ignored: Patterns of foreign weights that hold nothing of their own: counters, spare heads.
        copies: Names of foreign weights that may be stored a second time, and the weight of ours
            they are tied to. One that differs is refused.
        elsewhere: What in the name of a weight is replaced by what where the file has no such name:
            older spellings, a prefix left out.
    """

    name: str
    model_types: tuple[str, ...]
    architectures: tuple[str, ...]
    read: Callable[[Settings, str], Architecture]
    write: Callable[[Architecture, str], dict[str, Any]]
    weights: Callable[[Architecture, str], list[Weight]]
    ignored: tuple[str, ...] = ()
    copies: tuple[tuple[str, str], ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()


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


def want(settings: Settings, key: str) -> Any:
    """Return a setting that must be there."""
    if key not in settings:
        raise FileError(
            f"The config has no {key!r}, which a {settings.get('model_type', 'model')} needs. "
            f"It has: {', '.join(sorted(settings))}. Use the config.json that belongs to the "
            "weights."
        )
    return settings[key]


def first_of(settings: Settings, *keys: str, default: Any = None) -> Any:
    """Return the first of these settings that is there and not null, else `default`."""
    for key in keys:
        if settings.get(key) is not None:
            return settings[key]
    return default


def only(settings: Settings, **known: Any) -> None:
    """Refuse a setting with another value than the one we know how to follow."""
    for key, value in known.items():
        if settings.get(key, value) != value:
            raise CannotError(
                f"The config sets {key} to {settings[key]!r}, and a "
                f"{settings.get('model_type', 'model')} is only known here with {value!r}: what "
                "it would say here would be wrong. Use the library it was published with."
            )


def label_count(settings: Settings) -> int:
    """How many labels a classifier tells apart; 2 where the config does not say."""
    named = first_of(settings, "id2label", default=None)
    return len(named) if named is not None else int(settings.get("num_labels", 2))


def label_names(count: int) -> dict[str, str]:
    """Names for labels, as a config has them."""
    return {str(label): f"LABEL_{label}" for label in range(count)}


ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}
THEIR_ACTIVATIONS: dict[Activation, str] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_tanh": "gelu_new",
    "silu": "silu",
    "tanh": "tanh",
}


def activation(name: str) -> Activation:
    """Our name of a published activation."""
    if name not in ACTIVATIONS:
        raise UnknownModelError(
            f"The activation {name!r} is not known here.{nearest(name, ACTIVATIONS)} "
            f"Known: {', '.join(sorted(ACTIVATIONS))}."
        )
    return ACTIVATIONS[name]
