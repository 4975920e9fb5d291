"""The encoder skeleton: everything sees everything.

BERT, ViT, and the first half of translators.
"""

from dataclasses import dataclass
from typing import Literal

from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention import Documents
from ..foundation.errors import ConfigError
from ..layers import (
    FrameInput,
    Frames,
    LabelOutput,
    Labels,
    Masked,
    MaskedOutput,
    Patches,
    PatchInput,
    Pooled,
    PooledOutput,
    Taught,
    TaughtOutput,
    WordInput,
    Words,
)
from ..layers.words import check_tied
from .places import Places, places, who_may_look
from .result import Result
from .stack import BlockStack, Stack


@dataclass(frozen=True, kw_only=True)
class Encoder:
    """An encoder: what comes in, the stack, and what goes out."""

    kind: Literal["encoder"] = "encoder"
    input: Words | Patches | Frames
    stack: Stack
    output: Masked | Labels | Taught | Pooled | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.output, Masked):
            return
        if not isinstance(self.input, Words):
            raise ConfigError(
                f"Masked words are scored by the embeddings of words, and the input is "
                f"{self.input.kind}: leave the output out, or give labels or pooled."
            )
        check_tied(self.input, self.output.vocabulary, self.output.width)


class EncoderNetwork(nn.Module):
    """An encoder as a module."""

    def __init__(self, spec: Encoder, *, name: str = "encoder") -> None:
        super().__init__()
        self.spec = spec
        self.input = _build_input(spec)
        self.stack = BlockStack(spec.stack, name=name, both_sides=True)
        self.output = _build_output(spec)

    def forward(
        self,
        given: Int[Tensor, "b t"] | Float[Tensor, "b c *yx"],
        *,
        lengths_B: Int[Tensor, " b"] | None = None,
        starts_B: Int[Tensor, " b"] | None = None,
        types_BT: Int[Tensor, "b t"] | None = None,
        positions_BT: Int[Tensor, "b t"] | None = None,
        documents_BT: Int[Tensor, "b t"] | Documents | None = None,
    ) -> Result:
        """Encode ids [B, T], pictures [B, C, Y, X] or spectrograms [B, C, T].

        Args:
            lengths_B: Where each example ends, counted in tokens; what stands behind is padding.
            starts_B: Where each example begins; what stands before is padding.
            positions_BT: Where each token stands. Counted from its start when left out. Distances
                (ALiBi, buckets, windows) are counted in the row all the same.
            documents_BT: Which document each token belongs to, when several share a row.
        """
        if isinstance(self.input, WordInput):
            where = places(
                given,
                past=0,
                starts_B=starts_B,
                positions_BT=positions_BT,
                documents_BT=documents_BT,
            )
            x_BTM = self.input(
                given, positions=where.positions, longest=where.longest, types_BT=types_BT
            )
        else:
            x_BTM = self.input(given)
            where = _counted(x_BTM)
        mask = who_may_look(
            causal=False, lengths_B=lengths_B, starts_B=starts_B, documents_BT=documents_BT
        )
        hidden_BTM = self.stack(x_BTM, mask=mask, places=where)
        return self._scored(hidden_BTM, starts_B)

    def _scored(self, hidden_BTM: Tensor, starts_B: Tensor | None) -> Result:
        if isinstance(self.output, MaskedOutput) and isinstance(self.input, WordInput):
            logits = self.output(hidden_BTM, self.input.words.weight)
            return Result(hidden_BTM=hidden_BTM, logits_BTV=logits)
        if isinstance(self.output, LabelOutput):
            return Result(hidden_BTM=hidden_BTM, labels_BC=self.output(hidden_BTM, starts_B))
        if isinstance(self.output, TaughtOutput):
            return Result(hidden_BTM=hidden_BTM, labels_BC=self.output(hidden_BTM))
        if isinstance(self.output, PooledOutput):
            return Result(hidden_BTM=hidden_BTM, pooled_BM=self.output(hidden_BTM, starts_B))
        return Result(hidden_BTM=hidden_BTM)


def _counted(x_BTM: Tensor) -> Places:
    """Positions of tokens that bring their own: counted, for stacks that ask."""
    return places(x_BTM, past=0, starts_B=None, positions_BT=None, documents_BT=None)


def _build_input(spec: Encoder) -> nn.Module:
    if isinstance(spec.input, Words):
        return WordInput(spec.input, spec.stack.width)
    if isinstance(spec.input, Patches):
        return PatchInput(spec.input, spec.stack.width)
    return FrameInput(spec.input, spec.stack.width)


def _build_output(spec: Encoder) -> nn.Module | None:
    width = spec.stack.width
    if isinstance(spec.output, Masked):
        return MaskedOutput(spec.output, width)
    if isinstance(spec.output, Labels):
        return LabelOutput(spec.output, width)
    if isinstance(spec.output, Taught):
        return TaughtOutput(spec.output, width)
    if isinstance(spec.output, Pooled):
        return PooledOutput(spec.output, width)
    return None
