"""`clearhead train`, `new` and `score`, as people type them."""

import json
import signal

import pytest
import short_run
from typed import refused, typed

from clearhead.config import from_toml, read, to_toml
from clearhead.training import Run, learner


@pytest.fixture
def settings(tmp_path):
    short_run.write(tmp_path)
    path = tmp_path / "run.toml"
    path.write_text(to_toml(short_run.settings(tmp_path, 10)), encoding="utf-8")
    return path


def test_a_run_is_trained_and_goes_on_and_is_scored(capsys, settings, tmp_path):
    answer = typed(capsys, "train", settings)
    assert answer.code == 0
    model = tmp_path / "run" / "model"
    assert f"→ {model}" in answer.err.replace("\n", "")
    assert "loss" in answer.err
    assert typed(capsys, "train", settings, "train.steps=14").code == 0
    assert (tmp_path / "run" / "checkpoints" / "000014").is_dir()
    told = typed(capsys, "score", model, tmp_path / "valid.tsv", "--json", "--device", "cpu")
    numbers = json.loads(told.out)
    assert 0 <= numbers["exact_match"] <= 1
    assert "version:" in numbers["signatures"]["bleu"]
    told = typed(capsys, "score", model, tmp_path / "valid.tsv", "--device", "cpu")
    assert [line.split()[0] for line in told.out.splitlines()] == ["bleu", "chrf", "exact_match"]
    assert typed(capsys, "translate", model, "one two", "--device", "cpu").code == 0
    blank = refused(typed(capsys, "translate", model, "  ", "--device", "cpu"))
    assert "has no tokens, so there is nothing to translate" in blank


def test_new_settings_are_commented_and_are_a_run(capsys):
    told = typed(capsys, "new", "translation")
    assert "# the one dial" in told.out
    run = from_toml(Run, told.out)
    assert run.data.train.files == ("train.en", "train.de")


def test_settings_are_written_beside_what_was_learned(capsys, settings, tmp_path):
    typed(capsys, "train", settings, "train.rate=0.001")
    assert read(Run, tmp_path / "run" / "settings.toml").train.rate == 0.001


def test_what_cannot_be_trained_is_said_in_a_sentence(capsys, settings, tmp_path):
    def told(*words):
        return refused(typed(capsys, *words))

    assert told("train").startswith("0 settings files were given where one was wanted")
    assert "Did you mean 'dates'" in told("train", "--recipe", "date")
    assert "either is a whole run" in told("train", settings, "--recipe", "dates")
    assert "has no 'step'. Did you mean 'steps'" in told("train", settings, "train.step=3")
    assert "no file" in told("train", settings, 'data.train.files=["nothing.tsv"]')
    assert "There is no device 'gpu'" in told("train", settings, "device=gpu")
    assert "no train.en. This recipe downloads nothing" in told(
        "train", "--recipe", "multi30k", f"folder={tmp_path}"
    )
    assert "cannot be read" in told("train", tmp_path / "other.toml")
    assert "There is no task 'translations'. Did you mean" in told("new", "translations")
    assert "is no file" in told("score", settings, tmp_path / "nothing.tsv")


def test_fewer_steps_than_were_made_are_refused(capsys, settings):
    typed(capsys, "train", settings)
    answer = typed(capsys, "train", settings, "train.steps=5")
    assert answer.code == 2
    assert "is at step 10, beyond train.steps = 5" in answer.err.replace("\n", " ")


def test_a_run_that_was_asked_to_end_says_that_it_is_not_done(capsys, settings, monkeypatch):
    really = learner.Learner.advance

    def asked(self):
        if self.step == 4:
            signal.raise_signal(signal.SIGTERM)
        return really(self)

    monkeypatch.setattr(learner.Learner, "advance", asked)
    answer = typed(capsys, "train", settings)
    assert answer.code == 130
    assert "ended at step 5 of 10: the same command goes on" in answer.err
    monkeypatch.undo()
    again = typed(capsys, "train", settings)
    assert again.code == 0
    assert "goes on behind step 5" in again.err


def test_settings_in_the_run_s_own_folder_are_left_alone(capsys, settings, tmp_path):
    own = tmp_path / "run" / "run.toml"
    own.parent.mkdir()
    own.write_text("# mine\n" + settings.read_text())
    assert typed(capsys, "train", own, "train.rate=0.002").code == 0
    assert own.read_text().startswith("# mine\n")
    assert "0.002" not in own.read_text()
