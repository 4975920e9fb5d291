"""A folder that cannot be read is refused with what came, what was wanted and what to do."""

import json
import re

import pytest
import torch
from published import PUBLISHED, text
from safetensors.torch import load_file, save_file

from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.checkpoints.parts import Parts, Provenance
from clearhead.foundation.errors import CannotError, FileError, InputError, UnknownModelError
from clearhead.models.families import FAMILIES, family_for
from clearhead.models.families.family import ACTIVATIONS


@pytest.fixture
def folder(opened, tmp_path):
    """Return a function that copies a model's folder with other settings or other weights."""

    def changed(name, weights=None, **settings):
        source = opened(next(case for case in PUBLISHED if str(case) == name)).folder
        config = json.loads((source / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps({**config, **settings}))
        tensors = load_file(source / "model.safetensors")
        if weights is not None:
            weights(tensors)
        save_file(tensors, tmp_path / "model.safetensors")
        return tmp_path

    return changed


def put(**more):
    return lambda tensors: tensors.update(
        {name.replace("__", "."): torch.ones(shape) for name, shape in more.items()}
    )


def refused(kind, message: str):
    return pytest.raises(kind, match=re.escape(message))


def test_a_missing_weight_is_named(folder):
    place = folder("GPT2LMHeadModel", lambda tensors: tensors.pop("transformer.h.1.ln_1.bias"))
    with refused(
        FileError,
        "The weights have no transformer.h.1.ln_1.bias, which this architecture needs. The config "
        "and the weights do not belong together, or the download is not complete.",
    ):
        read_folder(place)


def test_many_missing_weights_are_counted(folder):
    with refused(FileError, " and 7 more, which this architecture needs."):
        read_folder(folder("GPT2LMHeadModel", n_layer=3))


def test_a_spare_weight_is_named(folder):
    with refused(FileError, "The weights hold transformer.h.7.ln_1.bias, for which this"):
        read_folder(folder("GPT2LMHeadModel", put(transformer__h__7__ln_1__bias=(16,))))


def test_a_weight_of_another_size_is_named(folder):
    with refused(
        FileError,
        "The weight input.positions.weight is (20, 16) and the config asks for (21, 16): config "
        "and weights do not belong together.",
    ):
        read_folder(folder("GPT2LMHeadModel", n_positions=21))


@pytest.mark.parametrize(
    ("name", "copy"),
    [
        ("GPT2LMHeadModel", "lm_head.weight"),
        ("LlamaForCausalLM tied", "lm_head.weight"),
        ("BertForMaskedLM", "cls.predictions.decoder.weight"),
        ("MarianMTModel", "model.decoder.embed_tokens.weight"),
        ("T5ForConditionalGeneration", "lm_head.weight"),
        ("T5EncoderModel", "encoder.embed_tokens.weight"),
    ],
)
def test_a_copy_that_is_none_is_refused(folder, name, copy):
    with refused(
        FileError,
        f"By its config the model has no {copy} of its own but uses the embeddings, and the file "
        "holds another one. Set tie_word_embeddings to false",
    ):
        read_folder(folder(name, put(**{copy.replace(".", "__"): (40, 16)})))


def test_an_unknown_architecture_is_shown_the_known_ones():
    with pytest.raises(UnknownModelError) as caught:
        family_for({"model_type": "gpt2", "architectures": ["GPT2LMHeadModle"]})
    message = str(caught.value)
    assert message.startswith("The architecture 'GPT2LMHeadModle' is not one we know.")
    assert "Did you mean 'GPT2LMHeadModel'?" in message
    assert all(name in message for family in FAMILIES for name in family.architectures)


def test_an_unknown_kind_without_an_architecture_is_named():
    with refused(UnknownModelError, "The architecture 'mamba' is not one we know."):
        family_for({"model_type": "mamba"})


def test_an_unknown_activation_is_shown_the_known_ones(folder):
    with refused(
        UnknownModelError,
        "The activation 'gelu_nwe' is not known here. Did you mean 'gelu_new'? Known: gelu, ",
    ) as caught:
        read_folder(folder("BertModel", hidden_act="gelu_nwe"))
    assert str(caught.value).endswith(f"{', '.join(sorted(ACTIVATIONS))}.")


def test_unknown_rotary_positions_are_shown_the_known_ones(folder):
    with refused(
        UnknownModelError,
        "Rotary positions of type 'yarn' are not known here. Known: default, linear, llama3.",
    ):
        read_folder(folder("LlamaForCausalLM", rope_parameters={"rope_type": "yarn", "factor": 2}))


def test_an_unknown_middle_is_explained(folder):
    with refused(UnknownModelError, "The feed-forward part 'double-gelu' is not known here."):
        read_folder(folder("T5ForConditionalGeneration", feed_forward_proj="double-gelu"))


@pytest.mark.parametrize(
    ("name", "key", "value", "known"),
    [
        ("GPT2Model", "scale_attn_by_inverse_layer_idx", True, False),
        ("GPT2Model", "add_cross_attention", True, False),
        ("BertModel", "is_decoder", True, False),
        ("BertModel", "position_embedding_type", "relative_key", "absolute"),
        ("BertForMaskedLM", "tie_word_embeddings", False, True),
        ("RobertaForMaskedLM", "tie_word_embeddings", False, True),
        ("ElectraForMaskedLM", "tie_word_embeddings", False, True),
        ("DistilBertForMaskedLM", "tie_word_embeddings", False, True),
        ("MarianMTModel", "normalize_before", True, False),
        ("MarianMTModel", "normalize_embedding", True, False),
        ("MarianMTModel", "add_final_layer_norm", True, False),
        ("BartModel", "normalize_before", True, False),
        ("BartModel", "normalize_embedding", False, True),
        ("BartModel", "add_final_layer_norm", True, False),
    ],
)
def test_a_setting_we_cannot_follow_is_refused(folder, name, key, value, known):
    with refused(CannotError, f"The config sets {key} to {value!r}, and a ") as caught:
        read_folder(folder(name, **{key: value}))
    assert f"is only known here with {known!r}" in str(caught.value)
    assert str(caught.value).endswith("Use the library it was published with.")


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "ElectraForPreTraining"])
def test_a_classifier_need_not_be_tied(folder, name):
    read_folder(folder(name, tie_word_embeddings=False))


def test_a_missing_setting_is_named(opened, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "gpt2", "n_embd": 16}')
    with refused(FileError, "The config has no 'vocab_size', which a gpt2 needs. It has: model"):
        read_folder(tmp_path)


def test_code_that_comes_along_is_never_run(tmp_path):
    (tmp_path / "config.json").write_text('{"auto_map": {"AutoModel": "x.Y"}}')
    with refused(CannotError, "brings its own code (auto_map), which is never run here."):
        read_folder(tmp_path)


def test_a_file_that_would_run_code_is_not_opened(folder):
    class Evil:
        def __reduce__(self):
            return print, ("run",)

    place = folder("GPT2LMHeadModel")
    (place / "model.safetensors").unlink()
    torch.save({"x": Evil()}, place / "pytorch_model.bin")
    with refused(FileError, "cannot be opened without running code it brings, or it is damaged"):
        read_folder(place)


def test_a_file_cut_short_is_named(folder):
    weights = folder("GPT2LMHeadModel") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with refused(FileError, "the file is cut short or damaged"):
        read_folder(weights.parent)


def test_a_folder_without_weights_says_which_were_wanted(folder):
    place = folder("GPT2LMHeadModel")
    (place / "model.safetensors").unlink()
    with refused(FileError, "has no weights: model.safetensors (or its index and shards) or"):
        read_folder(place)


def test_a_model_of_our_own_has_no_foreign_form(opened, tmp_path):
    ours = opened(PUBLISHED[0]).ours
    own = Parts(
        network=ours.network,
        architecture=ours.architecture,
        vocabulary=None,
        provenance=Provenance(source="here"),
    )
    with refused(FileError, "so there is no foreign form to write it in. Families: bert,"):
        write_folder(own, tmp_path)


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "BartModel", "MarianMTModel", "RobertaModel"])
def test_a_text_longer_than_the_positions_is_refused(opened, name):
    network = opened(next(case for case in PUBLISHED if str(case) == name)).ours.network
    longest = 18 if name == "RobertaModel" else 20
    fits, ids = text(1, 1, longest), text(1, 1, longest + 1)
    two = name in ("BartModel", "MarianMTModel")
    network(*(fits, fits)[: 1 + two])
    with refused(InputError, f"The sequence reaches position {longest + 1} and this model"):
        network(*(ids, ids)[: 1 + two])


def test_segment_types_are_refused_by_a_model_without_them(opened):
    network = opened(next(case for case in PUBLISHED if case.model == "GPT2Model")).ours.network
    with refused(InputError, "Segment types were given and this model has none"):
        network(text(1, 1, 5), types_BT=torch.zeros(1, 5, dtype=torch.long))
