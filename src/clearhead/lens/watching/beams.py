"""Which way each beam came, and which of them was returned.

A beam search moves rows of the batch about between steps: row 3 may go on from what row 1 was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class Beams:
    """What one run of a model was fed at each step, and how its rows moved in between."""

    fed: list[Tensor | None] = field(default_factory=list)  # ids of each step, [rows, tokens]
    moves: dict[int, Tensor] = field(default_factory=dict)  # after which step, where rows are from
    scattered: bool = False  # rows of several texts moved, some texts leaving: not followed yet

    @property
    def moved(self) -> bool:
        """Whether rows were ever moved."""
        return bool(self.moves)

    def moved_after(self, step: int, rows: Tensor) -> None:
        """Note that after this step, row `i` goes on from what row `rows[i]` was."""
        before = self.moves.get(step)
        self.moves[step] = rows.cpu() if before is None else before[rows.cpu()]

    def way(self, row: int, last: int) -> list[int]:
        """The row at each step up to `last`, of what is row `row` at that step."""
        way = [row]
        for step in range(last - 1, -1, -1):
            move = self.moves.get(step)
            way.append(way[-1] if move is None else int(move[way[-1]]))
        return way[::-1]

    def ids(self, row: int, last: int) -> list[int]:
        """Everything this row was fed up to this step."""
        found: list[int] = []
        for step, at in enumerate(self.way(row, last)):
            ids = self.fed[step]
            if ids is not None:
                found += ids[at if len(ids) > 1 else 0].tolist()
        return found

    def ways(self, returned: Sequence[Sequence[int]]) -> list[list[int]] | None:
        """For each returned sequence, the row it was at each step; None if one is not found.

        The last token of a sequence is never fed, and padding may follow it.
        """
        examples = self._examples(len(returned))
        found = []
        for number, sequence in enumerate(returned):
            example = number * examples // len(returned)
            found.append(self._longest(list(sequence), example, examples))
        return None if any(way is None for way in found) else [way for way in found if way]

    def _examples(self, returned: int) -> int:
        """How many sentences the rows belong to: rows only move among those of one sentence."""
        rows = max((len(move) for move in self.moves.values()), default=returned)
        for examples in range(math.gcd(rows, returned), 1, -1):
            each = rows // examples
            places = torch.arange(rows) // each
            if all(torch.equal(move // each, places) for move in self.moves.values()):
                return examples
        return 1

    def _longest(self, sequence: list[int], example: int, examples: int) -> list[int] | None:
        for last in range(len(self.fed) - 1, -1, -1):
            ids = self.fed[last]
            each = 0 if ids is None else len(ids) // examples
            for row in range(example * each, (example + 1) * each):
                if self._begins(sequence, row, last):
                    return self.way(row, last)
        return None

    def _begins(self, sequence: list[int], row: int, last: int) -> bool:
        """Whether the sequence goes on from what this row was fed up to this step."""
        fed = self.ids(row, last)
        prompt = len(self.ids(row, 0)) if last else 0
        told = (fed, fed[prompt:])  # some return the prompt, some do not
        return any(0 < len(ids) < len(sequence) and sequence[: len(ids)] == ids for ids in told)

    def last_rows(self) -> list[list[int]]:
        """The ways of all rows there are at the end, where nothing was returned."""
        last = len(self.fed) - 1
        ids = self.fed[last]
        return [self.way(row, last) for row in range(0 if ids is None else len(ids))]
