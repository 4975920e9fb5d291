r"""Relevance: attention times the gradient of a number, through all layers (Chefer et al. 2021).

Of every attention $\bar A = \mathbb{E}_h (P \odot \partial P)^+$. Self-attention adds
$\bar A R$ to what its tokens have to do with each other, R, which begins as the identity (eq. 6);
cross-attention adds $(\bar R^{tt})^\top \bar A \bar R^{ss}$ to what a target token has to do with
the source (eq. 10), where $\bar R$ has the rows of $R - 1$ made to add up to 1 (eq. 8, 9). One row
is wanted of the end result, so each step is a vector times a matrix that is never built.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ..ablate import able
from ..look import Look
from .answer import Flow
from .layers import Layers, layers_of, one_hot, positions
from .products import through_keys, through_rows
from .run_once import Once, Target, run_once


def relevance(
    model: object, target: Target, *, to: int | Sequence[int] = -1, side: str | None = None
) -> Flow:
    """How much each input token bears on a number, by way of one position.

    Args:
        model: What `clearhead.load` returns, a network of ours, or a model of transformers.
        target: Runs the model once and returns a number that has a gradient: one logit, say.
        to: The position whose output the number was read from; one for each example, or one for
            all. Below 0 counts from the last that is no padding.
        side: Where that position is; where the model writes when left out.
    """
    once = run_once(able(model), target)
    layers = layers_of(once.known, once.look, side, once.without)
    places = positions(to, layers.last)
    of = Relevances(once)
    row_BT = one_hot(places, layers.last)
    if not layers.decoder:
        row_BT = row_BT + of.down([layer.own for layer in layers.encoder], row_BT)
        sides = {"encoder": row_BT}
        return Flow(method="relevance", sides=sides, to=places, value=once.value)
    row_BT, read_BS = of.decoder(layers, row_BT)
    sides = {"decoder": row_BT}
    if read_BS is not None:
        sides["encoder"] = of.normed_down([layer.own for layer in layers.encoder], read_BS)
    return Flow(method="relevance", sides=sides, to=places, value=once.value)


class Relevances:
    """Vectors times Ā of every attention of one run."""

    def __init__(self, once: Once) -> None:
        self.gradients = once.gradients

    def left(self, look: Look, x_BT: Float[Tensor, "b t"]) -> Float[Tensor, "b s"]:
        """One step down: x Ā."""
        return through_rows(look, self.gradients[look.site], x_BT)

    def right(self, look: Look, x_BS: Float[Tensor, "b s"]) -> Float[Tensor, "b t"]:
        """One step up: Ā x."""
        return through_keys(look, self.gradients[look.site], x_BS)

    def down(self, looks: Sequence[Look | None], row_BT: Tensor) -> Float[Tensor, "b t"]:
        """What x (R − 1) is, from the last layer to the first; in this order no digit is lost."""
        added_BT = torch.zeros_like(row_BT)
        for look in reversed(looks):
            if look is not None:
                added_BT = added_BT + self.left(look, row_BT + added_BT)
        return added_BT

    def up(self, looks: Sequence[Look | None], column_BT: Tensor) -> Float[Tensor, "b t"]:
        """What (R − 1) x is, from the first layer to the last."""
        added_BT = torch.zeros_like(column_BT)
        for look in looks:
            if look is not None:
                added_BT = added_BT + self.right(look, column_BT + added_BT)
        return added_BT

    def normed_down(self, looks: Sequence[Look | None], row_BT: Tensor) -> Float[Tensor, "b t"]:
        """All steps down, x R̄."""
        return row_BT + self.down(looks, row_BT / self.sums(looks, row_BT))

    def normed_up(self, looks: Sequence[Look | None], column_BT: Tensor) -> Float[Tensor, "b t"]:
        """All steps up, R̄ x."""
        return column_BT + self.up(looks, column_BT) / self.sums(looks, column_BT)

    def sums(self, looks: Sequence[Look | None], like_BT: Tensor) -> Float[Tensor, "b t"]:
        """What the rows of R − 1 add up to; 1 where nothing was added, so that nothing stays."""
        sums_BT = self.up(looks, torch.ones_like(like_BT))
        return torch.where(sums_BT > 0, sums_BT, 1.0)

    def decoder(self, layers: Layers, row_BT: Tensor) -> tuple[Tensor, Tensor | None]:
        """The row of what the tokens have to do with each other, and its share of the source.

        What the source gets in a layer goes through the target's own R as it was in that layer.
        """
        read_BS: Tensor | None = None
        own = [layer.own for layer in layers.decoder]
        for number in reversed(range(len(own))):
            cross = layers.decoder[number].cross
            if cross is not None:
                column_BT = self.normed_up(own[: number + 1], row_BT)
                more_BS = self.left(cross, column_BT)
                read_BS = more_BS if read_BS is None else read_BS + more_BS
            row_BT = row_BT + self.down([own[number]], row_BT)
        return row_BT, read_BS
