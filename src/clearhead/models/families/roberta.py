"""RoBERTa (Liu et al. 2019): BERT, trained longer, its positions counted from behind padding's id.

XLM-RoBERTa is the same in a hundred languages.
"""

from typing import Any

from ...attention.positions import Learned
from ...layers import Labels, Masked, Pooled, Words
from ..build import Architecture
from ..encoder import Encoder
from .bert import inner_weights, labels, norm, refuse_what_is_unknown, stack, their_settings, words
from .family import Family, Settings, Weight, first_of, same, want

KINDS = {"roberta": "Roberta", "xlm-roberta": "XLMRoberta"}
FORMS = ("Model", "ForMaskedLM", "ForSequenceClassification")
CLASSES = tuple(f"{kind}{form}" for kind in KINDS.values() for form in FORMS)


def read(settings: Settings, name: str) -> Encoder:
    """What a config.json of RoBERTa's describes."""
    refuse_what_is_unknown(settings, name)
    width, rows = want(settings, "hidden_size"), want(settings, "max_position_embeddings")
    offset = first_of(settings, "pad_token_id", default=1) + 1  # rows that no token uses
    given = words(settings, width, Learned(length=rows - offset, offset=offset))
    outputs: dict[str, Masked | Labels | Pooled] = {
        "Model": Pooled(),
        "ForMaskedLM": Masked(
            vocabulary=given.vocabulary, width=width, activation="gelu", norm=norm(settings)
        ),
        "ForSequenceClassification": labels(settings, "tanh"),
    }
    output = next(output for form, output in outputs.items() if name.endswith(form))
    return Encoder(input=given, stack=stack(settings), output=output)


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    settings = their_settings(architecture, name)
    assert isinstance(architecture, Encoder)
    assert isinstance(architecture.input, Words)
    assert isinstance(architecture.input.positions, Learned)
    positions = architecture.input.positions
    return {
        **settings,
        "model_type": next(kind for kind, start in KINDS.items() if name.startswith(start)),
        "max_position_embeddings": positions.length + positions.offset,
        "pad_token_id": positions.offset - 1,
    }


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare model has no prefix."""
    if name.endswith("ForMaskedLM"):
        output = [
            *same("output.through", "lm_head.dense"),
            *same("output.norm", "lm_head.layer_norm"),
            Weight("output.bias", ("lm_head.bias",)),
        ]
    elif name.endswith("ForSequenceClassification"):
        output = [
            *same("output.through", "classifier.dense"),
            *same("output.scores", "classifier.out_proj"),
        ]
    else:
        return inner_weights(architecture, "") + same("output.through", "pooler.dense")
    return inner_weights(architecture, "roberta.") + output


ROBERTA = Family(
    name="roberta",
    model_types=tuple(KINDS),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r".*position_ids", r"(roberta\.)?pooler\.dense\.(weight|bias)"),
    copies=(
        ("lm_head.decoder.weight", "input.words.weight"),
        ("lm_head.decoder.bias", "output.bias"),
    ),
)
