"""Along which rows of the batch what was returned came, call by call of one site."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...foundation.errors import CannotError
from .keeper import Kept, Run
from .pieces import Piece
from .tally import Tally, along


def ways_of(run: Run, kept: Kept) -> list[list[int]] | None:
    """For what was returned, the row of the batch at each step; None where rows never moved."""
    if not run.beams.moved:
        return None
    if run.beams.scattered:
        raise CannotError(
            "Several texts were searched together, and those that were done left the batch: that "
            "cannot be joined to one picture yet. Watch them one at a time."
        )
    fed = [ids for ids in run.beams.fed if ids is not None]
    if not fed or kept.calls[-1].rows != len(fed[-1]):
        return None  # an encoder: its rows are sentences and no beams
    found = None if run.returned is None else run.beams.ways(run.returned)
    return found or run.beams.last_rows()


def rows_at(ways: Sequence[Sequence[int]], step: int) -> Tensor:
    """The row of every way at this step; one that has ended stays where it was."""
    return torch.tensor([way[min(step, len(way) - 1)] for way in ways])


def rows_by_step(pieces: Sequence[Piece], ways: Sequence[Sequence[int]]) -> list[Tensor]:
    """For each piece the row of every way."""
    return [rows_at(ways, piece.step) for piece in pieces]


def not_ended(pieces: Sequence[Piece], ways: Sequence[Sequence[int]]) -> Tensor:
    """Which queries belong to each way: a short one ends before the longest."""
    steps_T = torch.cat([torch.full((piece.queries,), piece.step) for piece in pieces])
    return steps_T < torch.tensor([len(way) for way in ways])[:, None]


def tallies_along(run: Run, kept: Kept) -> list[Tally]:
    """The statistics of what was returned, call by call."""
    ways = ways_of(run, kept)
    if ways is None:
        return kept.tallies
    return [
        along(tally, rows_at(ways, tally.step), [tally.step < len(way) for way in ways])
        for tally in kept.tallies
    ]
