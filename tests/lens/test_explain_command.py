"""`clearhead explain`: from what is typed to what is told, on the screen, as JSON, in a file."""

import json
import os
import subprocess
import sys

import pytest
import typer
from project import PACKAGE
from typer.testing import CliRunner

import clearhead.tasks
from clearhead import explain
from clearhead.cli.explain import explain as command
from clearhead.cli.terminal import spoken
from clearhead.foundation.errors import ClearheadError, ConfigError, FileError, InputError
from clearhead.lens import EXAMPLES
from clearhead.lens.explanation import STEPS
from clearhead.traces import open_trace

APP = typer.Typer()
APP.command()(command)


def told(*words, language="en"):
    ran = CliRunner().invoke(APP, [*words, "--language", language], catch_exceptions=False)
    assert ran.exit_code == 0
    return ran.stdout


def refused(kind, message, *words):
    with pytest.raises(kind, match=message):
        CliRunner().invoke(APP, list(words), catch_exceptions=False)


@pytest.mark.parametrize("name", EXAMPLES)
def test_json_holds_the_thirteen_steps_of_every_example(name):
    steps = json.loads(told("--example", name, "--json"))["steps"]
    assert tuple(step["name"] for step in steps[:13]) == STEPS
    assert all(set(step) == {"name", "value", "note"} for step in steps)
    assert steps[9]["value"] == explain(name)["weights"].values.tolist()


def test_without_arguments_there_is_a_menu_and_the_first_example():
    said = told()
    for name in EXAMPLES:
        assert f"--example {name}" in said
    assert "Attention, step by step · look-up" in said
    assert "注意力，一步一步看 · look-up" in told(language="zh")
    assert "clearhead explain" not in told("--json")
    assert "clearhead explain" not in told("--example", "look-up")


def test_a_file_is_told_and_saved_and_told_again_from_the_saved_trace(tmp_path):
    mine, saved = tmp_path / "mine.toml", tmp_path / "mine.trace"
    mine.write_text(
        "embeddings = [[1, 0], [0, 1]]\nW_q = [[1], [2]]\nW_k = [[1], [2]]\nW_v = [[1], [2]]\n",
        encoding="utf-8",
    )
    first = told("--file", str(mine), "--query", "1", "--save", str(saved))
    assert "mine.toml" in first
    assert told("--file", str(saved)) == first
    assert open_trace(saved).about["query"] == 1


def test_a_model_is_loaded_by_name_and_its_title_is_that_name(monkeypatch):
    asked = []

    def load(name):
        asked.append(name)
        return {
            "embeddings": [[1.0]], "W_q": [[1.0]], "W_k": [[1.0]], "W_v": [[1.0]]
        }  # fmt: skip

    monkeypatch.setattr(clearhead.tasks, "load", load)
    refused(ConfigError, "Matrices has no text", "some text", "--model", "tiny")
    assert asked == ["tiny"]


def test_what_does_not_go_together_is_refused():
    refused(ConfigError, "--example and --model are different things", "--example", "look-up",
            "--model", "minilm")  # fmt: skip
    refused(ConfigError, "A text needs a model that reads it", "some text")
    refused(ConfigError, r"no language 'fr' here\. Choose one of: en, zh", "--language", "fr")
    refused(InputError, "no example 'powerfull'", "--example", "powerfull")
    refused(FileError, r"nowhere\.toml cannot be read", "--file", "nowhere.toml")
    refused(FileError, r"no trace file nowhere\.trace", "--file", "nowhere.trace")
    refused(ConfigError, "layer has no effect", "--example", "powerful", "--layer", "1")


def test_a_saved_trace_cannot_be_asked_for_another_head(tmp_path):
    explain("powerful").save(tmp_path / "x.trace")
    for option in ("--head", "--layer", "--query", "--site", "--target"):
        with pytest.raises(ClearheadError, match=f"recorded before, so {option} has no effect"):
            CliRunner().invoke(
                APP, ["--file", str(tmp_path / "x.trace"), option, "1"], catch_exceptions=False
            )


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "C", "LC_ALL": "zh_TW"}, "zh"),
        ({"LANG": "zh_CN", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh_CN"}, "zh"),
    ],
)
def test_the_language_is_the_one_of_the_terminal(environment, language):
    assert spoken(environment) == language


def test_a_saved_trace_is_drawn_without_torch(tmp_path):
    explain("shuffle").save(tmp_path / "x.trace")
    script = (
        "import sys\n"
        "from clearhead.traces import open_trace\n"
        "from clearhead.visuals.terminal import show\n"
        f"show(open_trace({str(tmp_path / 'x.trace')!r}))\n"
        "sys.exit('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    ran = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_terminal_without_some_letters_still_gets_an_answer(language):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "clearhead", "explain", "--language", language]
    for more in ([], ["--example", "powerful", "--json"]):
        ran = subprocess.run(
            [*command, *more], cwd=PACKAGE.parent, env=environment, capture_output=True, check=False
        )
        assert ran.returncode == 0, ran.stderr.decode()
    assert len(json.loads(ran.stdout)["steps"]) == 13
