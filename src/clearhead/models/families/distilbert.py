"""DistilBERT (Sanh et al. 2019): half of BERT's blocks, no segment types, names of its own."""

from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
from ...layers import FeedForward, Labels, Layer, Masked, Norm, Words
from ..build import Architecture
from ..encoder import Encoder
from ..stack import Stack
from .family import (
    THEIR_ACTIVATIONS,
    Family,
    Settings,
    Weight,
    activation,
    joined,
    label_count,
    label_names,
    only,
    same,
    want,
)

CLASSES = ("DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification")
NORM = Norm(epsilon=1e-12)  # no setting


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of DistilBERT's describes."""
    if name == "DistilBertForMaskedLM":
        only(settings, tie_word_embeddings=True)
    width, vocabulary = want(settings, "dim"), want(settings, "vocab_size")
    heads, dropout = want(settings, "n_heads"), settings.get("dropout", 0.1)
    bend = activation(settings.get("activation", "gelu"))
    outputs: dict[str, Masked | Labels] = {
        "DistilBertForMaskedLM": Masked(
            vocabulary=vocabulary, width=width, activation=bend, norm=NORM
        ),
        "DistilBertForSequenceClassification": Labels(
            count=label_count(settings),
            through="relu",
            dropout=settings.get("seq_classif_dropout", 0.2),
        ),
    }
    return Encoder(
        input=Words(
            vocabulary=vocabulary,
            width=width,
            positions=Learned(length=want(settings, "max_position_embeddings")),
            norm=NORM,
            dropout=dropout,
        ),
        stack=Stack(
            width=width,
            layers=want(settings, "n_layers"),
            layer=Layer(
                heads=Heads(heads=heads, key_value_heads=heads, head_width=width // heads),
                feed_forward=FeedForward(width=want(settings, "hidden_dim"), activation=bend),
                norm=NORM,
                norm_place="after",
                dropout=dropout,
                attention_dropout=settings.get("attention_dropout", 0.1),
            ),
        ),
        output=outputs.get(name),
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    assert isinstance(architecture.input.positions, Learned)
    stack, words = architecture.stack, architecture.input
    settings = {
        "model_type": "distilbert",
        "architectures": [name],
        "dim": stack.width,
        "vocab_size": words.vocabulary,
        "max_position_embeddings": architecture.input.positions.length,
        "n_layers": stack.layers,
        "n_heads": stack.layer.heads.heads,
        "hidden_dim": stack.layer.feed_forward.width,
        "activation": THEIR_ACTIVATIONS[stack.layer.feed_forward.activation],
        "dropout": stack.layer.dropout,
        "attention_dropout": stack.layer.attention_dropout,
    }
    if isinstance(architecture.output, Labels):
        settings["id2label"] = label_names(architecture.output.count)
        settings["seq_classif_dropout"] = architecture.output.dropout
    return settings


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare DistilBertModel has no prefix."""
    assert isinstance(architecture, Encoder)
    prefix = "" if name == "DistilBertModel" else "distilbert."
    found = [
        Weight("input.words.weight", (f"{prefix}embeddings.word_embeddings.weight",)),
        Weight("input.positions.weight", (f"{prefix}embeddings.position_embeddings.weight",)),
        *same("input.norm", f"{prefix}embeddings.LayerNorm"),
    ]
    for layer in range(architecture.stack.layers):
        place = f"{prefix}transformer.layer.{layer}"
        found += _block(f"stack.blocks.{layer}", place, architecture.stack.width)
    return found + OUTPUTS[name]


def _block(ours: str, theirs: str, width: int) -> list[Weight]:
    parts = tuple(f"{theirs}.attention.{part}_lin" for part in "qkv")
    return [
        *joined(f"{ours}.attention.inputs", parts, (width, width, width)),
        *same(f"{ours}.attention.output", f"{theirs}.attention.out_lin"),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.sa_layer_norm"),
        *same(f"{ours}.feed_forward.inputs", f"{theirs}.ffn.lin1"),
        *same(f"{ours}.feed_forward.output", f"{theirs}.ffn.lin2"),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.output_layer_norm"),
    ]


OUTPUTS = {
    "DistilBertModel": [],
    "DistilBertForMaskedLM": [
        *same("output.through", "vocab_transform"),
        *same("output.norm", "vocab_layer_norm"),
        Weight("output.bias", ("vocab_projector.bias",)),
    ],
    "DistilBertForSequenceClassification": [
        *same("output.through", "pre_classifier"),
        *same("output.scores", "classifier"),
    ],
}

DISTILBERT = Family(
    name="distilbert",
    model_types=("distilbert",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r".*position_ids",),
    copies=(("vocab_projector.weight", "input.words.weight"),),
)
