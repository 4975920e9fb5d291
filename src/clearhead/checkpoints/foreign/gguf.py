"""GGUF files (llama.cpp): config, vocabulary and weights in one file, the weights often quantised.

They are dequantised one by one, as they are asked for.
"""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...foundation.errors import CannotError, FileError
from ...foundation.optional import need
from ...models import Decoder
from ...models.families import family_for
from ...tokens import Subwords, vocabulary_of_gguf
from ..parts import Parts, Provenance, filled
from .gguf_settings import gguf_settings
from .weights import to_ours

FREQUENCIES = "rope_freqs.weight"
# llama.cpp turns neighbouring coordinates of these, where others turn halves.
TURNS_NEIGHBOURS = ("llama", "mistral")
NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def read_gguf(path: Path) -> Parts:
    """The model in a GGUF file."""
    reader = _opened(path)
    metadata = {name: field.contents() for name, field in reader.fields.items()}
    stored = {tensor.name: tensor for tensor in reader.tensors}
    slower = _dequantised(stored[FREQUENCIES]) if FREQUENCIES in stored else None
    shapes = {name: tuple(map(int, reversed(tensor.shape))) for name, tensor in stored.items()}
    settings = gguf_settings(metadata, shapes, slower, source=str(path))
    family, name = family_for(settings)
    architecture = family.read(settings, name)
    assert isinstance(architecture, Decoder)
    weights = Dequantised(stored, metadata["general.architecture"], architecture)
    ours = to_ours(weights, family.weights(architecture, name))
    vocabulary, notes = _vocabulary(metadata)
    return Parts(
        network=filled(architecture, ours),
        architecture=architecture,
        vocabulary=vocabulary,
        provenance=Provenance(
            source=str(path),
            family=family.name,
            published_as=name,
            notes=notes,
            settings=settings,
        ),
    )


class Dequantised(Mapping[str, Tensor]):
    """The weights under their names in a Hugging Face folder, made float32 when asked for."""

    def __init__(self, stored: Mapping[str, Any], kind: str, architecture: Decoder) -> None:
        self.stored = {_published(name): each for name, each in stored.items()}
        self.stored.pop(FREQUENCIES, None)
        self.turned: dict[str, int] = {}
        if kind in TURNS_NEIGHBOURS:
            heads = architecture.stack.layer.heads
            self.turned = {"q_proj": heads.heads, "k_proj": heads.key_value_heads}

    def __getitem__(self, name: str) -> Tensor:
        weight = _dequantised(self.stored[name])
        heads = self.turned.get(name.split(".")[-2])
        return weight if heads is None else halves_from_neighbours(weight, heads)

    def __contains__(self, name: object) -> bool:
        return name in self.stored

    def __iter__(self) -> Iterator[str]:
        return iter(self.stored)

    def __len__(self) -> int:
        return len(self.stored)


def halves_from_neighbours(weight: Tensor, heads: int) -> Tensor:
    """Rows reordered so that every head turns row i with row i + half, not with its neighbour."""
    pairs = weight.reshape(heads, -1, 2, *weight.shape[1:])
    return pairs.transpose(1, 2).reshape(weight.shape)


def _published(name: str) -> str:
    """The name in a Hugging Face folder; a name nobody knows stays, and is refused as spare."""
    *block, part, kind = name.split(".")
    if part not in NAMES:
        return name
    return ".".join((*(["model", "layers", block[1]] if block else []), NAMES[part], kind))


def _dequantised(tensor: Any) -> Tensor:
    library = need("gguf", extra="formats", purpose="Reading a GGUF file")
    try:
        values = library.dequantize(tensor.data, tensor.tensor_type)
    except NotImplementedError as error:
        raise CannotError(
            f"The weight {tensor.name} is quantised as {tensor.tensor_type.name}, which the gguf "
            "package cannot undo. Use a file quantised another way, such as Q8_0, or F16."
        ) from error
    return torch.from_numpy(values if values.flags.writeable else values.copy())


def _keep_plain(reader: Any, mapped: Any) -> None:
    reader.plain = mapped.view(np.ndarray)


def _opened(path: Path) -> Any:
    need("gguf", extra="formats", purpose="Reading a GGUF file")
    from gguf import GGUFReader

    class PlainReader(GGUFReader):
        """Cuts pieces from a plain view: from a memory map each takes three times as long."""

        data: Any = property(attrgetter("plain"), _keep_plain)

    try:
        return PlainReader(path)
    except (ValueError, IndexError, KeyError, OSError) as error:
        raise FileError(
            f"{path} cannot be read as a GGUF file ({error}): it is cut short, damaged, or of "
            "another kind. Copy it again."
        ) from error


def _vocabulary(metadata: Mapping[str, Any]) -> tuple[Subwords | None, dict[str, str]]:
    """The vocabulary; or none, and a note why: the model works without."""
    try:
        return vocabulary_of_gguf(metadata), {}
    except CannotError as error:
        return None, {"vocabulary": str(error)}
