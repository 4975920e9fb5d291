"""What a question is asked of: one attention, whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...attention import Request
from ...attention.intervals import Intervals, Place, intervals

Blind = Literal["nothing", "everything"]  # what a query weighs that may see no key
ROWS_AT_ONCE = 1024


@dataclass(frozen=True, kw_only=True)
class Source:
    """All queries and keys of one site, in one picture.

    Args:
        lse_BHT: The log of each row's denominator, where the kernel that ran told it.
        real_BT: Which queries are no padding; all when left out.
        blind: What the kernel that ran made of a query that may see nothing.
    """

    site: str
    request: Request
    lse_BHT: Float[Tensor, "b h t"] | None = None
    real_BT: Bool[Tensor, "b t"] | None = None
    blind: Blind = "nothing"

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Batch, heads, queries, keys."""
        batch, heads, queries, _ = self.request.q_BHTD.shape
        return batch, heads, queries, self.request.keys

    @property
    def device(self) -> torch.device:
        """Where the numbers are."""
        return self.request.q_BHTD.device

    @property
    def wide(self) -> torch.dtype:
        """The precision that questions are answered in: at least float32."""
        return torch.promote_types(self.request.q_BHTD.dtype, torch.float32)

    @property
    def row(self) -> int:
        """Where the first query stands."""
        return self.request.first + self.request.keys - self.request.queries

    @cached_property
    def stretches(self) -> Intervals | None:
        """The mask as one stretch of keys a query, where it is one."""
        _, _, queries, keys = self.sizes
        place = Place(queries, keys, self.request.first, self.device)
        return intervals(self.request.mask, place)

    @cached_property
    def first_seen_BT(self) -> Tensor:
        """The first key a query may see, by its number; 0 where it may see none."""
        batch, _, queries, keys = self.sizes
        if self.stretches is not None:
            seen = self.stretches.start_BT - self.request.first
            return seen.clamp(0, max(keys - 1, 0)).expand(batch, queries)
        parts = [seen.to(torch.uint8).argmax(-1) for _, seen in self.seen_by_rows()]
        return torch.cat(parts, 1).expand(batch, queries)

    @cached_property
    def count_BT(self) -> Int[Tensor, "b t"]:
        """How many keys each query may see."""
        batch, _, queries, _ = self.sizes
        if self.stretches is not None:
            return (self.stretches.stop_BT - self.stretches.start_BT).expand(batch, queries)
        parts = [seen.sum(-1) for _, seen in self.seen_by_rows()]
        return torch.cat(parts, 1).expand(batch, queries)

    @cached_property
    def blind_BT(self) -> Bool[Tensor, "b t"]:
        """The queries that may see no key at all."""
        return self.count_BT <= 0

    @cached_property
    def weighs_all_BT(self) -> Bool[Tensor, "b t"] | None:
        """The blind queries that weigh every key the same; None when there are none."""
        if self.blind == "nothing" or not bool(self.blind_BT.any()):
            return None
        return self.blind_BT

    @cached_property
    def counted_BT(self) -> Bool[Tensor, "b t"] | None:
        """The queries a map counts: no padding, and none that sees nothing; None when all count."""
        if self.real_BT is None and self.weighs_all_BT is None:
            return None
        real_BT = torch.ones_like(self.blind_BT) if self.real_BT is None else self.real_BT
        return real_BT & ~self.blind_BT

    def seen_by_rows(self) -> Iterator[tuple[slice, Bool[Tensor, "b r s"]]]:
        """Who may look at whom, some queries after the other."""
        _, _, queries, keys = self.sizes
        for start in range(0, queries, ROWS_AT_ONCE):
            rows = slice(start, min(start + ROWS_AT_ONCE, queries))
            yield rows, allowed(self, rows, slice(0, keys)).transpose(-2, -1)


def allowed(source: Source, rows: slice, columns: slice) -> Bool[Tensor, "b c r"]:
    """Who may look at whom among these queries and keys; `b` is 1 where examples agree."""
    mask, device = source.request.mask, source.device
    batch_B11 = torch.arange(source.sizes[0] if mask.batched else 1, device=device)[:, None, None]
    rows_r = torch.arange(rows.start, rows.stop, device=device) + source.row
    columns_c = torch.arange(columns.start, columns.stop, device=device) + source.request.first
    seen = mask.sees(batch_B11, rows_r[:, None], columns_c)
    return seen.expand(len(batch_B11), len(rows_r), len(columns_c)).transpose(-2, -1)
