"""GPT-2 (Radford et al. 2019): a decoder with norm before, learned positions and tied logits."""

from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
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
    only,
    same,
    want,
)

CLASSES = ("GPT2LMHeadModel", "GPT2Model")


def read(settings: Settings, name: str) -> Decoder:
    """What a config.json of GPT-2's describes."""
    only(settings, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    width, vocabulary = want(settings, "n_embd"), want(settings, "vocab_size")
    heads = want(settings, "n_head")
    return Decoder(
        input=Words(
            vocabulary=vocabulary,
            width=width,
            positions=Learned(length=want(settings, "n_positions")),
            dropout=settings.get("embd_pdrop", 0.1),
        ),
        stack=Stack(
            width=width,
            layers=want(settings, "n_layer"),
            layer=Layer(
                heads=Heads(
                    heads=heads,
                    key_value_heads=heads,
                    head_width=width // heads,
                    scale=None if settings.get("scale_attn_weights", True) else 1.0,
                ),
                feed_forward=FeedForward(
                    width=first_of(settings, "n_inner", default=4 * width),
                    activation=activation(settings.get("activation_function", "gelu_new")),
                ),
                norm=Norm(epsilon=settings.get("layer_norm_epsilon", 1e-5)),
                norm_place="before",
                dropout=settings.get("resid_pdrop", 0.1),
                attention_dropout=settings.get("attn_pdrop", 0.1),
            ),
            final_norm=True,
        ),
        output=Logits(vocabulary=vocabulary, tied=settings.get("tie_word_embeddings", True))
        if name == "GPT2LMHeadModel"
        else None,
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, Decoder)
    assert isinstance(architecture.input.positions, Learned)
    words, stack, layer = architecture.input, architecture.stack, architecture.stack.layer
    return {
        "model_type": "gpt2",
        "architectures": [name],
        "n_embd": stack.width,
        "vocab_size": words.vocabulary,
        "n_positions": architecture.input.positions.length,
        "n_layer": stack.layers,
        "n_head": layer.heads.heads,
        "n_inner": layer.feed_forward.width,
        "activation_function": THEIR_ACTIVATIONS[layer.feed_forward.activation],
        "scale_attn_weights": layer.heads.scale is None,
        "layer_norm_epsilon": layer.norm.epsilon,
        "embd_pdrop": words.dropout,
        "resid_pdrop": layer.dropout,
        "attn_pdrop": layer.attention_dropout,
        "tie_word_embeddings": not isinstance(architecture.output, Logits)
        or architecture.output.tied,
    }


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare GPT2Model has no prefix."""
    assert isinstance(architecture, Decoder)
    prefix = "transformer." if name == "GPT2LMHeadModel" else ""
    found = [
        Weight("input.words.weight", (f"{prefix}wte.weight",)),
        Weight("input.positions.weight", (f"{prefix}wpe.weight",)),
        *same("stack.final_norm", f"{prefix}ln_f"),
    ]
    if isinstance(architecture.output, Logits) and not architecture.output.tied:
        found.append(Weight("output.weight", ("lm_head.weight",)))
    for layer in range(architecture.stack.layers):
        found += _block(f"stack.blocks.{layer}", f"{prefix}h.{layer}")
    return found


def _block(ours: str, theirs: str) -> list[Weight]:
    return [
        *_turned(f"{ours}.attention.inputs", f"{theirs}.attn.c_attn"),
        *_turned(f"{ours}.attention.output", f"{theirs}.attn.c_proj"),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.ln_1"),
        *_turned(f"{ours}.feed_forward.inputs", f"{theirs}.mlp.c_fc"),
        *_turned(f"{ours}.feed_forward.output", f"{theirs}.mlp.c_proj"),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.ln_2"),
    ]


def _turned(ours: str, theirs: str) -> list[Weight]:
    """A linear layer as the Conv1D it is to them."""
    return [
        Weight(f"{ours}.weight", (f"{theirs}.weight",), turned=True),
        Weight(f"{ours}.bias", (f"{theirs}.bias",)),
    ]


GPT2 = Family(
    name="gpt2",
    model_types=("gpt2",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r"(transformer\.)?h\.\d+\.attn\.(masked_)?bias",),
    copies=(("lm_head.weight", "input.words.weight"),),
    # The folder everybody has (openai-community/gpt2) names the head and stores the bare model.
    elsewhere=((r"^transformer\.", ""),),
)
