"""What a stored model comes apart into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ..foundation.errors import FileError
from ..models import Architecture, EncoderDecoderNetwork, Network, build
from ..tokens import Vocabulary


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
    """A stored model, loaded: the network, what it is made of, its vocabulary, where it is from."""

    network: Network
    architecture: Architecture
    vocabulary: Vocabulary | None
    provenance: Provenance


def filled(architecture: Architecture, weights: Mapping[str, Tensor]) -> Network:
    """The network with these weights, in float32, ready to run (dropout off)."""
    with torch.device("meta"):
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


def _check_sizes(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    for name, parameter in network.named_parameters():
        if name in weights and weights[name].shape != parameter.shape:
            raise FileError(
                f"The weight {name} is {tuple(weights[name].shape)} and the config asks for "
                f"{tuple(parameter.shape)}: config and weights do not belong together."
            )
