"""Where the tokens of a batch stand, and who of them may look at whom."""

from dataclasses import dataclass
from functools import reduce
from operator import and_

import torch
from jaxtyping import Int
from torch import Tensor

from ..attention import Causal, Documents, Everything, Mask, Padding
from ..attention.masks import Once
from ..foundation.errors import InputError, ShapeError


@dataclass(frozen=True, kw_only=True)
class Places:
    """Positions of the tokens given now, all below `longest`."""

    positions: Int[Tensor, "*b t"]
    longest: int


def places(
    ids_BT: Tensor,
    *,
    past: int,
    starts_B: Tensor | None,
    positions_BT: Tensor | None,
    documents_BT: Tensor | Documents | None,
) -> Places:
    """The positions given; or counted from each example's start, anew in every document.

    Documents are told for every token up to now, those of earlier steps included.
    """
    if ids_BT.dim() < 2:
        raise ShapeError(
            f"Ids of shape {tuple(ids_BT.shape)} are no batch: [batch, tokens] was wanted. "
            "Give one text as ids[None]."
        )
    longest = past + ids_BT.shape[1]
    if positions_BT is not None:
        return _given(positions_BT, longest)
    count_T = torch.arange(past, longest, device=ids_BT.device)
    begins = None if starts_B is None else starts_B[:, None]
    if documents_BT is not None:
        ids = documents_BT.columns_BS if isinstance(documents_BT, Documents) else documents_BT
        document_BT = _document_starts(ids, torch.arange(longest, device=ids_BT.device))[:, past:]
        begins = document_BT if begins is None else torch.maximum(begins, document_BT)
    if begins is None:
        return Places(positions=count_T, longest=longest)
    return Places(positions=(count_T - begins).clamp(min=0), longest=longest)


def _given(positions_BT: Tensor, longest: int) -> Places:
    """Positions somebody else has counted, which are taken to stay below `longest` unseen."""
    if torch.compiler.is_compiling() or not positions_BT.numel():
        return Places(positions=positions_BT, longest=longest)
    low, high = (int(end) for end in positions_BT.aminmax())
    if low < 0:
        raise InputError(f"A token was given position {low}: positions count from 0.")
    return Places(positions=positions_BT, longest=high + 1)


def _document_starts(documents_BT: Tensor, count_T: Tensor) -> Tensor:
    """For every token up to now, where its document begins."""
    if documents_BT.shape[1] != len(count_T):
        raise ShapeError(
            f"There are {documents_BT.shape[1]} document numbers for {len(count_T)} tokens, those "
            "of earlier steps included: give one a token."
        )
    new_BT = torch.ones_like(documents_BT, dtype=torch.bool)
    new_BT[:, 1:] = documents_BT[:, 1:] != documents_BT[:, :-1]
    return torch.where(new_BT, count_T, 0).cummax(dim=1).values


def who_may_look(
    *,
    causal: bool,
    lengths_B: Tensor | None = None,
    starts_B: Tensor | None = None,
    documents_BT: Tensor | Documents | None = None,
) -> Mask:
    """The rule of a stack. Without padding or documents it stays exactly full or causal."""
    rules: list[Mask] = [Causal()] if causal else []
    if lengths_B is not None or starts_B is not None:
        rules.append(Padding(lengths_B, starts_B))
    if isinstance(documents_BT, Documents):
        rules.append(documents_BT)
    elif documents_BT is not None:
        rules.append(Documents(documents_BT))
    if not rules:
        return Everything()
    return Once(reduce(and_, rules))
