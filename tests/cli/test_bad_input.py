"""Bad input: one sentence, exit code 2, and a traceback only where it was asked for."""

import json
import re

import pytest
import ready
from doors import unchecked
from published import Published
from typed import refused, started, typed

from clearhead.cli.main import without_debug
from clearhead.foundation.errors import FileError

BERT = Published(
    "BertModel",
    "BertConfig",
    {
        "vocab_size": 13,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "intermediate_size": 8,
    },
)


def without_config(folder):
    (folder / "model.safetensors").write_bytes(b"")
    return r"is a folder without clearhead\.toml or config\.json \(it holds model\.safe.*\. Give"


def cut_short(folder):
    ready.model(ready.ENCODER).save(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    return r"model\.safetensors cannot be read .* cut short or damaged .* Copy it again\."


def cut_short_at_theirs(folder):
    BERT.draw().save_pretrained(folder)
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    return r"model\.safetensors cannot be read .* cut short or damaged .* Copy it again\."


def without_weights(folder):
    (folder / "config.json").write_text(json.dumps(BERT.draw().config.to_dict()))
    return r"has no weights: model\.safetensors .* was wanted\. Copy"


def unknown(folder):
    settings = {"model_type": "bort", "architectures": ["BortModel"]}
    (folder / "config.json").write_text(json.dumps(settings))
    return (
        r"The architecture 'BortModel' is not one we know\. Did you mean 'BertModel'\? "
        r"Known: .*BertModel, .*GPT2LMHeadModel, .*LlamaForCausalLM, .*MarianMTModel, "
        r".*T5ForConditionalGeneration"
    )


def not_json(folder):
    (folder / "config.json").write_text("{")
    return r"config\.json is not JSON .* damaged\. Copy it again\."


def heads_that_do_not_divide(folder):
    ready.model(ready.ENCODER).save(folder)
    path = folder / "clearhead.toml"
    path.write_text(path.read_text().replace("key_value_heads = 4", "key_value_heads = 3"))
    return r"4 query heads cannot be shared out over 3 key/value heads: .* Try 1 or 2 or 4"


FAULTS = [
    without_config,
    cut_short,
    cut_short_at_theirs,
    without_weights,
    unknown,
    not_json,
    heads_that_do_not_divide,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.replace("_", " "))
def test_a_model_that_cannot_be_opened_is_answered_with_one_sentence(capsys, tmp_path, fault):
    wanted = fault(tmp_path)
    told = refused(typed(capsys, "info", tmp_path))
    assert re.search(wanted, told), told


def test_a_model_that_is_not_there(capsys):
    told = refused(typed(capsys, "info", "smolm2"))
    assert told.startswith("There is no file or folder 'smolm2'")
    assert "Did you mean 'smollm2'?" in told


def test_a_device_that_is_not_there(capsys, tmp_path):
    ready.model(ready.DECODER).save(tmp_path)
    told = refused(typed(capsys, "generate", tmp_path, "the", "--device", "tpu"))
    assert told.startswith("There is no device 'tpu'.")


def test_what_cannot_be_explained_is_refused_before_anything_is_told(capsys):
    answer = typed(capsys, "explain", "--layer", "3")
    assert refused(answer).startswith("A built-in example has no layer")
    assert answer.out == ""


def test_debug_shows_where_an_error_came_from(capsys):
    for words in (("--debug", "info", "nowhere"), ("info", "nowhere", "--debug")):
        with unchecked(), pytest.raises(FileError, match="no file or folder 'nowhere'"):
            typed(capsys, *words)


def test_debug_may_stand_anywhere_but_in_the_text():
    assert without_debug(["info", "x"]) == (["info", "x"], False)
    assert without_debug(["--debug", "info", "x"]) == (["info", "x"], True)
    assert without_debug(["info", "--debug", "x"]) == (["info", "x"], True)
    assert without_debug(["info", "x", "--debug"]) == (["info", "x"], True)
    assert without_debug(["generate", "x", "--", "--debug"]) == (
        ["generate", "x", "--", "--debug"],
        False,
    )


def test_an_unknown_verb_is_refused_with_the_way_to_help(capsys):
    answer = typed(capsys, "imfo")
    assert answer.code == 2
    assert "imfo" in answer.err


def test_without_a_verb_the_verbs_are_listed(capsys):
    answer = typed(capsys)
    assert all(verb in answer.out + answer.err for verb in ("info", "convert", "generate"))


def test_the_version_is_told(capsys):
    answer = typed(capsys, "--version")
    assert (answer.code, answer.out) == (0, "clearhead 0.1.0\n")


def test_the_real_command_ends_with_one_sentence_and_code_two(tmp_path):
    told = refused(started("info", tmp_path))
    assert told.startswith(f"{tmp_path} is a folder without clearhead.toml or config.json.")


def test_the_real_command_shows_a_traceback_when_asked(tmp_path):
    answer = started("info", tmp_path, "--debug")
    assert answer.code != 0
    assert "Traceback" in answer.err
    assert "FileError" in answer.err
