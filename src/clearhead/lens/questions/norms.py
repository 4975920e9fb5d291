r"""How long what a head takes from a token is: weights beside the vectors they weigh.

A small weight on a long vector can matter more than a large one on a short vector
(Kobayashi et al. 2020, §3). With $f_h(x_j) = v_j W_O^h$:

$$ \lVert P_{ij} f_h(x_j) \rVert = P_{ij} \lVert f_h(x_j) \rVert $$
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from .answers import Answer
from .places import Places, numbers, places
from .source import Source

AT_ONCE = 2**24  # numbers of joined values that are made at once


@dataclass(frozen=True)
class Norms:
    """How long the vectors of one attention are, behind its output projection.

    Args:
        weigh: Gives exact cells of the weights.
        receive: Gives what each key gets.
    """

    source: Source
    projection_HEM: Float[Tensor, "h e m"]
    weigh: Callable[..., Answer]
    receive: Callable[[], Answer]

    @cached_property
    def vectors_BHS(self) -> Float[Tensor, "b h s"]:
        """‖f(x_j)‖: how long what each head would take from a token is, at a weight of 1.

        ‖v W‖ is ‖v Rᵀ‖ for Wᵀ = QR: as exact, without the width of the model.
        """
        source = self.source
        upright_HME = self.projection_HEM.to(source.wide).transpose(-2, -1)
        with torch.no_grad():
            _, r_HNE = torch.linalg.qr(upright_HME)
            v_BGSE = source.request.v_BGSE
            shared = source.sizes[1] // v_BGSE.shape[1]
            heads = [
                (v_BGSE[:, head // shared].to(source.wide) @ r_HNE[head].T).norm(dim=-1)
                for head in range(source.sizes[1])
            ]
        return torch.stack(heads, 1)

    def weights(
        self,
        rows: Places = None,
        columns: Places = None,
        heads: Sequence[int] | int | None = None,
    ) -> Answer:
        """‖P_ij f(x_j)‖ of exact cells, and only those: [batch, heads, rows, columns]."""
        found = self.weigh(rows, columns, heads)
        _, count, _, keys = self.source.sizes
        of = list(range(count)) if heads is None else numbers(heads, count, "head")
        lengths_Bhc = self.vectors_BHS[:, of, places(columns, keys, "keys")]
        return replace(found, values=found.values * lengths_Bhc[:, :, None])

    def received(self) -> Answer:
        """How long what all real queries take from each key is, added up: [batch, head, key]."""
        found = self.receive()
        return replace(found, values=found.values * self.vectors_BHS)

    def together(self, rows: Places = None, columns: Places = None) -> Answer:
        """‖Σ_h P_ij f(x_j)‖: of exact cells what all heads take together, [batch, rows, columns].

        Heads can pull against each other, so this may be far less than their lengths added up.
        """
        found = self.weigh(rows, columns)
        source, across = self.source, places(columns, self.source.sizes[3], "keys")
        v_BGcE = source.request.v_BGSE[:, :, across].to(source.wide)
        v_BHcE = v_BGcE.repeat_interleave(source.sizes[1] // v_BGcE.shape[1], dim=1)
        projection_NM = self.projection_HEM.to(source.wide).flatten(0, 1)
        batch, _, height, width = found.shape
        lengths_Brc = found.values.new_empty(batch, height, width)
        step = max(1, AT_ONCE // max(batch * width * max(projection_NM.shape), 1))
        for start in range(0, height, step):
            part_BHrc = found.values[:, :, start : start + step]
            joined_BrcN = torch.einsum("bhrc,bhce->brche", part_BHrc, v_BHcE).flatten(-2)
            lengths_Brc[:, start : start + step] = (joined_BrcN @ projection_NM).norm(dim=-1)
        return replace(found, values=lengths_Brc, axes=("batch", "query", "key"))
