"""What a model was given to read: ids, heard where they go in, and joined as its attention is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ...models import EncoderDecoderNetwork
from .pieces import Piece

NAMES = ("decoder_input_ids", "input_ids", "ids_BT", "given")  # theirs, and ours


@dataclass(frozen=True)
class Doors:
    """The modules ids go into: of a model that reads one text and writes another, one each."""

    writes: nn.Module
    reads: nn.Module | None = None


def doors_of(network: nn.Module) -> Doors:
    """Where the ids of each side go in, also in a step that calls one side alone."""
    ours = [part for part in network.modules() if isinstance(part, EncoderDecoderNetwork)]
    if len(ours) == 1:
        return Doors(ours[0].decoder, ours[0].encoder)
    if getattr(getattr(network, "config", None), "is_encoder_decoder", False):
        sides = [getattr(network, name, None) for name in ("get_encoder", "get_decoder")]
        reads, writes = (side() if callable(side) else None for side in sides)
        if isinstance(reads, nn.Module) and isinstance(writes, nn.Module):
            apart = len({network, reads, writes}) == 3
            return Doors(writes, reads) if apart else Doors(network)
    return Doors(network)


def ids_in(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
    """The ids among what a module is called with; None for embeddings, pictures, sound."""
    named = [kwargs[name] for name in NAMES if kwargs.get(name) is not None]
    ids = named[0] if named else args[0] if args else None
    is_ids = isinstance(ids, Tensor) and ids.dim() == 2 and not ids.is_floating_point()
    return ids if is_ids else None


def joined_ids(
    fed: Sequence[Tensor | None], pieces: Sequence[Piece], rows: Sequence[Tensor] | None
) -> Tensor | None:
    """The id of every query of these pieces, [B, T]; None where some were never told.

    Args:
        fed: What each step was given.
        rows: For every piece, which rows of its batch to take: the way a beam came.
    """
    parts = []
    for number, piece in enumerate(pieces):
        ids = fed[piece.step] if piece.step < len(fed) else None
        batch, _, queries, _ = piece.q_BHTD.shape
        if ids is None or ids.shape[1] < queries or len(ids) not in (1, batch):
            return None
        ids = ids.expand(batch, -1)
        if rows is not None:
            ids = ids[rows[number].to(ids.device)]
        parts.append(ids[:, :queries].to(piece.q_BHTD.device))
    return torch.cat(parts, dim=1)
