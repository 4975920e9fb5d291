r"""Rollout: attention alone, multiplied through the layers (Abnar & Zuidema 2020, §3).

Half of what a token becomes is itself and half what it attended to. Row `to` of the product of
all layers, from the last layer down, where a row that a sink took from is made whole:

$$ r^{(l-1)} = r^{(l)} \tilde A_l, \qquad
   \tilde A_{ij} = \frac{\delta_{ij} + \bar P_{ij}}{1 + \sum_k \bar P_{ik}}, \qquad
   \bar P = \mathbb{E}_h P $$

A layer of a decoder that also reads an encoder comes in two such steps, and what it took from the
encoder goes on down through the encoder's layers.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ..look import Look
from .answer import Flow
from .layers import Layer, Layers, one_hot, positions
from .products import given


def rollout(layers: Layers, to: int | Sequence[int]) -> Flow:
    """How much of one position's attention goes back to each input token; all add up to 1."""
    places = positions(to, layers.last)
    sides: dict[str, Tensor] = {}
    own_BT = one_hot(places, layers.last)
    if layers.decoder:
        read_BS: Tensor | None = None
        for layer in reversed(layers.decoder):
            if layer.cross is not None:
                own_BT, more_BS = taken(layer.cross, own_BT)
                read_BS = more_BS if read_BS is None else read_BS + more_BS
            if layer.own is not None:
                own_BT = through(layer.own, own_BT)
        sides["decoder"] = own_BT
        if read_BS is None:
            return Flow(method="rollout", sides=sides, to=places)
        own_BT = read_BS
    sides["encoder"] = by_sentence(layers.encoder, own_BT)
    return Flow(method="rollout", sides=sides, to=places)


def by_sentence(layers: Sequence[Layer], own_BT: Float[Tensor, "b t"]) -> Float[Tensor, "b t"]:
    """Through the encoder's layers, also where several translations are of one sentence."""
    looks = [layer.own for layer in layers if layer.own is not None]
    several_BnT = own_BT.view(looks[0].shape[0], -1, own_BT.shape[1])
    done = []
    for number in range(several_BnT.shape[1]):
        part_BT = several_BnT[:, number]
        for look in reversed(looks):
            part_BT = through(look, part_BT)
        done.append(part_BT)
    return torch.stack(done, 1).flatten(0, 1)


def through(look: Look, shares_BT: Float[Tensor, "b t"]) -> Float[Tensor, "b t"]:
    """One step down: what stays with each token, and what it took from others."""
    stays_BT, taken_BS = taken(look, shares_BT)
    return stays_BT + taken_BS


def taken(
    look: Look, shares_BT: Float[Tensor, "b t"]
) -> tuple[Float[Tensor, "b t"], Float[Tensor, "b s"]]:
    """Of each query's share what stays with it, and what each key has of it."""
    mass_BT = look.summaries.mass_BHT.mean(1)
    stays_BT = shares_BT / (1 + mass_BT)
    return stays_BT, given(look, stays_BT).mean(1)
