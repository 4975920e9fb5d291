"""The mean of what each head hands on, over tokens that are no padding."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ..attention import Announcement, unheard, watching
from ..foundation.errors import CannotError
from .questions.padding import real_queries
from .questions.source import Source
from .watching.reading import parted_bias


@dataclass
class Padding:
    """Which queries are padding, told from masks, call by call.

    A cross-attention's mask says nothing of its queries: those of its layer's self-attention, the
    call before, are the same tokens.
    """

    last: dict[str, Tensor | None] = field(default_factory=dict)

    def real(self, told: Announcement) -> Bool[Tensor, "b t"] | None:
        """The queries of this call that are no padding; None where all are."""
        rows, queries = len(told.request.q_BHTD), told.request.queries
        if not told.site.endswith("cross"):
            found = real_queries(Source(site=told.site, request=parted_bias(told.request)))
            self.last[told.site] = found
            return found
        beside = self.last.get(told.site.removesuffix("cross") + "self")
        return beside if beside is not None and beside.shape == (rows, queries) else None


@dataclass
class Mean:
    """A mean over several calls."""

    sum_HE: Tensor
    count: int = 0

    def add(self, values_BHTE: Float[Tensor, "b h t e"], real_BT: Tensor | None) -> None:
        """Count what one call made."""
        values_BTHE = values_BHTE.detach().transpose(1, 2)
        rows_NHE = values_BTHE.flatten(0, 1) if real_BT is None else values_BTHE[real_BT]
        self.sum_HE = self.sum_HE + rows_NHE.sum(0, dtype=torch.float64)
        self.count += len(rows_NHE)


def means_over(run: Callable[[], object], sites: Mapping[int, str]) -> dict[str, Tensor]:
    """By site, what each head hands on in this run, on average: [heads, width].

    Args:
        sites: Of which modules, by their id.
    """
    means: dict[str, Mean] = {}
    padding = Padding()

    def hear(told: Announcement) -> None:
        site = sites.get(id(told.module))
        if site is None:
            return
        values_BHTE = told.attended.values_BHTE
        _, heads, _, width = values_BHTE.shape
        zero = torch.zeros(heads, width, dtype=torch.float64, device=values_BHTE.device)
        means.setdefault(site, Mean(zero)).add(values_BHTE, padding.real(told))

    with torch.no_grad(), unheard(), watching(hear):
        run()
    empty = [site for site, mean in means.items() if not mean.count]
    if empty:
        raise CannotError(
            f"The reference has only padding at {empty[0]}, so there is no mean of it. Run it over "
            "at least one text."
        )
    return {site: mean.sum_HE / mean.count for site, mean in means.items()}


def mean_of_call(
    site: str, values_BHTE: Float[Tensor, "b h t e"], real_BT: Tensor | None
) -> Float[Tensor, "h e"]:
    """What each head hands on in this one call, on average; a gradient flows through it."""
    values_BTHE = values_BHTE.transpose(1, 2)
    rows_NHE = values_BTHE.flatten(0, 1) if real_BT is None else values_BTHE[real_BT]
    if len(rows_NHE) < 2:
        raise CannotError(
            f"by='mean' takes the mean over the tokens of one call, and this call of {site} has "
            f"{len(rows_NHE)}: nothing would change. Give reference=…, which runs the model over "
            "other texts, or by='zero'."
        )
    return rows_NHE.mean(0, dtype=torch.promote_types(rows_NHE.dtype, torch.float32))
