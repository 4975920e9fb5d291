"""Every head of some sites, scored and named."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from ...foundation.errors import ConfigError, ShapeError, nearest
from ..look import Look
from .named import HeadPattern, Patterns, name_of
from .scored import scored

Ids = Tensor | Sequence[int] | Sequence[Sequence[int]]
SIDES = frozenset({"encoder", "decoder"})


def found(
    asked: Iterable[tuple[Look, Tensor | None]], numbers: Sequence[int] | None = None
) -> Patterns:
    """The patterns of these sites, each with the ids of its keys where they are known.

    Args:
        numbers: Which heads of the model those of every site are; all when left out.
    """
    heads: list[HeadPattern] = []
    unjudged: dict[str, dict[str, str]] = {}
    for look, ids_BS in asked:
        told = scored(look, ids_BS)
        numbered = range(look.shape[1]) if numbers is None else numbers
        lists = {name: None if isinstance(of, str) else of.tolist() for name, of in told.items()}
        for place, number in enumerate(numbered):
            scores = {name: None if of is None else of[place] for name, of in lists.items()}
            heads.append(HeadPattern(look.site, number, *name_of(scores), scores))
        unjudged[look.site] = {name: of for name, of in told.items() if isinstance(of, str)}
    return Patterns(tuple(heads), unjudged)


def side_of(site: str) -> str:
    """Whose keys a site has: `encoder` or `decoder`."""
    return "encoder" if site.startswith("encoder") else "decoder"


def ids_by_side(ids: Ids | Mapping[str, Ids], sites: Iterable[str]) -> dict[str, Tensor]:
    """Ids that were given, as [B, S] for each side."""
    sides = sorted({side_of(site) for site in sites})
    if isinstance(ids, Mapping):
        wrong = next((side for side in ids if side not in SIDES), None)
        if wrong is not None:
            raise ConfigError(
                f"There is no side {wrong!r} to give ids for.{nearest(wrong, SIDES)} Give those of "
                "'encoder', 'decoder' or both."
            )
        return {side: rows_of(of) for side, of in ids.items()}
    if len(sides) > 1:
        raise ConfigError(
            "Ids were given once and this model has two sides: give ids={'encoder': …, "
            "'decoder': …}."
        )
    return {side: rows_of(ids) for side in sides}


def rows_of(ids: Ids) -> Tensor:
    """Ids as [B, S]; those of one text are a batch of one."""
    given = torch.as_tensor(ids)
    return given[None] if given.dim() == 1 else given


def fitting(ids_BS: Tensor, look: Look) -> Tensor:
    """The same ids where the site is, or an error where they are not one a key."""
    batch, _, _, keys = look.shape
    if tuple(ids_BS.shape) != (batch, keys):
        raise ShapeError(
            f"Ids of {tuple(ids_BS.shape)} do not fit {look.site}, which has {keys} keys in each "
            f"of {batch} examples. Give one id a key, those of padding and the past included."
        )
    return ids_BS.to(look.source.device)
