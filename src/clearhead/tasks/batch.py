"""Texts as a network takes them: ids side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from ..foundation.errors import InputError
from ..tokens import Encoded


@dataclass(frozen=True)
class Batch:
    """Texts as ids, padded on the right, with where each ends and which of two texts it is from."""

    ids_BT: Int[Tensor, "b t"]
    lengths_B: Int[Tensor, " b"]
    types_BT: Int[Tensor, "b t"]


def padded(texts: Sequence[Encoded], device: torch.device) -> Batch:
    """Encoded texts side by side; id 0 fills the ends, which no one looks at."""
    lengths = [len(text.ids) for text in texts]
    ids_BT = torch.zeros(len(texts), max(lengths), dtype=torch.long)
    types_BT = torch.zeros_like(ids_BT)
    for row, text in enumerate(texts):
        ids_BT[row, : lengths[row]] = torch.tensor(text.ids)
        types_BT[row, : lengths[row]] = torch.tensor(text.types)
    return Batch(ids_BT.to(device), torch.tensor(lengths, device=device), types_BT.to(device))


def check_texts(texts: Sequence[str]) -> None:
    """Refuse one text where a list was wanted, and an empty list."""
    if isinstance(texts, str):  # a sequence, too: of texts of one letter each
        raise InputError(
            f"One text was given, {texts[:40]!r}, where a list of texts was wanted: "
            "put it in brackets."
        )
    if not texts:
        raise InputError("No texts were given: give at least one.")
