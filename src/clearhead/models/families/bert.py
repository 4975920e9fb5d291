"""BERT (Devlin et al. 2019): the paper's encoder, norm after, learned positions, segment types."""

from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
from ...layers import FeedForward, Labels, Layer, Masked, Norm, Pooled, Words
from ..build import Architecture
from ..encoder import Encoder
from ..stack import Stack
from .family import THEIR_ACTIVATIONS, Family, Settings, Weight, activation, joined, same, want

CLASSES = ("BertModel", "BertForMaskedLM", "BertForSequenceClassification")


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of BERT's describes."""
    width, vocabulary = want(settings, "hidden_size"), want(settings, "vocab_size")
    norm = Norm(epsilon=settings.get("layer_norm_eps", 1e-12))
    dropout = settings.get("hidden_dropout_prob", 0.1)
    heads = want(settings, "num_attention_heads")
    bend = activation(settings.get("hidden_act", "gelu"))
    outputs = {
        "BertModel": Pooled(),
        "BertForMaskedLM": Masked(vocabulary=vocabulary, width=width, activation=bend, norm=norm),
        "BertForSequenceClassification": Labels(
            count=len(settings.get("id2label", (0, 1))), through="tanh", dropout=dropout
        ),
    }
    return Encoder(
        input=Words(
            vocabulary=vocabulary,
            width=width,
            positions=Learned(length=want(settings, "max_position_embeddings")),
            types=settings.get("type_vocab_size", 2),
            norm=norm,
            dropout=dropout,
        ),
        stack=Stack(
            width=width,
            layers=want(settings, "num_hidden_layers"),
            layer=Layer(
                heads=Heads(heads=heads, key_value_heads=heads, head_width=width // heads),
                feed_forward=FeedForward(width=want(settings, "intermediate_size"), activation=bend),
                norm=norm,
                norm_place="after",
                dropout=dropout,
                attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
            ),
        ),
        output=outputs[name],
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    assert isinstance(architecture.input.positions, Learned)
    stack, words = architecture.stack, architecture.input
    settings = {
        "model_type": "bert",
        "architectures": [name],
        "hidden_size": stack.width,
        "vocab_size": words.vocabulary,
        "max_position_embeddings": architecture.input.positions.length,
        "type_vocab_size": words.types,
        "num_hidden_layers": stack.layers,
        "num_attention_heads": stack.layer.heads.heads,
        "intermediate_size": stack.layer.feed_forward.width,
        "hidden_act": THEIR_ACTIVATIONS[stack.layer.feed_forward.activation],
        "layer_norm_eps": stack.layer.norm.epsilon,
        "hidden_dropout_prob": stack.layer.dropout,
        "attention_probs_dropout_prob": stack.layer.attention_dropout,
    }
    if isinstance(architecture.output, Labels):
        count = architecture.output.count
        settings["id2label"] = {str(label): f"LABEL_{label}" for label in range(count)}
    return settings


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare BertModel has no prefix."""
    width = architecture.stack.width if isinstance(architecture, Encoder) else 0
    layers = architecture.stack.layers if isinstance(architecture, Encoder) else 0
    prefix = "" if name == "BertModel" else "bert."
    found = [
        Weight("input.words.weight", (f"{prefix}embeddings.word_embeddings.weight",)),
        Weight("input.positions.weight", (f"{prefix}embeddings.position_embeddings.weight",)),
        Weight("input.types.weight", (f"{prefix}embeddings.token_type_embeddings.weight",)),
        *same("input.norm", f"{prefix}embeddings.LayerNorm"),
    ]
    for layer in range(layers):
        found += block(f"stack.blocks.{layer}", f"{prefix}encoder.layer.{layer}", width)
    return found + OUTPUTS[name]


def block(ours: str, theirs: str, width: int) -> list[Weight]:
    """The weights of one block; ELECTRA and RoBERTa name theirs alike."""
    parts = ("query", "key", "value")
    return [
        *joined(
            f"{ours}.attention.inputs",
            tuple(f"{theirs}.attention.self.{part}" for part in parts),
            (width, width, width),
        ),
        *same(f"{ours}.attention.output", f"{theirs}.attention.output.dense"),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.attention.output.LayerNorm"),
        *same(f"{ours}.feed_forward.inputs", f"{theirs}.intermediate.dense"),
        *same(f"{ours}.feed_forward.output", f"{theirs}.output.dense"),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.output.LayerNorm"),
    ]


OUTPUTS = {
    "BertModel": same("output.through", "pooler.dense"),
    "BertForMaskedLM": [
        *same("output.through", "cls.predictions.transform.dense"),
        *same("output.norm", "cls.predictions.transform.LayerNorm"),
        Weight("output.bias", ("cls.predictions.bias",)),
    ],
    "BertForSequenceClassification": [
        *same("output.through", "bert.pooler.dense"),
        *same("output.scores", "classifier"),
    ],
}

BERT = Family(
    name="bert",
    model_types=("bert",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(
        r".*position_ids",
        r"cls\.predictions\.decoder\..*",
        r"cls\.seq_relationship\..*",
    ),
)
