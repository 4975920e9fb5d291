"""The decoder skeleton: every token sees those before it.

GPT-2, Llama, and the second half of translators, which also reads the encoder's memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import Documents, Everything, Mask, tell_moved
from ..attention.caches import Cache, Growing, Held, Rolling, Static
from ..foundation.errors import InputError, refuse_unknown
from ..layers import LabelOutput, Labels, LogitOutput, Logits, WordInput, Words
from ..layers.block import Memory
from ..layers.words import check_tied
from .places import places, who_may_look
from .result import Result
from .stack import BlockStack, Stack


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A decoder: what comes in, the stack, and what goes out."""

    kind: Literal["decoder"] = "decoder"
    input: Words
    stack: Stack
    output: Logits | Labels | None = None

    def __post_init__(self) -> None:
        if isinstance(self.output, Logits) and self.output.tied:
            check_tied(self.input, self.output.vocabulary, self.stack.width)


@dataclass
class Past:
    """What a decoder keeps between steps: one cache a layer, and the memory's keys and values."""

    caches: Sequence[Cache]
    memories: list[Held] = field(default_factory=list)
    decodes: nn.Module | None = field(default=None, repr=False)  # whose past it is

    @property
    def length(self) -> int:
        """How many positions have passed."""
        return self.caches[0].length if self.caches else 0

    def reorder(self, rows_B: Int[Tensor, " b"]) -> None:
        """Go on with these rows of the batch, in this order; a row may come twice, or never."""
        self.reorder_caches(rows_B)
        self.memories[:] = [held.reorder(rows_B) for held in self.memories]

    def reorder_caches(self, rows_B: Int[Tensor, " b"]) -> None:
        """The same where every row reads the memory that it read before: no memory is copied."""
        for cache in self.caches:
            cache.reorder(rows_B)
        tell_moved(self.decodes, rows_B)


class DecoderNetwork(nn.Module):
    """A decoder as a module."""

    def __init__(self, spec: Decoder, *, reads_memory: bool = False) -> None:
        super().__init__()
        self.spec, self.reads_memory = spec, reads_memory
        self.input = WordInput(spec.input, spec.stack.width)
        self.stack = BlockStack(
            spec.stack, name="decoder", both_sides=False, reads_memory=reads_memory
        )
        self.output: LogitOutput | LabelOutput | None = None
        if isinstance(spec.output, Logits):
            self.output = LogitOutput(spec.output, spec.stack.width)
        elif isinstance(spec.output, Labels):
            self.output = LabelOutput(spec.output, spec.stack.width)

    def past(self, cache: Literal["growing", "static"] = "growing", *, capacity: int = 0) -> Past:
        """An empty past. Layers with a window roll; `static` lays out `capacity` positions."""
        refuse_unknown("cache", cache, "growing", "static")
        caches: list[Cache] = []
        for layer in range(self.spec.stack.layers):
            window = self.spec.stack.window_of(layer)
            if window is not None:
                caches.append(Rolling(window))
            else:
                caches.append(Static(capacity) if cache == "static" else Growing())
        return Past(caches, decodes=self)

    def forward(  # noqa: PLR0913 - every kind of place a token can have
        self,
        ids_BT: Int[Tensor, "b t"],
        *,
        lengths_B: Int[Tensor, " b"] | None = None,
        starts_B: Int[Tensor, " b"] | None = None,
        types_BT: Int[Tensor, "b t"] | None = None,
        positions_BT: Int[Tensor, "b t"] | None = None,
        documents_BT: Int[Tensor, "b past_t"] | Documents | None = None,
        past: Past | None = None,
        memory_BSM: Float[Tensor, "b s m"] | None = None,
        memory_mask: Mask | None = None,
    ) -> Result:
        """Score what follows each of `ids_BT`.

        Args:
            lengths_B: Where each example ends; what stands behind is padding.
            starts_B: Where each example begins; what stands before is padding.
            positions_BT: Where each token stands. Counted from its start when left out. Distances
                (ALiBi, buckets, windows) are counted in the row all the same.
            documents_BT: Which document each token belongs to, when several share a row; those of
                the past included.
            past: What went before; the tokens given now are added to it.
            memory_BSM: What an encoder made, for a decoder that reads one.
            memory_mask: Who may look at what of it. All at all when left out.
        """
        where = places(
            ids_BT,
            past=past.length if past is not None else 0,
            starts_B=starts_B,
            positions_BT=positions_BT,
            documents_BT=documents_BT,
        )
        mask = who_may_look(
            causal=True, lengths_B=lengths_B, starts_B=starts_B, documents_BT=documents_BT
        )
        hidden_BTM = self.stack(
            self.input(ids_BT, positions=where.positions, longest=where.longest, types_BT=types_BT),
            mask=mask,
            places=where,
            caches=past.caches if past is not None else None,
            memories=self._memories(memory_BSM, memory_mask, past),
        )
        if isinstance(self.output, LogitOutput):
            logits_BTV = self.output(hidden_BTM, self.input.words.weight)
            return Result(hidden_BTM=hidden_BTM, logits_BTV=logits_BTV)
        if isinstance(self.output, LabelOutput):
            return Result(hidden_BTM=hidden_BTM, labels_BC=self.output(hidden_BTM, starts_B))
        return Result(hidden_BTM=hidden_BTM)

    def _memories(
        self, memory_BSM: Tensor | None, mask: Mask | None, past: Past | None
    ) -> list[Memory] | None:
        """Every layer's keys and values of the memory, worked out at the first step."""
        if (memory_BSM is not None) != self.reads_memory:
            raise InputError(
                "This decoder reads an encoder's memory and none was given: add memory_BSM."
                if self.reads_memory
                else "A memory was given and this decoder reads none: leave memory_BSM out."
            )
        if memory_BSM is None:
            return None
        held = past.memories if past is not None else []
        if not held:
            held.extend(self.stack.remember(memory_BSM))
        return [Memory(each, Everything() if mask is None else mask) for each in held]
