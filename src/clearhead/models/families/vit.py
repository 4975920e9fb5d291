"""ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021): a picture's squares as a sentence.

Norm before, learned positions, one special token in front; DeiT has a second that a teacher taught.
"""

from typing import Any

from ...attention import Heads
from ...foundation.errors import CannotError
from ...layers import FeedForward, Labels, Layer, Norm, Patches, Pooled, Taught
from ..build import Architecture
from ..encoder import Encoder
from ..stack import Stack
from .family import (
    THEIR_ACTIVATIONS,
    Family,
    Settings,
    Weight,
    activation,
    first_of,
    joined,
    label_count,
    label_names,
    same,
    want,
)

VIT_CLASSES = ("ViTModel", "ViTForImageClassification")
DEIT_CLASSES = (
    "DeiTModel",
    "DeiTForImageClassification",
    "DeiTForImageClassificationWithTeacher",
)
SPECIALS = {"vit": ("cls_token",), "deit": ("cls_token", "distillation_token")}


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of this family describes."""
    width, heads = want(settings, "hidden_size"), want(settings, "num_attention_heads")
    dropout = settings.get("hidden_dropout_prob", 0.0)
    return Encoder(
        input=Patches(
            picture=_square(settings, "image_size", 224),
            patch=_square(settings, "patch_size", 16),
            channels=settings.get("num_channels", 3),
            specials=len(SPECIALS[_kind(name)]),
            dropout=dropout,
        ),
        stack=Stack(
            width=width,
            layers=want(settings, "num_hidden_layers"),
            layer=Layer(
                heads=Heads(
                    heads=heads,
                    key_value_heads=heads,
                    head_width=width // heads,
                    input_bias=settings.get("qkv_bias", True),
                ),
                feed_forward=FeedForward(
                    width=want(settings, "intermediate_size"),
                    activation=activation(settings.get("hidden_act", "gelu")),
                ),
                norm=Norm(epsilon=settings.get("layer_norm_eps", 1e-12)),
                norm_place="before",
                dropout=dropout,
                attention_dropout=settings.get("attention_probs_dropout_prob", 0.0),
            ),
            final_norm=True,
        ),
        output=_output(settings, name),
    )


def _kind(name: str) -> str:
    return "deit" if name.startswith("DeiT") else "vit"


def _square(settings: Settings, key: str, default: int) -> int:
    """A height and width, which newer configs may give one by one."""
    given = first_of(settings, key, default=default)
    both = set(given if isinstance(given, list | tuple) else [given])
    if len(both) != 1:
        raise CannotError(
            f"The config sets {key} to {given}, and only squares are known here: height and width "
            "must be the same. Use the library it was published with."
        )
    return int(both.pop())


def _output(settings: Settings, name: str) -> Pooled | Labels | Taught:
    if name.endswith("WithTeacher"):
        return Taught(count=label_count(settings))
    if name.endswith("ForImageClassification"):
        return Labels(count=label_count(settings))
    return Pooled(activation=activation(settings.get("pooler_act", "tanh")))


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Patches)
    stack, patches, output = architecture.stack, architecture.input, architecture.output
    settings: dict[str, Any] = {
        "model_type": _kind(name),
        "architectures": [name],
        "image_size": patches.picture,
        "patch_size": patches.patch,
        "num_channels": patches.channels,
        "hidden_size": stack.width,
        "num_hidden_layers": stack.layers,
        "num_attention_heads": stack.layer.heads.heads,
        "intermediate_size": stack.layer.feed_forward.width,
        "hidden_act": THEIR_ACTIVATIONS[stack.layer.feed_forward.activation],
        "layer_norm_eps": stack.layer.norm.epsilon,
        "qkv_bias": stack.layer.heads.input_bias,
        "hidden_dropout_prob": stack.layer.dropout,
        "attention_probs_dropout_prob": stack.layer.attention_dropout,
    }
    if isinstance(output, Labels | Taught):
        settings["id2label"] = label_names(output.count)
    if isinstance(output, Pooled):
        settings["pooler_act"] = THEIR_ACTIVATIONS[output.activation]
    return settings


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare model has no prefix."""
    assert isinstance(architecture, Encoder)
    prefix = "" if name.endswith("Model") else f"{_kind(name)}."
    specials = tuple(f"{prefix}embeddings.{token}" for token in SPECIALS[_kind(name)])
    found = [
        Weight("input.specials", specials, (1,) * len(specials), axis=1),
        Weight("input.positions", (f"{prefix}embeddings.position_embeddings",)),
        *same("input.squares", f"{prefix}embeddings.patch_embeddings.projection"),
        *same("stack.final_norm", f"{prefix}layernorm"),
    ]
    for layer in range(architecture.stack.layers):
        theirs = f"{prefix}encoder.layer.{layer}"
        found += _block(f"stack.blocks.{layer}", theirs, architecture.stack)
    return found + OUTPUTS[name.removeprefix("ViT").removeprefix("DeiT")]


def _block(ours: str, theirs: str, stack: Stack) -> list[Weight]:
    parts = tuple(f"{theirs}.attention.attention.{part}" for part in ("query", "key", "value"))
    kinds = ("weight", "bias") if stack.layer.heads.input_bias else ("weight",)
    return [
        *joined(f"{ours}.attention.inputs", parts, (stack.width,) * 3, kinds),
        *same(f"{ours}.attention.output", f"{theirs}.attention.output.dense"),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.layernorm_before"),
        *same(f"{ours}.feed_forward.inputs", f"{theirs}.intermediate.dense"),
        *same(f"{ours}.feed_forward.output", f"{theirs}.output.dense"),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.layernorm_after"),
    ]


OUTPUTS = {
    "Model": same("output.through", "pooler.dense"),
    "ForImageClassification": same("output.scores", "classifier"),
    "ForImageClassificationWithTeacher": [
        *same("output.scores", "cls_classifier"),
        *same("output.taught_scores", "distillation_classifier"),
    ],
}

VIT = Family(
    name="vit",
    model_types=("vit",),
    architectures=VIT_CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r"vit\.pooler\..*",),
)
DEIT = Family(
    name="deit",
    model_types=("deit",),
    architectures=DEIT_CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r"deit\.pooler\..*",),
)
