"""Token ids to vectors: embedding (perhaps × √width), positions, segment types, norm."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from ..attention.positions import Learned, Sinusoidal
from ..attention.positions.learned import Table
from ..attention.positions.sinusoidal import Waves
from ..foundation.errors import ConfigError, InputError
from .norm import Norm, build_norm


@dataclass(frozen=True, kw_only=True)
class Words:
    """How ids become vectors.

    Args:
        vocabulary: How many different ids there are.
        width: Width of an embedding; projected to the model's where that is another (ELECTRA).
        scale: Multiplies the embeddings before positions are added (√width in the paper).
        types: How many segment types there are; 0 for none.
    """

    kind: Literal["words"] = "words"
    vocabulary: int
    width: int
    scale: float = 1.0
    positions: Learned | Sinusoidal | None = None
    types: int = 0
    norm: Norm | None = None
    dropout: float = 0.0


def check_tied(words: Words, vocabulary: int, width: int) -> None:
    """Refuse scores of `vocabulary` words from vectors `width` wide by other embeddings."""
    if (words.vocabulary, words.width) != (vocabulary, width):
        raise ConfigError(
            f"The output scores {vocabulary} words from vectors {width} wide by the input's "
            f"embeddings, which are {words.vocabulary} words {words.width} wide: give both the "
            "same sizes, or the output weights of its own."
        )


class WordInput(nn.Module):
    """The input layer of a text model."""

    def __init__(self, spec: Words, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.words = nn.Embedding(spec.vocabulary, spec.width)
        self.positions = _build_positions(spec)
        self.types = nn.Embedding(spec.types, spec.width) if spec.types else None
        for table in (self.words, self.types):
            if table is not None:  # × √width this is of size 1, and so are scores made with it
                nn.init.normal_(table.weight, std=spec.width**-0.5)
        self.norm = build_norm(spec.norm, spec.width) if spec.norm else None
        self.dropout = nn.Dropout(spec.dropout)
        self.project = nn.Linear(spec.width, width) if spec.width != width else None

    def forward(
        self,
        ids_BT: Int[Tensor, "b t"],
        *,
        positions: Int[Tensor, "*b t"],
        longest: int,
        types_BT: Int[Tensor, "b t"] | None = None,
    ) -> Float[Tensor, "b t m"]:
        """Vectors of `ids_BT`, which stand at `positions`, all below `longest`."""
        self._check(ids_BT, types_BT)
        x_BTM: Tensor = self.words(ids_BT)
        if self.spec.scale != 1.0:
            x_BTM = x_BTM * self.spec.scale
        if self.types is not None:
            # Left out means type 0 for all, which is one row to add.
            x_BTM = x_BTM + (self.types.weight[0] if types_BT is None else self.types(types_BT))
        if self.positions is not None:
            x_BTM = x_BTM + self.positions(positions, longest).to(x_BTM.dtype)
        if self.norm is not None:
            x_BTM = self.norm(x_BTM)
        x_BTM = self.dropout(x_BTM)
        return x_BTM if self.project is None else self.project(x_BTM)

    def _check(self, ids_BT: Tensor, types_BT: Tensor | None) -> None:
        """Refuse ids and types without an embedding."""
        if types_BT is not None and self.types is None:
            raise InputError(
                "Segment types were given and this model has none: leave types_BT out."
            )
        if ids_BT.is_floating_point():
            raise InputError(
                f"Ids of {ids_BT.dtype} name no words: give whole numbers, as the tokenizer does."
            )
        vocabulary, types = self.spec.vocabulary, self.spec.types
        outside = _outside(ids_BT, vocabulary)
        if outside is not None:
            raise InputError(
                f"Id {outside} is outside the vocabulary of {vocabulary}: ids go from 0 to "
                f"{vocabulary - 1}. Use the tokenizer that belongs to this model."
            )
        outside = None if types_BT is None else _outside(types_BT, types)
        if outside is not None:
            raise InputError(
                f"Segment type {outside} is not one of this model's {types}: types go from 0 to "
                f"{types - 1}."
            )


def _outside(ids_BT: Tensor, count: int) -> int | None:
    """An id that is not below `count`. Looked for on the CPU alone: a GPU would have to wait."""
    if torch.compiler.is_compiling() or ids_BT.device.type != "cpu" or not ids_BT.numel():
        return None
    low, high = (int(end) for end in ids_BT.aminmax())
    return low if low < 0 else high if high >= count else None


def _build_positions(spec: Words) -> nn.Module | None:
    if isinstance(spec.positions, Learned):
        return Table(spec.positions, spec.width)
    if isinstance(spec.positions, Sinusoidal):
        return Waves(spec.positions, spec.width)
    return None
