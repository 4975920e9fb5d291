"""The rules themselves: causal, window, padding, prefix, documents, global tokens, blocks.

Longformer   Window(left=256, right=256) | Global((0,))
BigBird      Window(left=192, right=192) | Global(tuple(range(64))) | Blocks.scattered(...)
Mistral      Window(left=4095, right=0)
prefix LM    Causal() | Prefix(12)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ..foundation.errors import ConfigError, ShapeError
from .masks import Kind, Mask, Tiles, Verdict, everywhere


@dataclass(frozen=True)
class Window(Mask):
    """A query sees keys at most `left` positions before it and `right` after. None: no limit."""

    left: int | None
    right: int | None

    def __post_init__(self) -> None:
        if min(self.left or 0, self.right or 0) < 0:
            raise ConfigError(
                f"A window of {self.left} to the left and {self.right} to the right is below 0: "
                "give distances of 0 or more, or None for no limit."
            )

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        ahead = column - row
        allowed = everywhere(ahead)
        if self.right is not None:
            allowed = allowed & (ahead <= self.right)
        if self.left is not None:
            allowed = allowed & (ahead >= -self.left)
        return allowed

    def tiles(self, tiles: Tiles) -> Verdict:
        lowest, highest = tiles.left - tiles.bottom, tiles.right - tiles.top
        some = every = everywhere(lowest)
        if self.right is not None:
            some, every = some & (lowest <= self.right), every & (highest <= self.right)
        if self.left is not None:
            some, every = some & (highest >= -self.left), every & (lowest >= -self.left)
        return Verdict(some, every)

    def kind(self, queries: int, keys: int) -> Kind | None:
        if self.left is not None and self.left < keys - 1:
            return None
        if self.right is None or self.right >= queries - 1:
            return "full"  # the first of `queries` rows has `queries - 1` keys after it
        return "causal" if self.right == 0 and queries == keys else None

    @property
    def is_causal(self) -> bool:
        """Whether it is every key up to the query's own, by whatever name."""
        return self.left is None and self.right == 0

    def density(self, queries: int, keys: int) -> float:
        if self.left is None and self.right is None:
            return 1.0
        if self.left is None or self.right is None:
            return 1.0  # at most half is saved, and never whole rows of work
        return min(1.0, (self.left + self.right + 1) / max(keys, 1))

    def __and__(self, other: Mask) -> Mask:
        if not isinstance(other, Window):
            return super().__and__(other)
        return Window(left=_nearer(self.left, other.left), right=_nearer(self.right, other.right))


def _nearer(one: int | None, two: int | None) -> int | None:
    return two if one is None else one if two is None else min(one, two)


class Causal(Window):
    """A query sees keys at its own position and before."""

    def __init__(self) -> None:
        super().__init__(left=None, right=0)

    def __repr__(self) -> str:
        return "Causal()"


@dataclass(frozen=True, eq=False)
class Padding(Mask):
    """Keys before each example's start or from its length on are not there."""

    lengths_B: Int[Tensor, " b"] | None = None
    starts_B: Int[Tensor, " b"] | None = None

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        allowed = everywhere(column)
        if self.lengths_B is not None:
            allowed = allowed & (column < self.lengths_B[batch])
        if self.starts_B is not None:
            allowed = allowed & (column >= self.starts_B[batch])
        return allowed

    def tiles(self, tiles: Tiles) -> Verdict:
        some = every = everywhere(tiles.left)
        if self.lengths_B is not None:
            ends = self.lengths_B[tiles.batch]
            some, every = some & (tiles.left < ends), every & (tiles.right < ends)
        if self.starts_B is not None:
            starts = self.starts_B[tiles.batch]
            some, every = some & (tiles.right >= starts), every & (tiles.left >= starts)
        return Verdict(some, every)

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        for name, given in (("lengths", self.lengths_B), ("starts", self.starts_B)):
            if given is not None and given.shape != (batch,):
                raise ShapeError(
                    f"The padding mask has {name} of shape {tuple(given.shape)} for a batch of "
                    f"{batch}: give one whole number an example, shape ({batch},)."
                )

    @property
    def batched(self) -> bool:
        return True


@dataclass(frozen=True)
class Prefix(Mask):
    """Every query sees the first `length` keys. Join it to others: `Causal() | Prefix(12)`."""

    length: int

    def __post_init__(self) -> None:
        if self.length < 0:
            raise ConfigError(f"A prefix of {self.length} keys is below 0: give 0 or more.")

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return column < self.length

    def tiles(self, tiles: Tiles) -> Verdict:
        return Verdict(tiles.left < self.length, tiles.right < self.length)

    def density(self, queries: int, keys: int) -> float:
        return min(1.0, self.length / max(keys, 1))


@dataclass(frozen=True, eq=False)
class Documents(Mask):
    """A query sees the keys of its own document, when several are packed into one row.

    Args:
        columns_BS: Which document each key belongs to.
        rows_BT: Which document each query belongs to. The keys' own when left out.
        lengths: The documents' lengths, where they are known and stand in order: (queries, keys).
    """

    columns_BS: Int[Tensor, "b s"]
    rows_BT: Int[Tensor, "b t"] | None = None
    lengths: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    @classmethod
    def packed(
        cls,
        lengths: Sequence[int],
        memory_lengths: Sequence[int] | None = None,
        *,
        device: torch.device | str = "cpu",
    ) -> "Documents":
        """Lay documents of these lengths side by side; `memory_lengths` when keys are others."""
        keys = lengths if memory_lengths is None else memory_lengths
        if len(keys) != len(lengths) or min((*lengths, *keys), default=0) < 0:
            raise ShapeError(
                f"Documents of lengths {list(lengths)} cannot look at memories of lengths "
                f"{list(keys)}: give one length of 0 or more for each document."
            )
        return cls(
            columns_BS=_numbered(keys, device),
            rows_BT=None if memory_lengths is None else _numbered(lengths, device),
            lengths=(tuple(lengths), tuple(keys)),
        )

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self._of_row(batch, row) == self.columns_BS[batch, column]

    def _of_row(self, batch: Tensor, row: Tensor) -> Tensor:
        if self.rows_BT is None:
            return self.columns_BS[batch, row]
        # Rows are aligned with the last key; the first query is entry 0 of its own list.
        return self.rows_BT[batch, row - (self.columns_BS.shape[1] - self.rows_BT.shape[1])]

    def tiles(self, tiles: Tiles) -> Verdict:
        rows = self.columns_BS if self.rows_BT is None else self.rows_BT
        shift = self.columns_BS.shape[1] - rows.shape[1]
        low_r, high_r = _span(rows, tiles.top - shift, tiles.bottom - shift)
        low_c, high_c = _span(self.columns_BS, tiles.left, tiles.right)
        alone = (low_r == high_r) & (low_c == high_c) & (low_r == low_c)
        return Verdict((low_r <= high_c) & (low_c <= high_r), alone)

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        rows = self.columns_BS if self.rows_BT is None else self.rows_BT
        given = (*self.columns_BS.shape, rows.shape[1])
        if given[:2] != (batch, first + keys) or given[2] < queries or len(rows) != batch:
            raise ShapeError(
                f"The document mask covers {given[0]} rows of {given[1]} keys and {given[2]} "
                f"queries; the attention has {batch} rows of {first + keys} keys and {queries} "
                "queries. Give one document number for each position."
            )

    def density(self, queries: int, keys: int) -> float:
        if self.lengths is None or not queries * keys:
            return 1.0
        allowed = sum(t * s for t, s in zip(*self.lengths, strict=True))
        return min(1.0, allowed / (queries * keys))

    @property
    def batched(self) -> bool:
        return True


def _numbered(lengths: Sequence[int], device: torch.device | str) -> Tensor:
    numbers = torch.arange(len(lengths), device=device)
    return numbers.repeat_interleave(torch.tensor(tuple(lengths), device=device))[None]


def _span(ids_BN: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """The smallest and the largest id of each stretch, [B, R, 1] for rows or [B, 1, C] for keys."""
    bounds = zip(low.flatten().tolist(), high.flatten().tolist(), strict=True)
    spans = [ids_BN[:, start : end + 1].aminmax(dim=1) for start, end in bounds]
    shape = (len(ids_BN), *(1,) * (2 - low.dim()), *low.shape)
    least, most = ([span[side] for span in spans] for side in (0, 1))
    return torch.stack(least, 1).reshape(shape), torch.stack(most, 1).reshape(shape)


@dataclass(frozen=True)
class Global(Mask):
    """The tokens at these positions see all and are seen by all (Longformer, section 3.1)."""

    positions: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.positions, default=0) < 0:
            raise ConfigError(
                f"Global tokens at {self.positions} cannot be: positions count from 0, and there "
                "is no counting from the end."
            )

    def runs(self) -> list[tuple[int, int]]:
        """The positions as stretches (first, last), so that many neighbours cost as one."""
        runs: list[tuple[int, int]] = []
        for at in sorted(set(self.positions)):
            if runs and runs[-1][1] == at - 1:
                runs[-1] = (runs[-1][0], at)
            else:
                runs.append((at, at))
        return runs

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        allowed = ~(everywhere(row) & everywhere(column))
        for low, high in self.runs():
            of_rows, of_columns = (row >= low) & (row <= high), (column >= low) & (column <= high)
            allowed = allowed | of_rows | of_columns
        return allowed

    def tiles(self, tiles: Tiles) -> Verdict:
        some = every = ~(everywhere(tiles.top) & everywhere(tiles.left))
        for low, high in self.runs():
            some = some | ((tiles.top <= high) & (tiles.bottom >= low))
            some = some | ((tiles.left <= high) & (tiles.right >= low))
            every = every | ((tiles.top >= low) & (tiles.bottom <= high))
            every = every | ((tiles.left >= low) & (tiles.right <= high))
        return Verdict(some, every)

    def density(self, queries: int, keys: int) -> float:
        return min(1.0, len(self.positions) * (queries + keys) / max(queries * keys, 1))


@dataclass(frozen=True, eq=False)
class Blocks(Mask):
    """Pairs are allowed block by block: `layout_RC[row // size, column // size]`."""

    layout_RC: Bool[Tensor, "r c"]
    size: int
    share: float

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ConfigError(f"Blocks of {self.size} positions hold nothing: give 1 or more.")

    @classmethod
    def of(cls, layout_RC: Bool[Tensor, "r c"], *, size: int) -> "Blocks":
        """A rule from a table of blocks, each `size` × `size` positions."""
        return cls(layout_RC, size, float(layout_RC.double().mean()))

    @classmethod
    def scattered(cls, blocks: int, *, each: int, size: int, draw: torch.Generator) -> "Blocks":
        """Every row of blocks sees `each` blocks drawn at random (BigBird, section 2)."""
        chosen = torch.rand(blocks, blocks, generator=draw).argsort(1)[:, :each]
        layout_RC = torch.zeros(blocks, blocks, dtype=torch.bool).scatter_(1, chosen, True)
        return cls.of(layout_RC, size=size)

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return self.layout_RC.to(row.device)[row // self.size, column // self.size]

    def tiles(self, tiles: Tiles) -> Verdict:
        counts = torch.zeros(*(n + 1 for n in self.layout_RC.shape), dtype=torch.long)
        counts[1:, 1:] = self.layout_RC.long().cumsum(0).cumsum(1).cpu()
        counts = counts.to(tiles.top.device)
        r0, r1 = tiles.top // self.size, tiles.bottom // self.size + 1
        c0, c1 = tiles.left // self.size, tiles.right // self.size + 1
        inside = counts[r1, c1] - counts[r0, c1] - counts[r1, c0] + counts[r0, c0]
        return Verdict(inside > 0, inside == (r1 - r0) * (c1 - c0))

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        rows, columns = (n * self.size for n in self.layout_RC.shape)
        end = first + keys
        if rows < end or columns < end:
            raise ShapeError(
                f"The block mask covers {rows} × {columns} positions and the keys reach {end}: "
                f"add blocks of {self.size} until they are covered."
            )
        if queries > end:
            raise ShapeError(
                f"The block mask cannot say what {queries} queries see of {end} keys: the first "
                "queries would stand before all blocks. Give at least as many keys as queries."
            )

    def on(self, device: torch.device) -> Mask:
        return replace(self, layout_RC=self.layout_RC.to(device))

    def density(self, queries: int, keys: int) -> float:
        rows, columns = (n * self.size for n in self.layout_RC.shape)
        return min(1.0, self.share * rows * columns / max(queries * keys, 1))


@dataclass(frozen=True, eq=False)
class Given(Mask):
    """A rule written out, pair by pair, for exactly these queries and keys."""

    allowed_BTS: Bool[Tensor, "b t s"]

    def sees(self, batch: Tensor, row: Tensor, column: Tensor) -> Tensor:
        examples, queries, keys = self.allowed_BTS.shape
        shift = keys - queries
        return self.allowed_BTS[batch if examples > 1 else batch * 0, row - shift, column]

    def check(self, batch: int, queries: int, keys: int, first: int = 0) -> None:
        if first:
            raise ShapeError(
                f"A mask written out pair by pair starts at the first key; here {first} earlier "
                "keys were forgotten. Give a rule that speaks of positions, such as Window."
            )
        shape = tuple(self.allowed_BTS.shape)
        if shape[0] not in (1, batch) or shape[1:] != (queries, keys):
            raise ShapeError(
                f"The mask is {shape} and the attention has {batch} examples of {queries} queries "
                f"and {keys} keys: give [{queries}, {keys}] or [{batch}, {queries}, {keys}]."
            )

    @property
    def batched(self) -> bool:
        return self.allowed_BTS.shape[0] > 1
