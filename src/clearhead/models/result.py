"""What every network returns."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Result:
    """The last hidden vectors, and what the network's head made of them.

    `logits_BTV` score words, `labels_BC` (or [B, T, C]) score labels, `pooled_BM` is one vector
    for the whole; a network has at most one of them. `memory_BSM` is what an encoder handed to
    its decoder.
    """

    hidden_BTM: Float[Tensor, "b t m"]
    logits_BTV: Float[Tensor, "b t v"] | None = None
    labels_BC: Float[Tensor, "b *t c"] | None = None
    pooled_BM: Float[Tensor, "b m"] | None = None
    memory_BSM: Float[Tensor, "b s n"] | None = None
