"""The attentions of one run in the order of the model, and which position is meant."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...foundation.errors import CannotError, ConfigError, InputError, nearest
from ..look import Look
from ..questions.places import is_one, whole_numbers

SITE = re.compile(r"(encoder|decoder)\.(\d+)\.(self|cross)")
SIDES = ("encoder", "decoder")


@dataclass(frozen=True)
class Layer:
    """One layer: what it reads of its own text, and what of another, where it does."""

    own: Look | None
    cross: Look | None


@dataclass(frozen=True)
class Layers:
    """The layers of either side, the first layer first; a side the model does not have is empty."""

    encoder: tuple[Layer, ...]
    decoder: tuple[Layer, ...]

    @property
    def last(self) -> Look:
        """An attention whose queries are the tokens of the side that writes."""
        layer = (self.decoder or self.encoder)[0]
        look = layer.own or layer.cross
        assert look is not None
        return look


def layers_of(
    known: Sequence[str], look: Callable[[str], Look], side: str | None, without: Iterable[str] = ()
) -> Layers:
    """The layers that one side of a model goes through, down to the texts it reads.

    Args:
        known: Every attention of the model by name.
        look: The attention of that name, or an error where it was not kept.
        side: The side a position is asked about; the one that writes when None.
        without: Layers that have no attention.
    """
    wanted = _side(side, known)
    parted = [SITE.fullmatch(site) for site in known]
    other = [site for site, found in zip(known, parted, strict=True) if found is None]
    missing = [*other, *without]
    if missing:
        raise CannotError(
            f"{missing[0]} is no attention of one stack of layers after the other, so attention "
            "cannot be followed through this model. Ask its attentions one by one: seen[site]."
        )
    names = [(found[1], int(found[2]), found[3]) for found in parted if found is not None]
    sides = {
        each: _stack(each, [(number, kind) for of, number, kind in names if of == each], look)
        if wanted in (each, "decoder")
        else ()
        for each in SIDES
    }
    return Layers(**sides)


def _side(side: str | None, known: Sequence[str]) -> str:
    there = [each for each in SIDES if any(site.startswith(f"{each}.") for site in known)]
    if side is not None and side not in there:
        raise ConfigError(
            f"There is no side {side!r} of this model.{nearest(side, there)} Give "
            f"{' or '.join(map(repr, there))}."
        )
    return side or (there[-1] if there else "encoder")


def _stack(
    side: str, names: Sequence[tuple[int, str]], look: Callable[[str], Look]
) -> tuple[Layer, ...]:
    layers = []
    for number in sorted({number for number, _ in names}):
        found = {
            kind: _whole(look(f"{side}.{number}.{kind}"))
            for kind in ("self", "cross")
            if (number, kind) in names
        }
        layers.append(Layer(found.get("self"), found.get("cross")))
    return tuple(layers)


def _whole(look: Look) -> Look:
    """The same look, or a refusal where its text began before watching did."""
    _, _, queries, keys = look.shape
    if look.site.endswith("self") and queries != keys:
        raise CannotError(
            f"{look.site} has {queries} queries and {keys} keys, so what the tokens before took in "
            "is not known. Watch from the first token on."
        )
    return look


def positions(to: int | Sequence[int], look: Look) -> tuple[int, ...]:
    """Of each example which query is meant; below 0 counted from its last that is no padding."""
    batch, _, queries, _ = look.shape
    asked = whole_numbers(to, "position")
    asked = asked * batch if is_one(to) else asked
    if len(asked) != batch:
        raise InputError(
            f"{len(asked)} positions were given for {batch} examples: give one number, or one for "
            "each example."
        )
    real_BT = look.source.real_BT
    found = []
    for example, place in enumerate(asked):
        real = list(range(queries))
        if real_BT is not None:
            real = [number for number in real if bool(real_BT[example, number])]
        counted = real if place < 0 else range(queries)
        if not -len(counted) <= place < len(counted) or counted[place] not in real:
            raise InputError(
                f"There is no position {place} in example {example}: its tokens stand at "
                f"{real[0]} to {real[-1]}; below 0 counts from the last of them."
                if real
                else f"Example {example} has only padding, so there is no position to ask about."
            )
        found.append(counted[place])
    return tuple(found)


def one_hot(places: Sequence[int], look: Look) -> Float[Tensor, "b t"]:
    """1 at these positions, 0 elsewhere."""
    batch, _, queries, _ = look.shape
    source = look.source
    found_BT = torch.zeros(batch, queries, dtype=source.wide, device=source.device)
    found_BT[torch.arange(batch), torch.tensor(places)] = 1.0
    return found_BT
