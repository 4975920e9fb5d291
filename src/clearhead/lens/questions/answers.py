"""What comes back from a question: numbers, how they were made, and what they leave out."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

Kind = Literal["exact", "pooled", "top-k"]
Lse = Literal["announced", "recomputed"]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """How an answer was made.

    Args:
        kind: `exact` holds every number asked for, `pooled` means of many, `top-k` the largest.
        lse: Whether the rows' denominators are the kernel's own, or were worked out again.
        left_out: Queries that are padding, as (example, query): numbers there mean nothing.
    """

    kind: Kind = "exact"
    lse: Lse
    left_out: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """One statistic. Behaves like its `values` where an array is wanted.

    `mass_left_out` is the share of attention that is not in the numbers, for every query.
    """

    values: Float[Tensor, "..."]
    axes: tuple[str, ...]
    origin: Origin
    mass_left_out: Float[Tensor, "..."] | float = 0.0

    @property
    def kind(self) -> Kind:
        """Exact, pooled or top-k."""
        return self.origin.kind

    @property
    def left_out(self) -> tuple[tuple[int, int], ...]:
        """Queries that are padding, as (example, query)."""
        return self.origin.left_out

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of `values`."""
        return tuple(self.values.shape)

    def __getitem__(self, place: Any) -> Tensor:
        return self.values[place]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values.detach().cpu().numpy(), dtype=dtype)


@dataclass(frozen=True, kw_only=True, eq=False)
class Distances:
    """How far a query looks, on average: back (ahead is below 0), and in either direction."""

    signed_BHT: Float[Tensor, "b h t"]
    absolute_BHT: Float[Tensor, "b h t"]
    origin: Origin
    mass_left_out: float = 0.0

    @property
    def kind(self) -> Kind:
        """Exact."""
        return self.origin.kind

    @property
    def left_out(self) -> tuple[tuple[int, int], ...]:
        """Queries that are padding, as (example, query)."""
        return self.origin.left_out


@dataclass(frozen=True, kw_only=True, eq=False)
class Map:
    """A region of the matrix in blocks: over its allowed cells the mean, the maximum, their number.

    Block `r, c` covers the queries from `rows[r]` up to `rows[r + 1]`, keys alike. Padded queries
    do not count. The mean of a block without an allowed cell is 0.
    """

    mean_BHRC: Float[Tensor, "b h r c"]
    maximum_BHRC: Float[Tensor, "b h r c"]
    count_BRC: Int[Tensor, "b r c"]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    origin: Origin
    mass_left_out: Float[Tensor, "b h t"] | float = 0.0

    @property
    def kind(self) -> Kind:
        """Pooled; exact where every block is one cell."""
        return self.origin.kind

    @property
    def left_out(self) -> tuple[tuple[int, int], ...]:
        """Queries that are padding, as (example, query)."""
        return self.origin.left_out


@dataclass(frozen=True, kw_only=True, eq=False)
class TopKeys:
    """Of every query its strongest keys, their weights, and the mass all others have together.

    The key is -1 where a query may see fewer keys than were asked for.
    """

    keys_BHTk: Int[Tensor, "b h t k"]
    weights_BHTk: Float[Tensor, "b h t k"]
    mass_left_out: Float[Tensor, "b h t"]
    origin: Origin

    @property
    def kind(self) -> Kind:
        """Top-k."""
        return self.origin.kind

    @property
    def left_out(self) -> tuple[tuple[int, int], ...]:
        """Queries that are padding, as (example, query)."""
        return self.origin.left_out
