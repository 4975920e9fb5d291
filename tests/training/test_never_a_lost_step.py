"""Ended at any moment, by whatever, a run goes on; its losses are those of one never ended."""

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import short_run
import torch
from project import PACKAGE

from clearhead import load
from clearhead.foundation.errors import CannotError, ConfigError, FileError
from clearhead.training import checkpoint, train
from clearhead.training.journal import entries

STEPS = 60
SCRIPT = Path(short_run.__file__)
KILLS = 20


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def fresh(folder, **changes):
    short_run.write(folder)
    return short_run.settings(folder, STEPS, **changes)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never ended."""
    folder = tmp_path_factory.mktemp("whole")
    train(fresh(folder))
    return folder / "run"


def same(folder, whole):
    """Losses, the last checkpoint and the model, byte for byte."""
    assert entries(folder / "journal.jsonl") == entries(whole / "journal.jsonl")
    for part in (f"checkpoints/{STEPS:06}", "model"):
        names = sorted(file.name for file in (whole / part).iterdir())
        assert sorted(file.name for file in (folder / part).iterdir()) == names
        for name in names:
            made, wanted = ((of / part / name).read_bytes() for of in (folder, whole))
            assert made == wanted, f"{part}/{name}"


def started(folder):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), str(folder), str(STEPS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


def test_two_runs_write_the_same_bytes(whole, tmp_path):
    train(fresh(tmp_path))
    same(tmp_path / "run", whole)


def test_killed_at_any_moment_it_goes_on_to_the_same_bytes(whole, tmp_path):
    """`kill -9` behind some step, at a moment drawn within it; then the very same command."""
    draw, killed = random.Random(1), 0
    while killed < KILLS:
        short_run.write(tmp_path)
        with started(tmp_path) as ran:
            assert ran.stdout is not None
            for _ in range(draw.randrange(3, 16)):
                ran.stdout.readline()
            # Between two lines there is a step, a look, or a checkpoint being written.
            time.sleep(draw.random() * 0.03)
            ran.kill()
        killed += ran.returncode == -signal.SIGKILL
        if ran.returncode == 0:  # it was done before it could be killed: begin another
            same(tmp_path / "run", whole)
            shutil.rmtree(tmp_path / "run")
    train(short_run.settings(tmp_path, STEPS))
    same(tmp_path / "run", whole)


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_saves_first(kind, whole, tmp_path):
    short_run.write(tmp_path)
    with started(tmp_path) as ran:
        assert ran.stdout is not None
        while "step 10" not in (line := ran.stdout.readline()):
            assert line
        ran.send_signal(kind)
        told = ran.stdout.read()
    assert ran.returncode == 0
    last = int(told.split()[-1])
    assert 10 <= last < STEPS
    assert checkpoint.names(tmp_path / "run" / "checkpoints")[-1] == f"{last:06}"
    train(short_run.settings(tmp_path, STEPS))
    same(tmp_path / "run", whole)


def stopped_at(folder, steps, **changes):
    """A run that was ended behind this step."""
    run = fresh(folder, **changes)

    class EnoughError(Exception):
        pass

    def look(note):
        if note.kind == "step" and note.step == steps:
            raise EnoughError

    with pytest.raises(EnoughError):
        train(run, look=look)
    return run


@pytest.mark.parametrize("steps", [1, 6, 8, 26, 53])
def test_an_error_anywhere_loses_nothing(steps, whole, tmp_path):
    run = stopped_at(tmp_path, steps)
    train(run)
    same(tmp_path / "run", whole)


DAMAGE = {
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "one bit": lambda file: file.write_bytes(file.read_bytes()[:-1] + b"\x01"),
    "missing": lambda file: file.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["weights.safetensors", "optimiser.safetensors", "state.json"])
def test_a_damaged_checkpoint_is_passed_over_loudly(name, damage, whole, tmp_path, caplog):
    run = stopped_at(tmp_path, 30)
    folder = tmp_path / "run" / "checkpoints"
    assert checkpoint.names(folder) == ["000021", "000028"]
    DAMAGE[damage](folder / "000028" / name)
    with caplog.at_level(logging.WARNING, "clearhead"):
        train(run)
    assert "000028 is damaged" in caplog.text
    assert name in caplog.text
    same(tmp_path / "run", whole)


def test_where_all_are_damaged_it_does_not_begin_again(tmp_path):
    run = stopped_at(tmp_path, 30)
    for made in (tmp_path / "run" / "checkpoints").iterdir():
        (made / "sums.json").unlink()
    with pytest.raises(FileError, match=r"All 2 checkpoints in .* are damaged, so the run cannot"):
        train(run)


def test_one_half_written_is_no_checkpoint(whole, tmp_path):
    run = stopped_at(tmp_path, 30)
    folder = tmp_path / "run" / "checkpoints"
    shutil.copytree(folder / "000028", folder / "000029.part")
    train(run)
    same(tmp_path / "run", whole)


def test_a_full_disk_leaves_the_checkpoint_before(tmp_path, whole, monkeypatch):
    run = fresh(tmp_path)
    really = checkpoint.save_file

    def full(tensors, path):
        if "000021" in str(path) and path.name == "optimiser.safetensors":
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device", str(path))
        really(tensors, path)

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(OSError, match="No space left on device"):
        train(run)
    monkeypatch.setattr(checkpoint, "save_file", really)
    assert checkpoint.names(tmp_path / "run" / "checkpoints") == ["000007", "000014"]
    train(run)
    same(tmp_path / "run", whole)


def test_another_run_in_the_same_folder_is_refused(tmp_path):
    stopped_at(tmp_path, 10)
    for name, change in {
        "seed": {"seed": 4},
        "model": {"model.width": 32},
        "task": {"task.smoothing": 0.2},
        "train.tokens": {"train.tokens": 100},
    }.items():
        with pytest.raises(ConfigError, match=rf"holds a run with {name} = .* and now it is"):
            train(short_run.settings(tmp_path, STEPS, **change))
    with (tmp_path / "train.tsv").open("a") as file:
        file.write("one two\t12\n")
    with pytest.raises(ConfigError, match=r"holds a run with other files, or other settings"):
        train(short_run.settings(tmp_path, STEPS))


def test_how_long_it_learns_may_change(tmp_path):
    run = fresh(tmp_path, **{"train.steps": 10})
    train(run)
    train(short_run.settings(tmp_path, 20))
    steps = [each["step"] for each in entries(tmp_path / "run" / "journal.jsonl") if "loss" in each]
    assert steps == list(range(1, 21))


def test_another_number_of_threads_is_said(tmp_path, caplog):
    stopped_at(tmp_path, 10)
    torch.set_num_threads(2)
    try:
        with caplog.at_level(logging.WARNING, "clearhead"):
            train(short_run.settings(tmp_path, 12))
    finally:
        torch.set_num_threads(1)
    assert "begun with 1 threads and goes on with 2: its losses will differ" in caplog.text


def test_what_was_learned_is_a_model(whole):
    model = load(str(whole / "model"), device="cpu")
    assert len(model.translate(["one two three"])) == 1
    assert (whole / "settings.toml").is_file()


def test_of_several_checkpoints_the_good_ones_stay(tmp_path, caplog):
    run = stopped_at(tmp_path, 30)
    folder = tmp_path / "run" / "checkpoints"
    (folder / "000028" / "state.json").write_text("null")
    train(short_run.settings(tmp_path, 24, **{"train.keep": 1}))
    assert checkpoint.names(folder) == ["000024"]
    assert checkpoint.flaw_of(folder / "000024") is None
    (folder / "000024" / "sums.json").write_text("null")
    assert checkpoint.flaw_of(folder / "000024") == "sums.json says nothing"
    assert run.train.keep == 2


def test_what_would_end_a_run_later_ends_it_now(tmp_path):
    short_run.write(tmp_path)
    with (tmp_path / "valid.tsv").open("a") as file:
        file.write("one " * 300 + "\t1\n")
    with pytest.raises(ConfigError, match=r"data.valid has 301 tokens and a batch may have 200"):
        train(short_run.settings(tmp_path, STEPS))


def test_a_model_without_checkpoints_is_not_written_over(tmp_path):
    train(fresh(tmp_path, **{"train.steps": 3}))
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    with pytest.raises(ConfigError, match=r"holds a model and no checkpoint to go on from"):
        train(short_run.settings(tmp_path, STEPS))


def test_a_second_run_in_the_same_folder_is_refused_while_the_first_is_there(tmp_path):
    run = fresh(tmp_path, **{"train.steps": 3})

    def look(note):
        if note.kind == "step" and note.step == 2:
            with pytest.raises(CannotError, match=r"Another run is writing into"):
                train(run)

    assert train(run, look=look).finished


def test_weights_beyond_all_numbers_are_said_to_be(tmp_path):
    run = fresh(tmp_path, **{"train.rate": 1e30, "train.valid_every": 3, "train.clip": 0})
    with pytest.raises(CannotError, match=r"have\s+grown beyond all numbers|steps in a row failed"):
        train(run)


def test_other_words_under_the_same_files_are_noticed(tmp_path):
    run = stopped_at(tmp_path, 10)
    (vocabulary,) = (tmp_path / "run" / "data").glob("*/vocabulary/pair.json")
    vocabulary.write_text(vocabulary.read_text() + "\n")
    with pytest.raises(ConfigError, match=r"holds a run with another vocabulary"):
        train(run)


def test_it_learns_inside_no_grad_too(tmp_path):
    with torch.no_grad():
        assert train(fresh(tmp_path, **{"train.steps": 2})).step == 2
