"""What a GGUF file says of its model, in the words of a config.json."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from ...attention.positions import Llama3, Rotary
from ...attention.positions.rotary import speeds
from ...foundation.errors import CannotError, FileError, UnknownModelError, nearest

PUBLISHED = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
WANTED = (
    "embedding_length",
    "feed_forward_length",
    "block_count",
    "context_length",
    "attention.head_count",
    "attention.layer_norm_rms_epsilon",
)


def gguf_settings(
    metadata: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    slower: Tensor | None,
    *,
    source: str,
) -> dict[str, Any]:
    """The metadata as a config.json would say it.

    Args:
        shapes: Of the weights, by their name in the file.
        slower: What the file divides the speed of every turn by, if it does.
    """
    kind = _kind(metadata, source)
    own = {
        key.removeprefix(f"{kind}."): value
        for key, value in metadata.items()
        if key.startswith(f"{kind}.")
    }
    missing = [key for key in WANTED if key not in own]
    if missing or "token_embd.weight" not in shapes:
        raise FileError(
            f"{source} does not have its {', '.join(missing) or 'embeddings'}: it is not complete. "
            "Copy it again."
        )
    heads, window = own["attention.head_count"], own.get("attention.sliding_window")
    head_width = own.get("attention.key_length", own["embedding_length"] // heads)
    _check_turns(own, head_width, source)
    # A Llama with a window is what others call a Mistral.
    published = "mistral" if kind == "llama" and window else kind
    return {
        "architectures": [f"{PUBLISHED[published]}ForCausalLM"],
        "model_type": published,
        "hidden_size": own["embedding_length"],
        "intermediate_size": own["feed_forward_length"],
        "num_hidden_layers": own["block_count"],
        "num_attention_heads": heads,
        "num_key_value_heads": own.get("attention.head_count_kv", heads),
        "head_dim": head_width,
        "rms_norm_eps": own["attention.layer_norm_rms_epsilon"],
        "vocab_size": shapes["token_embd.weight"][0],
        "max_position_embeddings": own["context_length"],
        "tie_word_embeddings": "output.weight" not in shapes,
        "attention_bias": kind != "qwen2" and "blk.0.attn_q.bias" in shapes,
        "mlp_bias": "blk.0.ffn_up.bias" in shapes,
        "sliding_window": window,
        "rope_theta": own.get("rope.freq_base", 10000.0),
        **_scaling(own, slower, head_width),
    }


def _kind(metadata: Mapping[str, Any], source: str) -> str:
    kind = str(metadata.get("general.architecture"))
    experts = metadata.get(f"{kind}.expert_count")
    if kind not in PUBLISHED or experts:
        raise UnknownModelError(
            f"{source} holds a model of architecture {kind!r}{' with experts' if experts else ''}, "
            f"which is not read here.{nearest(kind, PUBLISHED)} Known in GGUF files: "
            f"{', '.join(PUBLISHED)}."
        )
    return kind


def _check_turns(own: Mapping[str, Any], head_width: int, source: str) -> None:
    turned = own.get("rope.dimension_count", head_width)
    if turned != head_width:
        raise CannotError(
            f"{source} turns {turned} of {head_width} coordinates of a head by position, which no "
            "family that is read from GGUF files does here. Use its Hugging Face folder."
        )


def _scaling(own: Mapping[str, Any], slower: Tensor | None, head_width: int) -> dict[str, Any]:
    """How turns are slowed down for long texts, if they are."""
    if slower is not None:
        return {"rope_scaling": _llama3(own, slower, head_width)}
    kind = own.get("rope.scaling.type", "none")
    if kind == "none":
        return {}
    return {"rope_scaling": {"rope_type": kind, "factor": own.get("rope.scaling.factor", 1.0)}}


def _llama3(own: Mapping[str, Any], slower: Tensor, head_width: int) -> dict[str, Any]:
    """Llama 3's scaling, of which a file holds only what it does to every speed."""
    scaling = Llama3(factor=float(slower.max()), low=1.0, high=4.0, trained_length=8192)
    base = own.get("rope.freq_base", 10000.0)
    plain = speeds(Rotary(base=base), head_width)
    expected = plain / speeds(Rotary(base=base, scaling=scaling), head_width)
    if not torch.allclose(slower.to(expected), expected, rtol=1e-3):
        raise CannotError(
            f"The file slows turning down by {float(slower.min()):g} to {float(slower.max()):g} "
            "in a way that is not Llama 3's. Use its Hugging Face folder."
        )
    return {
        "rope_type": "llama3",
        "factor": scaling.factor,
        "low_freq_factor": scaling.low,
        "high_freq_factor": scaling.high,
        "original_max_position_embeddings": scaling.trained_length,
    }
