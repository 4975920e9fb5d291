"""What a search asks of whoever knows the model: the scores of the next token."""

from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class Step(Protocol):
    """One step of a batch of texts. A search calls it again and again, and never sees a model."""

    def __call__(
        self, newest_BT: Int[Tensor, "b t"], rows: list[int] | None
    ) -> Float[Tensor, "b v"]:
        """The scores of what follows each row.

        Args:
            newest_BT: What each row has that it had not at the call before: first the prompts,
                then one token a row.
            rows: Which row of the call before each row continues. One may be continued by several,
                or by none. None where every row continues itself, and at the first call.
        """
