"""Hugging Face folders in and out: nothing is lost, and older forms open."""

import json
import re
import shutil

import pytest
import torch
import transformers
from published import PUBLISHED, ours_says, text, theirs_says
from safetensors.torch import load_file, save_file

from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.models.families import family_for

# Tables nobody uses, which `transformers` writes or works out anew.
UNUSED = re.compile(r"(model\.)?shared\.weight")


def case_of(name: str):
    return next(case for case in PUBLISHED if str(case) == name)


def inputs_of(case) -> list[torch.Tensor]:
    return [text(1, 2, 7), text(2, 2, 5)][: 1 + case.reads_two]


def named(case, ids: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    return dict(zip(("input_ids", "decoder_input_ids"), ids, strict=False))


def same(case, ours, theirs) -> None:
    """Bit for bit."""
    ids = inputs_of(case)
    one, two = ours_says(ours.network, *ids), ours_says(theirs.network, *ids)
    assert torch.equal(one.hidden, two.hidden)
    assert (one.scores is None) == (two.scores is None)
    assert one.scores is None or torch.equal(one.scores, two.scores)


@pytest.fixture
def folder(opened, tmp_path):
    """Return a function that copies a model's folder, its config and weights changed on the way."""

    def changed(case, config=dict, weights=dict):
        source = opened(case).folder
        settings = config(json.loads((source / "config.json").read_text()))
        (tmp_path / "config.json").write_text(json.dumps(settings))
        tensors = weights(load_file(source / "model.safetensors"))
        save_file(
            {name: each.clone() for name, each in tensors.items()}, tmp_path / "model.safetensors"
        )
        return tmp_path

    return changed


@pytest.mark.parametrize("case", PUBLISHED, ids=str)
def test_there_and_back_no_bit_is_lost(opened, case, tmp_path):
    models = opened(case)
    write_folder(models.ours, tmp_path)
    again = type(models.theirs).from_pretrained(tmp_path).eval()
    before, after = models.theirs.state_dict(), again.state_dict()
    assert before.keys() == after.keys()
    differ = [name for name in before if not torch.equal(before[name], after[name])]
    untied = not models.theirs.config.tie_word_embeddings
    assert [name for name in differ if not (untied and UNUSED.fullmatch(name))] == []
    ids = named(case, inputs_of(case))
    one, two = theirs_says(models.theirs, **ids), theirs_says(again, **ids)
    assert torch.equal(one.hidden, two.hidden)
    assert one.scores is None or torch.equal(one.scores, two.scores)


@pytest.mark.parametrize("case", PUBLISHED, ids=str)
def test_there_and_back_no_setting_is_lost(opened, case, tmp_path):
    models = opened(case)
    write_folder(models.ours, tmp_path)
    again = type(models.theirs.config).from_pretrained(tmp_path).to_dict()
    before = models.theirs.config.to_dict()
    of_the_file = {"dtype", "transformers_version", "_name_or_path"}
    lost = {key for key in before if before[key] != again.get(key)} - of_the_file
    # The same in other words: an activation's other name, a width that was left to be derived.
    assert lost - {"activation_function", "n_inner"} == set()
    assert again.get("activation_function") in (before.get("activation_function"), "silu")


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("BertForSequenceClassification", {}),
        ("DistilBertForSequenceClassification", {}),
        ("ElectraForSequenceClassification", {}),
        ("RobertaForSequenceClassification", {}),
        ("GPT2LMHeadModel", {}),
        ("LlamaForCausalLM", {}),
        ("MarianMTModel", {"middle": 0.24}),
        ("BartForConditionalGeneration", {"middle": 0.24}),
        ("T5ForConditionalGeneration", {"attention": 0.21, "middle": 0.21}),
    ],
)
def test_each_kind_of_dropout_lands_where_it_belongs(opened, name, own):
    architecture = opened(case_of(name)).ours.architecture
    layer = (architecture.decoder if own else architecture).stack.layer
    assert layer.attention_dropout == own.get("attention", 0.22)
    assert layer.dropout == (0.0 if "Llama" in name else 0.21)
    assert layer.middle_dropout == own.get("middle", 0.0)
    given = (architecture.decoder if own else architecture).input.dropout
    assert given == {"GPT2LMHeadModel": 0.23, "LlamaForCausalLM": 0.0}.get(name, 0.21)
    if name.endswith("ForSequenceClassification"):
        assert architecture.output.dropout == 0.23


def test_names_of_labels_and_special_ids_are_kept(folder, tmp_path_factory):
    names = {"0": "bad", "1": "so-so", "2": "good"}
    kept = {"id2label": names, "pad_token_id": 3, "task_specific_params": {"x": 1}}
    parts = read_folder(
        folder(case_of("BertForSequenceClassification"), lambda config: {**config, **kept})
    )
    target = tmp_path_factory.mktemp("written")
    write_folder(parts, target)
    written = json.loads((target / "config.json").read_text())
    assert {key: written[key] for key in kept} == kept


@pytest.mark.parametrize("name", ["BertForMaskedLM", "LlamaForCausalLM", "MarianMTModel"])
def test_a_folder_in_shards_opens(opened, name, tmp_path):
    models = opened(case_of(name))
    models.theirs.save_pretrained(tmp_path, max_shard_size="8KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    same(case_of(name), models.ours, read_folder(tmp_path))


@pytest.mark.parametrize("name", ["GPT2LMHeadModel", "BartForConditionalGeneration"])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_folder_of_torch_files_opens(opened, name, shards, tmp_path):
    models = opened(case_of(name))
    weights = models.theirs.state_dict()
    shutil.copy(models.folder / "config.json", tmp_path)
    places = {key: f"part-{number % shards}.bin" for number, key in enumerate(weights)}
    for place in set(places.values()):
        part = {key: each for key, each in weights.items() if places[key] == place}
        torch.save(part, tmp_path / (place if shards > 1 else "pytorch_model.bin"))
    if shards > 1:
        index = tmp_path / "pytorch_model.bin.index.json"
        index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    same(case_of(name), models.ours, read_folder(tmp_path))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("bert", "BertModel"),
        ("roberta", "RobertaModel"),
        ("xlm-roberta", "XLMRobertaModel"),
        ("electra", "ElectraModel"),
        ("distilbert", "DistilBertModel"),
        ("gpt2", "GPT2LMHeadModel"),
        ("llama", "LlamaForCausalLM"),
        ("mistral", "MistralForCausalLM"),
        ("qwen2", "Qwen2ForCausalLM"),
        ("qwen3", "Qwen3ForCausalLM"),
        ("marian", "MarianMTModel"),
        ("bart", "BartForConditionalGeneration"),
        ("t5", "T5ForConditionalGeneration"),
    ],
)
def test_a_config_that_names_no_class_means_the_usual_one(folder, opened, kind, name):
    assert family_for({"model_type": kind})[1] == name
    case = case_of(name)
    bare = folder(case, lambda config: {**config, "architectures": None})
    same(case, opened(case).ours, read_folder(bare))


# Numbers a config may leave out; every other one is a size, which it must say.
OPTIONAL = {
    "n_inner",
    "num_decoder_layers",
    "num_labels",
    "pad_token_id",
    "relative_attention_max_distance",
    "relative_attention_num_buckets",
    "sliding_window",
    "type_vocab_size",
}


@pytest.mark.parametrize("case", [case for case in PUBLISHED if not case.note], ids=str)
def test_what_a_config_leaves_out_is_what_they_take(case):
    numbers = {key for key, value in case.settings.items() if type(value) is int}
    sizes = {key: case.settings[key] for key in numbers - OPTIONAL}
    full = getattr(transformers, case.config)(**sizes).to_dict() | {"architectures": [case.model]}
    family, name = family_for(full)
    bare = {key: full[key] for key in (*sizes, "architectures", "model_type")}
    assert family.read(bare, name) == family.read(full, name)


def without_prefix(prefix, *heads):
    return lambda weights: {
        name if name.startswith(heads) else name.removeprefix(prefix): each
        for name, each in weights.items()
    }


def with_more(**more):
    """Weights that older folders store besides; a text is the name of the one it is a copy of."""

    def add(weights):
        copies = {
            name: weights[each] if isinstance(each, str) else each for name, each in more.items()
        }
        return {**weights, **{name.replace("__", "."): each for name, each in copies.items()}}

    return add


def old_norms(weights):
    new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    return {
        re.sub("|".join(new), lambda found: new[found[0]], name): each
        for name, each in weights.items()
    }


NOTHING = torch.zeros(3, 3)
OLDER = [
    ("GPT2LMHeadModel", without_prefix("transformer.")),
    ("GPT2LMHeadModel", with_more(transformer__h__0__attn__bias=NOTHING)),
    ("GPT2LMHeadModel", with_more(lm_head__weight="transformer.wte.weight")),
    ("BertForMaskedLM", old_norms),
    ("BertForMaskedLM", with_more(cls__seq_relationship__weight=NOTHING)),
    ("BertForMaskedLM", with_more(bert__pooler__dense__weight=NOTHING)),
    ("BertForMaskedLM", with_more(bert__embeddings__position_ids=NOTHING)),
    (
        "BertForMaskedLM",
        with_more(cls__predictions__decoder__weight="bert.embeddings.word_embeddings.weight"),
    ),
    ("BertModel", lambda weights: {f"bert.{name}": each for name, each in weights.items()}),
    ("BertModel", with_more(cls__predictions__bias=NOTHING)),
    ("RobertaForMaskedLM", with_more(roberta__pooler__dense__weight=NOTHING)),
    ("RobertaForMaskedLM", with_more(lm_head__decoder__bias="lm_head.bias")),
    ("DistilBertForMaskedLM", with_more(distilbert__embeddings__position_ids=NOTHING)),
    (
        "ElectraForMaskedLM",
        with_more(generator_lm_head__weight="electra.embeddings.word_embeddings.weight"),
    ),
    ("LlamaForCausalLM", with_more(model__layers__0__self_attn__rotary_emb__inv_freq=NOTHING)),
    ("MarianMTModel", with_more(model__encoder__embed_positions__weight=NOTHING)),
    ("MarianMTModel", with_more(model__decoder__embed_tokens__weight="model.shared.weight")),
    ("MarianMTModel", with_more(lm_head__weight="model.shared.weight")),
    ("BartForConditionalGeneration", with_more(model__encoder__version=NOTHING)),
    ("BartModel", with_more(encoder__embed_tokens__weight="shared.weight")),
    ("T5ForConditionalGeneration", with_more(encoder__embed_tokens__weight="shared.weight")),
    ("T5EncoderModel", with_more(encoder__embed_tokens__weight="shared.weight")),
    (
        "T5ForConditionalGeneration",
        with_more(
            decoder__block__0__layer__1__EncDecAttention__relative_attention_bias__weight=NOTHING
        ),
    ),
]


@pytest.mark.parametrize(
    ("name", "weights"), OLDER, ids=[f"{name} {number}" for number, (name, _) in enumerate(OLDER)]
)
def test_older_folders_open(folder, opened, name, weights):
    case = case_of(name)
    same(case, opened(case).ours, read_folder(folder(case, weights=weights)))


def test_tables_that_stand_in_for_each_other_are_trained_apart(opened):
    network = opened(case_of("T5ForConditionalGeneration 1.1 with tied scores")).ours.network
    scores, words = network.decoder.output.weight, network.decoder.input.words.weight
    assert torch.equal(scores, words)
    assert scores.data_ptr() != words.data_ptr()
