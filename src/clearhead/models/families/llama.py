"""Llama (Touvron et al. 2023) and its kin: RMS norm before, rotary, SwiGLU, grouped heads.

Mistral adds a window, Qwen 2 a bias on q, k and v, Qwen 3 a norm of every query and key.
"""

from typing import Any

from ...attention import Heads
from ...attention.positions import Linear, Llama3, Rotary
from ...foundation.errors import UnknownModelError
from ...layers import FeedForward, Layer, Logits, Norm, Words
from ..build import Architecture
from ..decoder import Decoder
from ..stack import Stack
from .family import (
    THEIR_ACTIVATIONS,
    Family,
    Settings,
    Weight,
    activation,
    first_of,
    joined,
    same,
    want,
)

KINDS = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
CLASSES = tuple(f"{kind}{form}" for kind in KINDS.values() for form in ("ForCausalLM", "Model"))


def read(settings: Settings, name: str) -> Decoder:
    """What a config.json of this family describes."""
    kind = _kind(name)
    width, heads = want(settings, "hidden_size"), want(settings, "num_attention_heads")
    layers, vocabulary = want(settings, "num_hidden_layers"), want(settings, "vocab_size")
    norm = Norm(form="rms", epsilon=settings.get("rms_norm_eps", 1e-6))
    biased = bool(settings.get("attention_bias", False))
    window, window_from = _window(settings, kind, layers)
    return Decoder(
        input=Words(vocabulary=vocabulary, width=width),
        stack=Stack(
            width=width,
            layers=layers,
            layer=Layer(
                heads=Heads(
                    heads=heads,
                    key_value_heads=first_of(settings, "num_key_value_heads", default=heads),
                    head_width=first_of(settings, "head_dim", default=width // heads),
                    input_bias=biased or kind == "qwen2",
                    output_bias=biased,
                    norm_epsilon=norm.epsilon if kind == "qwen3" else None,
                ),
                feed_forward=FeedForward(
                    width=want(settings, "intermediate_size"),
                    activation=activation(settings.get("hidden_act", "silu")),
                    gated=True,
                    bias=bool(settings.get("mlp_bias", False)),
                ),
                norm=norm,
                norm_place="before",
                attention_dropout=settings.get("attention_dropout", 0.0),
            ),
            positions=_rotary(settings),
            final_norm=True,
            window=window,
            window_from=window_from,
        ),
        output=Logits(vocabulary=vocabulary, tied=bool(settings.get("tie_word_embeddings", False)))
        if name.endswith("ForCausalLM")
        else None,
    )


def _kind(name: str) -> str:
    return next(kind for kind, start in KINDS.items() if name.startswith(start))


def _window(settings: Settings, kind: str, layers: int) -> tuple[int | None, int]:
    """The window and the first layer that has it."""
    if kind == "mistral":
        return settings.get("sliding_window", 4096), 0
    if kind == "llama" or not settings.get("use_sliding_window", False):
        return None, 0
    return settings.get("sliding_window", 4096), min(
        first_of(settings, "max_window_layers", default=28), layers
    )


def _rotary(settings: Settings) -> Rotary:
    """Rotary settings as older and newer configs write them."""
    given = first_of(settings, "rope_parameters", "rope_scaling", default={})
    base = first_of({**settings, **given}, "rope_theta", default=10000.0)
    kind = first_of(given, "rope_type", "type", default="default")
    if kind == "default":
        return Rotary(base=base)
    if kind == "linear":
        return Rotary(base=base, scaling=Linear(factor=given["factor"]))
    if kind == "llama3":
        return Rotary(
            base=base,
            scaling=Llama3(
                factor=given["factor"],
                low=given["low_freq_factor"],
                high=given["high_freq_factor"],
                trained_length=given["original_max_position_embeddings"],
            ),
        )
    raise UnknownModelError(
        f"Rotary positions of type {kind!r} are not known here. Known: default, linear, llama3."
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, Decoder)
    stack, heads = architecture.stack, architecture.stack.layer.heads
    kind = _kind(name)
    settings: dict[str, Any] = {
        "model_type": kind,
        "architectures": [name],
        "hidden_size": stack.width,
        "vocab_size": architecture.input.vocabulary,
        "num_hidden_layers": stack.layers,
        "num_attention_heads": heads.heads,
        "num_key_value_heads": heads.key_value_heads,
        "head_dim": heads.head_width,
        "intermediate_size": stack.layer.feed_forward.width,
        "hidden_act": THEIR_ACTIVATIONS[stack.layer.feed_forward.activation],
        "rms_norm_eps": stack.layer.norm.epsilon,
        "attention_dropout": stack.layer.attention_dropout,
        "tie_word_embeddings": isinstance(architecture.output, Logits) and architecture.output.tied,
        **_their_rotary(stack.positions),
    }
    if kind in ("llama", "qwen3"):
        settings["attention_bias"] = heads.output_bias
    if kind == "llama":
        settings["mlp_bias"] = stack.layer.feed_forward.bias
    if kind == "mistral":
        settings["sliding_window"] = stack.window
    if kind.startswith("qwen") and stack.window is not None:
        settings["use_sliding_window"] = True
        settings["sliding_window"] = stack.window
        settings["max_window_layers"] = stack.window_from
    return settings


def _their_rotary(rotary: object) -> dict[str, Any]:
    assert isinstance(rotary, Rotary)
    scaling = rotary.scaling
    if scaling is None:
        return {"rope_theta": rotary.base}
    if isinstance(scaling, Linear):
        parts: dict[str, Any] = {"rope_type": "linear", "factor": scaling.factor}
    else:
        parts = {
            "rope_type": "llama3",
            "factor": scaling.factor,
            "low_freq_factor": scaling.low,
            "high_freq_factor": scaling.high,
            "original_max_position_embeddings": scaling.trained_length,
        }
    return {"rope_theta": rotary.base, "rope_scaling": parts}


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare model has no prefix."""
    assert isinstance(architecture, Decoder)
    prefix = "model." if name.endswith("ForCausalLM") else ""
    found = [
        Weight("input.words.weight", (f"{prefix}embed_tokens.weight",)),
        Weight("stack.final_norm.weight", (f"{prefix}norm.weight",)),
    ]
    if isinstance(architecture.output, Logits) and not architecture.output.tied:
        found.append(Weight("output.weight", ("lm_head.weight",)))
    for layer in range(architecture.stack.layers):
        found += _block(
            f"stack.blocks.{layer}", f"{prefix}layers.{layer}", architecture.stack.layer
        )
    return found


def _block(ours: str, theirs: str, layer: Layer) -> list[Weight]:
    heads, only = layer.heads, ("weight",)
    rows = heads.heads * heads.head_width
    shared = heads.key_value_heads * heads.head_width
    inputs = ("weight", "bias") if heads.input_bias else only
    output = ("weight", "bias") if heads.output_bias else only
    middle = ("weight", "bias") if layer.feed_forward.bias else only
    width = layer.feed_forward.width
    found = [
        *joined(
            f"{ours}.attention.inputs",
            tuple(f"{theirs}.self_attn.{part}_proj" for part in "qkv"),
            (rows, shared, shared),
            inputs,
        ),
        *same(f"{ours}.attention.output", f"{theirs}.self_attn.o_proj", output),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.input_layernorm", only),
        *joined(
            f"{ours}.feed_forward.inputs",
            (f"{theirs}.mlp.gate_proj", f"{theirs}.mlp.up_proj"),
            (width, width),
            middle,
        ),
        *same(f"{ours}.feed_forward.output", f"{theirs}.mlp.down_proj", middle),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.post_attention_layernorm", only),
    ]
    if heads.norm_epsilon is not None:
        found += same(f"{ours}.attention.query_norm", f"{theirs}.self_attn.q_norm", only)
        found += same(f"{ours}.attention.key_norm", f"{theirs}.self_attn.k_norm", only)
    return found


LLAMA = Family(
    name="llama",
    model_types=tuple(KINDS),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r".*rotary_emb\.inv_freq",),
    copies=(("lm_head.weight", "input.words.weight"),),
)
