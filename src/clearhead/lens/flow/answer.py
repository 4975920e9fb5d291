"""What each input token has to do with one position, or with one number."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float
from torch import Tensor

from ...foundation.errors import InputError, nearest

Method = Literal["rollout", "relevance", "integrated gradients"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Flow:
    """A number for every input token, by the side of the model that read it: `flow["encoder"]`.

    Args:
        sides: For `encoder`, `decoder` or both, [batch, token].
        to: Of each example the position asked about; None where a number alone was.
        value: The number that was explained; None for a rollout, which explains none.
        gap: What integrated gradients did not explain of the number's change from baseline to
            text, because they add up finitely many steps.
    """

    method: Method
    sides: Mapping[str, Float[Tensor, "b s"]]
    to: tuple[int, ...] | None
    value: float | None = None
    gap: float = 0.0

    def __getitem__(self, side: str) -> Float[Tensor, "b s"]:
        if side not in self.sides:
            raise InputError(
                f"There is no side {side!r} here.{nearest(side, self.sides)} There is: "
                f"{', '.join(self.sides)}."
            )
        return self.sides[side]
