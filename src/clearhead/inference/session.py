"""A decoder and what it keeps of the past, as the step that a search takes."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ..foundation.errors import CannotError
from ..layers import LogitOutput
from ..models import DecoderNetwork
from ..models.places import who_may_look


class Session:
    """One batch on its way through a decoder, from the prompts on. It is a `Step`.

    Args:
        memory_BSM: What an encoder made, for a decoder that reads one: one row a prompt.
        lengths_B: Where each row of the memory ends; what stands behind is padding.
    """

    def __init__(
        self,
        decoder: DecoderNetwork,
        memory_BSM: Float[Tensor, "b s m"] | None = None,
        *,
        lengths_B: Int[Tensor, " b"] | None = None,
    ) -> None:
        if not isinstance(decoder.output, LogitOutput):
            raise CannotError("This model has no output over words: load it with its head.")
        self.decoder, self.past = decoder, decoder.past()
        self.memory_BSM, self.lengths_B = memory_BSM, lengths_B
        self.mask = who_may_look(causal=False, lengths_B=lengths_B)
        # Which prompt each row is of: its beams read one memory.
        self.prompts = list(range(0 if memory_BSM is None else len(memory_BSM)))

    def __call__(
        self, newest_BT: Int[Tensor, "b t"], rows: list[int] | None
    ) -> Float[Tensor, "b v"]:
        """The scores of what follows each row; see `Step`."""
        if rows is not None:
            self._go_on(rows, newest_BT.device)
        reads = self.memory_BSM is not None
        logits_BTV = self.decoder(
            newest_BT,
            past=self.past,
            memory_BSM=self.memory_BSM,
            memory_mask=self.mask if reads else None,
        ).logits_BTV
        last_BV: Tensor = logits_BTV[:, -1]
        return last_BV

    def _go_on(self, rows: list[int], device: torch.device) -> None:
        """Keep the past of these rows. A memory moves only where a row is of another prompt now."""
        rows_B = torch.tensor(rows, device=device)
        if self.memory_BSM is None:
            self.past.reorder(rows_B)
            return
        prompts = [self.prompts[row] for row in rows]
        if prompts == self.prompts:
            self.past.reorder_caches(rows_B)
            return
        self.past.reorder(rows_B)
        self.prompts = prompts
        self.memory_BSM = self.memory_BSM.index_select(0, rows_B)
        if self.lengths_B is not None:
            self.lengths_B = self.lengths_B.index_select(0, rows_B)
            self.mask = who_may_look(causal=False, lengths_B=self.lengths_B)
