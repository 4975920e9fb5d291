"""What a stored model comes apart into."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..foundation.errors import FileError
from ..models import Architecture, EncoderDecoderNetwork, Network, build
from ..tokens import Preparation, Vocabulary


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a model comes from.

    `family` and `published_as` say whose it is and the class it was published as, so that it can
    be written back in that form; both are empty for our own. `settings` is all its config said:
    what an architecture has no place for (special ids, names of labels) is written back with it.
    """

    source: str
    family: str = ""
    published_as: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A stored model, loaded: the network, what it is made of, its vocabulary, where it is from.

    `preparation` turns pictures or sound into what the network takes, where that is known.
    """

    network: Network
    architecture: Architecture
    vocabulary: Vocabulary | None
    provenance: Provenance
    preparation: Preparation | None = None


def filled(architecture: Architecture, weights: Mapping[str, Tensor]) -> Network:
    """The network with these weights, in float32, ready to run (dropout off)."""
    with torch.device("meta"), Unfilled():
        network = build(architecture)
    _check_sizes(network, weights)
    network.load_state_dict(weights, strict=False, assign=True)
    if isinstance(network, EncoderDecoderNetwork):
        network.share()
    left = [name for name, parameter in network.named_parameters() if parameter.is_meta]
    if left:
        raise FileError(
            f"The weights have no {', '.join(left[:5])}, which the config asks for: they do not "
            "belong together, or the file is not complete."
        )
    for parameter in network.parameters():
        parameter.requires_grad_(True)
    return network.float().eval()


class Unfilled(TorchFunctionMode):
    """Leaves fresh weights as they are: drawing them, even without memory, loads half of torch."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else given["tensor"]
        return func(*args, **given)


def _check_sizes(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    spare = sorted(weights.keys() - network.state_dict().keys())
    if spare:
        raise FileError(
            f"The weights hold {', '.join(spare[:5])}, for which the config has no place: config "
            "and weights do not belong together."
        )
    for name, parameter in network.named_parameters():
        if name in weights and weights[name].shape != parameter.shape:
            raise FileError(
                f"The weight {name} is {tuple(weights[name].shape)} and the config asks for "
                f"{tuple(parameter.shape)}: config and weights do not belong together."
            )
