"""ELECTRA (Clark et al. 2020): BERT that judges of every word whether it was replaced.

Its embeddings may be narrower than its blocks.
"""

from typing import Any

from ...attention.positions import Learned
from ...layers import Labels, Masked, Words
from ..build import Architecture
from ..encoder import Encoder
from .bert import inner_weights, labels, norm, refuse_what_is_unknown, stack, their_settings, words
from .family import Family, Settings, Weight, activation, first_of, same, want

CLASSES = (
    "ElectraModel",
    "ElectraForPreTraining",
    "ElectraForMaskedLM",
    "ElectraForSequenceClassification",
)


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of ELECTRA's describes."""
    refuse_what_is_unknown(settings, name)
    width = first_of(settings, "embedding_size", "hidden_size", default=128)
    given = words(settings, width, Learned(length=want(settings, "max_position_embeddings")))
    bend = activation(settings.get("hidden_act", "gelu"))
    outputs: dict[str, Masked | Labels] = {
        "ElectraForPreTraining": Labels(count=1, through=bend, each=True),
        "ElectraForMaskedLM": Masked(
            vocabulary=given.vocabulary, width=width, activation="gelu", norm=norm(settings)
        ),
        "ElectraForSequenceClassification": labels(settings, "gelu"),
    }
    return Encoder(input=given, stack=stack(settings), output=outputs.get(name))


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    settings = their_settings(architecture, name)
    if name == "ElectraForPreTraining":
        del settings["id2label"], settings["classifier_dropout"]
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    return {**settings, "model_type": "electra", "embedding_size": architecture.input.width}


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare ElectraModel has no prefix."""
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    prefix = "" if name == "ElectraModel" else "electra."
    found = inner_weights(architecture, prefix)
    if architecture.input.width != architecture.stack.width:
        found += same("input.project", f"{prefix}embeddings_project")
    return found + OUTPUTS[name]


OUTPUTS = {
    "ElectraModel": [],
    "ElectraForPreTraining": [
        *same("output.through", "discriminator_predictions.dense"),
        *same("output.scores", "discriminator_predictions.dense_prediction"),
    ],
    "ElectraForMaskedLM": [
        *same("output.through", "generator_predictions.dense"),
        *same("output.norm", "generator_predictions.LayerNorm"),
        Weight("output.bias", ("generator_lm_head.bias",)),
    ],
    "ElectraForSequenceClassification": [
        *same("output.through", "classifier.dense"),
        *same("output.scores", "classifier.out_proj"),
    ],
}

ELECTRA = Family(
    name="electra",
    model_types=("electra",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r".*position_ids",),
    copies=(("generator_lm_head.weight", "input.words.weight"),),
)
