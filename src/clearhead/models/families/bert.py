"""BERT (Devlin et al. 2019): the paper's encoder, norm after, learned positions, segment types.

RoBERTa and ELECTRA are built and named alike, so their files use most of this.
"""

from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
from ...layers import Activation, FeedForward, Labels, Layer, Masked, Norm, Pooled, Words
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
    only,
    same,
    want,
)

CLASSES = ("BertModel", "BertForMaskedLM", "BertForSequenceClassification")


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of BERT's describes."""
    refuse_what_is_unknown(settings, name)
    width = want(settings, "hidden_size")
    given = words(settings, width, Learned(length=want(settings, "max_position_embeddings")))
    bend = activation(settings.get("hidden_act", "gelu"))
    outputs: dict[str, Masked | Labels | Pooled] = {
        "BertModel": Pooled(),
        "BertForMaskedLM": Masked(
            vocabulary=given.vocabulary, width=width, activation=bend, norm=norm(settings)
        ),
        "BertForSequenceClassification": labels(settings, "tanh"),
    }
    return Encoder(input=given, stack=stack(settings), output=outputs[name])


def refuse_what_is_unknown(settings: Settings, name: str) -> None:
    """Refuse settings of these families that would make another network."""
    only(settings, is_decoder=False, position_embedding_type="absolute")
    if name.endswith("ForMaskedLM"):
        only(settings, tie_word_embeddings=True)


def words(settings: Settings, width: int, positions: Learned) -> Words:
    """The embeddings, `width` wide."""
    return Words(
        vocabulary=want(settings, "vocab_size"),
        width=width,
        positions=positions,
        types=settings.get("type_vocab_size", 2),
        norm=norm(settings),
        dropout=settings.get("hidden_dropout_prob", 0.1),
    )


def norm(settings: Settings) -> Norm:
    """The norm used everywhere."""
    return Norm(epsilon=settings.get("layer_norm_eps", 1e-12))


def stack(settings: Settings) -> Stack:
    """The blocks."""
    width, heads = want(settings, "hidden_size"), want(settings, "num_attention_heads")
    return Stack(
        width=width,
        layers=want(settings, "num_hidden_layers"),
        layer=Layer(
            heads=Heads(heads=heads, key_value_heads=heads, head_width=width // heads),
            feed_forward=FeedForward(
                width=want(settings, "intermediate_size"),
                activation=activation(settings.get("hidden_act", "gelu")),
            ),
            norm=norm(settings),
            norm_place="after",
            dropout=settings.get("hidden_dropout_prob", 0.1),
            attention_dropout=settings.get("attention_probs_dropout_prob", 0.1),
        ),
    )


def labels(settings: Settings, through: Activation) -> Labels:
    """The classifier."""
    return Labels(
        count=label_count(settings),
        through=through,
        dropout=first_of(settings, "classifier_dropout", "hidden_dropout_prob", default=0.1),
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    return {"model_type": "bert", **their_settings(architecture, name)}


def their_settings(architecture: Architecture, name: str) -> dict[str, Any]:
    """The settings these families share."""
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    assert isinstance(architecture.input.positions, Learned)
    stack, words = architecture.stack, architecture.input
    settings = {
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
        settings["id2label"] = label_names(architecture.output.count)
        settings["classifier_dropout"] = architecture.output.dropout
    return settings


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare BertModel has no prefix."""
    prefix = "" if name == "BertModel" else "bert."
    return inner_weights(architecture, prefix) + OUTPUTS[name]


def inner_weights(architecture: Architecture, prefix: str) -> list[Weight]:
    """Names of the weights of embeddings and blocks, alike in these families."""
    assert isinstance(architecture, Encoder)
    found = [
        Weight("input.words.weight", (f"{prefix}embeddings.word_embeddings.weight",)),
        Weight("input.positions.weight", (f"{prefix}embeddings.position_embeddings.weight",)),
        Weight("input.types.weight", (f"{prefix}embeddings.token_type_embeddings.weight",)),
        *same("input.norm", f"{prefix}embeddings.LayerNorm"),
    ]
    for layer in range(architecture.stack.layers):
        place = f"{prefix}encoder.layer.{layer}"
        found += _block(f"stack.blocks.{layer}", place, architecture.stack.width)
    return found


def _block(ours: str, theirs: str, width: int) -> list[Weight]:
    parts = tuple(f"{theirs}.attention.self.{part}" for part in ("query", "key", "value"))
    return [
        *joined(f"{ours}.attention.inputs", parts, (width, width, width)),
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

# TensorFlow's names for the weight and bias of a norm, in the folders of the first years.
OLD_NORMS = ((r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta"))

BERT = Family(
    name="bert",
    model_types=("bert",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(
        r".*position_ids",
        r"(bert\.)?pooler\.dense\.(weight|bias)",
        r"cls\.(seq_relationship|predictions)\..*",
    ),
    copies=(
        ("cls.predictions.decoder.weight", "input.words.weight"),
        ("cls.predictions.decoder.bias", "output.bias"),
    ),
    elsewhere=(*OLD_NORMS, (r"^(?!bert\.|cls\.|classifier\.)", "bert.")),
)
