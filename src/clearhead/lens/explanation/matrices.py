"""Matrices in a small TOML file: one attention written out.

tokens     = ["the", "cat"]              # names for the rows; 0, 1, … when left out
embeddings = [[1.0, 0.0], [0.0, 1.0]]    # or `inputs`, where positions are in them already
positions  = [[0.0, 0.1], [0.2, 0.3]]    # may be left out
W_q = [[1, 0], [0, 1]]                   # inputs · W_q are the queries
W_k = [[1, 0], [0, 1]]
W_v = [[1, 0], [0, 1]]
W_o = [[1, 0], [0, 1]]                   # may be left out: the joined heads are the output
heads = 1
mask  = "causal"                         # "none", "causal", or rows of 0 (may not look) and 1
scale = 1.0                              # q·k is multiplied with it; 1/√d when left out
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from ...config import read, setting
from ...foundation.errors import ConfigError, ShapeError

Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Matrices:
    """One attention written out: tokens as rows, and what they are multiplied with."""

    tokens: tuple[str, ...] | None = setting(None, help="a name for every row")
    embeddings: Rows | None = setting(None, help="one row of numbers a token")
    positions: Rows | None = setting(None, help="added to the embeddings")
    inputs: Rows | None = setting(None, help="embeddings with positions in them already")
    W_q: Rows = setting(help="inputs · W_q are the queries")
    W_k: Rows = setting(help="inputs · W_k are the keys")
    W_v: Rows = setting(help="inputs · W_v are the values")
    W_o: Rows | None = setting(None, help="what the joined heads are multiplied with")
    heads: int = setting(1, help="W_q, W_k and W_v are cut into so many", minimum=1)
    mask: Literal["none", "causal"] | tuple[tuple[bool | int, ...], ...] = "none"
    scale: float | None = setting(None, help="q·k times this; 1/√d when left out")

    def __post_init__(self) -> None:
        if (self.embeddings is None) == (self.inputs is None):
            there = "neither is" if self.embeddings is None else "both are"
            raise ConfigError(
                f"Attention needs embeddings or inputs, and {there} given. Inputs are embeddings "
                "with positions added already: give one of the two, one row of numbers a token."
            )
        for name in ("embeddings", "positions", "inputs", "W_q", "W_k", "W_v", "W_o"):
            _check_rows(name, getattr(self, name))
        if self.scale is not None and not isfinite(self.scale):
            raise ConfigError(f"scale is {self.scale}: give a finite number, or leave it out.")
        self._check_sizes()
        if not isinstance(self.mask, str):
            _check_mask(self.mask, len(self.rows))

    @property
    def rows(self) -> Rows:
        """What comes in, before positions are added."""
        return self.embeddings or self.inputs or ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The tokens, or their numbers."""
        return self.tokens or tuple(map(str, range(len(self.rows))))

    def without_effect(self) -> dict[str, str]:
        """Positions belong to embeddings."""
        if self.inputs is not None:
            return {"positions": "inputs have their positions in them already"}
        return {}

    def _check_sizes(self) -> None:
        count, width = len(self.rows), len(self.rows[0])
        if self.tokens is not None and len(self.tokens) != count:
            raise ShapeError(
                f"There are {len(self.tokens)} tokens and {count} rows of numbers: "
                "give one name a row, or leave tokens out."
            )
        if self.positions is not None:
            _fit("positions", self.positions, (count, width), "as the embeddings have")
        for name, rows in (("W_q", self.W_q), ("W_k", self.W_k), ("W_v", self.W_v)):
            _fit(name, rows, (width, len(rows[0])), "one row for each number of a token")
        _fit("W_k", self.W_k, (width, len(self.W_q[0])), "as W_q, or q·k cannot be taken")
        for name, rows in (("W_q", self.W_q), ("W_v", self.W_v)):
            if len(rows[0]) % self.heads:
                raise ShapeError(
                    f"{name} has {len(rows[0])} columns, which cannot be cut into {self.heads} "
                    "heads of the same width. Change the columns or the heads."
                )
        if self.W_o is not None:
            wanted = (len(self.W_v[0]), len(self.W_o[0]))
            _fit("W_o", self.W_o, wanted, "one row for each column of W_v")


def read_matrices(source: Mapping[str, object] | str | Path) -> Matrices:
    """Matrices from a TOML file, or from plain lists in memory."""
    return read(Matrices, source)


def _check_rows(name: str, rows: Rows | None) -> None:
    if rows is None:
        return
    widths = sorted({len(row) for row in rows})
    if not rows or widths[0] == 0:
        raise ShapeError(f"{name} has no numbers. Give rows of numbers: [[1, 0], [0, 1]].")
    if len(widths) > 1:
        raise ShapeError(
            f"{name} has rows of {widths[0]} and of {widths[-1]} numbers: "
            "every row of a matrix needs the same count."
        )
    if not all(isfinite(number) for row in rows for number in row):
        raise ConfigError(f"{name} has inf or nan in it. Give finite numbers.")


def _fit(name: str, rows: Rows, wanted: tuple[int, int], why: str) -> None:
    came = (len(rows), len(rows[0]))
    if came != wanted:
        raise ShapeError(
            f"{name} is {came[0]} × {came[1]} and must be {wanted[0]} × {wanted[1]}: {why}."
        )


def _check_mask(rows: tuple[tuple[bool | int, ...], ...], count: int) -> None:
    widths = sorted({len(row) for row in rows})
    if len(rows) != count or widths != [count]:
        came = f"{len(rows)} × {' or '.join(map(str, widths or [0]))}"
        raise ShapeError(
            f"The mask is {came} and must be {count} × {count}, one row a query and one column a "
            'key. Give that many rows, or "none", or "causal".'
        )
    if any(cell not in (0, 1) for row in rows for cell in row):
        raise ConfigError("A mask has 1 where a query may look at a key and 0 where it may not.")
