"""Foreign weights to ours and back, by the names a family states. Pure renaming, joining, turning."""

import re
from collections.abc import Iterable, Mapping

import torch
from torch import Tensor

from ...foundation.errors import FileError
from ...models.families import Weight

SHOWN = 5  # names listed in a message before it says how many more there are


def to_ours(
    theirs: Mapping[str, Tensor], names: Iterable[Weight], *, ignored: tuple[str, ...] = ()
) -> dict[str, Tensor]:
    """Our weights from theirs. A weight too few or too many is an error, never a silence."""
    names = list(names)
    wanted = {name for weight in names for name in weight.theirs if name is not None}
    missing = sorted(wanted - theirs.keys())
    if missing:
        raise FileError(
            f"The weights have no {listed(missing)}, which this architecture needs. The config and "
            "the weights do not belong together, or the download is not complete."
        )
    pattern = re.compile("|".join(f"(?:{each})" for each in ignored) or r"(?!)")
    spare = sorted(name for name in theirs.keys() - wanted if not pattern.fullmatch(name))
    if spare:
        raise FileError(
            f"The weights hold {listed(spare)}, for which this architecture has no place. The "
            "config and the weights do not belong together."
        )
    return {weight.ours: _joined(weight, theirs) for weight in names}


def _joined(weight: Weight, theirs: Mapping[str, Tensor]) -> Tensor:
    if len(weight.theirs) == 1 and weight.theirs[0] is not None:
        tensor = theirs[weight.theirs[0]]
        return tensor.t().contiguous() if weight.turned else tensor
    known = next(theirs[name] for name in weight.theirs if name is not None)
    parts = []
    for name, size in zip(weight.theirs, weight.sizes, strict=True):
        shape = list(known.shape)
        shape[weight.axis] = size
        parts.append(known.new_zeros(shape) if name is None else theirs[name])
    return torch.cat(parts, dim=weight.axis)


def to_theirs(ours: Mapping[str, Tensor], names: Iterable[Weight]) -> dict[str, Tensor]:
    """Their weights from ours."""
    found: dict[str, Tensor] = {}
    for weight in names:
        tensor = ours[weight.ours]
        if len(weight.theirs) == 1:
            parts: tuple[Tensor, ...] = (tensor.t() if weight.turned else tensor,)
        else:
            parts = tensor.split(weight.sizes, dim=weight.axis)
        for name, part in zip(weight.theirs, parts, strict=True):
            if name is not None:
                found[name] = part.contiguous()
    return found


def listed(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
