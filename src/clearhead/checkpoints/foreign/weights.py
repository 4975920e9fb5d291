"""Foreign weights to ours and back, by the names a family states: renaming, joining, turning."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping

import torch
from torch import Tensor

from ...foundation.errors import FileError
from ...models.families import Weight

SHOWN = 5  # names listed in a message before it says how many more there are


def to_ours(
    theirs: Mapping[str, Tensor],
    names: Iterable[Weight],
    *,
    ignored: tuple[str, ...] = (),
    copies: tuple[tuple[str, str], ...] = (),
    elsewhere: tuple[tuple[str, str], ...] = (),
) -> dict[str, Tensor]:
    """Our weights from theirs. A weight too few or too many is an error, never a silence."""
    names = list(names)
    wanted = {name for weight in names for name in weight.theirs if name is not None}
    stored = {name: _stored(name, theirs, elsewhere) for name in wanted}
    missing = sorted(wanted - {name for name, place in stored.items() if place in theirs})
    if missing:
        raise FileError(
            f"The weights have no {listed(missing)}, which this architecture needs. The config and "
            "the weights do not belong together, or the download is not complete."
        )
    spare = theirs.keys() - stored.values()
    pattern = re.compile("|".join(f"(?:{each})" for each in ignored) or r"(?!)")
    tied = {name for name, _ in copies}
    strange = sorted(name for name in spare - tied if not pattern.fullmatch(name))
    if strange:
        raise FileError(
            f"The weights hold {listed(strange)}, for which this architecture has no place. The "
            "config and the weights do not belong together."
        )
    times = Counter(stored.values())

    def fetch(name: str) -> Tensor:
        # One that stands in for several is theirs no longer: copy it.
        tensor = theirs[stored[name]]
        return tensor.clone() if times[stored[name]] > 1 else tensor

    ours = {weight.ours: _joined(weight, fetch) for weight in names}
    for name, original in copies:
        if name in spare and original in ours:
            _check_copy(theirs[name], ours[original], name)
    return ours


def _stored(name: str, theirs: Container[str], elsewhere: tuple[tuple[str, str], ...]) -> str:
    """The name under which a weight is found: its own, or the first of the others that is there."""
    possible = [name]
    for pattern, other in elsewhere:
        possible += [re.sub(pattern, other, each) for each in possible]
    return next((each for each in possible if each in theirs), name)


def _check_copy(copy: Tensor, original: Tensor, name: str) -> None:
    if not torch.equal(copy, original):
        raise FileError(
            f"By its config the model has no {name} of its own but uses the embeddings, and the "
            "file holds another one. Set tie_word_embeddings to false in config.json if they are "
            "meant to differ."
        )


def _joined(weight: Weight, fetch: Callable[[str], Tensor]) -> Tensor:
    if len(weight.theirs) == 1 and weight.theirs[0] is not None:
        tensor = fetch(weight.theirs[0])
        if weight.row:
            return tensor.flatten()
        return tensor.t().contiguous() if weight.turned else tensor
    found = [None if name is None else fetch(name) for name in weight.theirs]
    known = next(tensor for tensor in found if tensor is not None)
    parts = []
    for part, size in zip(found, weight.sizes, strict=True):
        shape = list(known.shape)
        shape[weight.axis] = size
        parts.append(known.new_zeros(shape) if part is None else part)
    return torch.cat(parts, dim=weight.axis)


def to_theirs(ours: Mapping[str, Tensor], names: Iterable[Weight]) -> dict[str, Tensor]:
    """Their weights from ours."""
    found: dict[str, Tensor] = {}
    for weight in names:
        tensor = ours[weight.ours]
        if len(weight.theirs) == 1:
            stored = tensor.t() if weight.turned else tensor
            parts: tuple[Tensor, ...] = (stored[None] if weight.row else stored,)
        else:
            parts = torch.split(tensor, list(weight.sizes), dim=weight.axis)
        for name, part in zip(weight.theirs, parts, strict=True):
            if name is not None:
                found[name] = part.contiguous()
    return found


def listed(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
