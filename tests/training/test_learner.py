"""One step: gradients added up over batches, steps that fail, what decays, how fast."""

import json
import logging
from math import cos, pi

import numpy as np
import pytest
import short_run
import torch

from clearhead.config import from_toml, to_toml
from clearhead.foundation.errors import CannotError, ConfigError
from clearhead.training import Run, train
from clearhead.training.journal import Journal, entries
from clearhead.training.learner import Learner, examples_of
from clearhead.training.notes import nobody
from clearhead.training.prepare import prepare
from clearhead.training.schedule import Constant, Cosine, InverseRoot


@pytest.fixture
def made(tmp_path):
    def make(**changes):
        short_run.write(tmp_path)
        run = short_run.settings(tmp_path, 30, **changes)
        return Learner(run, prepare(run, nobody))

    return make


def test_batches_of_one_step_add_up_to_one_large_batch(made):
    """Dropout off, so that both see the same network; in float64, so that order does not matter."""
    several = made(**{"model.dropout": 0.0, "train.batches": 3, "task.smoothing": 0.0})
    several.network.double()
    position, numbers = several.position, []
    for _ in range(3):
        found, position = several.batches.at(position)
        numbers.append(found)
    together = examples_of(several.store, np.concatenate(numbers))
    loss = several.loss(together)
    gradients = torch.autograd.grad(loss.total / loss.count, list(several.network.parameters()))
    wanted = torch.nn.utils.get_total_norm(gradients)
    stepped = several.advance()
    assert stepped.tokens == loss.count
    assert abs(stepped.loss - float(loss.total.detach()) / loss.count) < 1e-9
    assert abs(stepped.norm - float(wanted)) < 1e-9


def test_a_step_is_that_of_adamw_by_hand(made):
    learner = made(**{"train.clip": 0.5, "train.decay": 0.1, "model.dropout": 0.0})
    network = learner.network.double()
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    numbers, _ = learner.batches.at(learner.position)
    loss = learner.loss(examples_of(learner.store, numbers))
    names, parameters = zip(*network.named_parameters(), strict=True)
    gradients = torch.autograd.grad(loss.total / loss.count, parameters)
    norm = torch.stack([g.norm() for g in gradients]).norm()
    shrunk = min(1.0, 0.5 / (float(norm) + 1e-6))
    stepped = learner.advance()
    rate = stepped.rate
    assert abs(rate - 5e-3 / 20) < 1e-12
    for name, gradient, after in zip(names, gradients, parameters, strict=True):
        clipped = gradient * shrunk
        # The first step of Adam: both moments stand corrected, so it is g / (|g| + epsilon).
        wanted = before[name] * (1 - rate * (0.1 if after.dim() > 1 else 0.0))
        wanted = wanted - rate * clipped / (clipped.abs() + 1e-8)
        assert (after.detach() - wanted).abs().max() < 1e-9, name


def test_a_step_that_fails_changes_nothing_and_is_counted(made, caplog):
    learner = made()
    before = {name: p.detach().clone() for name, p in learner.network.named_parameters()}
    task_loss, calls = learner.loss, []

    def broken(examples):
        loss = task_loss(examples)
        calls.append(1)
        return type(loss)(loss.total * float("nan"), loss.count) if len(calls) == 1 else loss

    learner.loss = broken
    assert learner.advance().failed
    assert learner.skipped == learner.failed_in_a_row == 1
    assert all(torch.equal(p, before[name]) for name, p in learner.network.named_parameters())
    assert not learner.advance().failed
    assert (learner.skipped, learner.failed_in_a_row) == (1, 0)


def test_where_step_after_step_fails_it_stops_with_the_batch_kept(tmp_path, caplog):
    short_run.write(tmp_path)
    run = short_run.settings(tmp_path, 30, **{"train.rate": 1e30, "train.skip": 2, "train.clip": 0})
    with (
        caplog.at_level(logging.WARNING, "clearhead"),
        pytest.raises(CannotError, match=r"3 steps in a row failed, .* Lower train.rate"),
    ):
        train(run)
    kept = (tmp_path / "run" / "failed.txt").read_text().split("\n")
    assert set(kept[0].split()) <= set(short_run.WORDS)
    assert "failed: its gradient is" in caplog.text


def test_what_is_measured_has_no_dropout_and_no_smoothing(made):
    learner = made()
    valid = prepare(learner.run, nobody).valid
    first = learner.loss_over(valid)
    assert first == learner.loss_over(valid)
    sharp = made(**{"task.smoothing": 0.0})
    assert abs(sharp.loss_over(valid) - first) < 1e-12


def test_schedules_are_what_they_are_called():
    root = InverseRoot(warmup=10)
    assert [root.share(step, 100) for step in (1, 5, 10, 40)] == [0.1, 0.5, 1.0, 0.5]
    wave = Cosine(warmup=10, last=0.2)
    assert [wave.share(step, 110) for step in (1, 10)] == [0.1, 1.0]
    assert abs(wave.share(35, 110) - (0.2 + 0.8 * (1 + cos(pi / 4)) / 2)) < 1e-12
    assert abs(wave.share(110, 110) - 0.2) < 1e-12
    assert Constant().share(7, 9) == 1.0


def test_files_are_made_ids_once_and_again_when_they_change(tmp_path):
    short_run.write(tmp_path)
    run, notes = short_run.settings(tmp_path, 30), []
    prepare(run, notes.append)
    assert [note.text for note in notes] == ["vocabulary", "train", "valid"]
    prepare(run, notes.append)
    assert len(notes) == 3
    again = short_run.settings(tmp_path, 30, **{"task.smoothing": 0.3, "train.tokens": 300})
    prepare(again, notes.append)
    assert len(notes) == 3
    for changes in ({"task.source.size": 100}, {"data.longest": 20}):
        prepare(short_run.settings(tmp_path, 30, **changes), notes.append)
    assert len(notes) == 9
    with (tmp_path / "train.tsv").open("a") as file:
        file.write("one two\t12\n")
    prepare(run, notes.append)
    assert len(notes) == 12


def test_examples_that_are_too_long_are_left_out_and_counted(tmp_path, caplog):
    short_run.write(tmp_path)
    with caplog.at_level(logging.WARNING, "clearhead"):
        found = prepare(short_run.settings(tmp_path, 30, **{"data.longest": 5}), nobody)
    lengths = found.train.lengths(np.arange(len(found.train)))
    assert lengths.max() == 5
    assert f"{300 - len(found.train)} examples of" in caplog.text


def test_a_journal_is_cut_back_to_its_checkpoint(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path, 0) as journal:
        journal.add(step=1, loss=0.5)
        size = journal.settle()
        journal.add(step=2, loss=0.25)
    path.write_bytes(path.read_bytes() + b'{"step": 3, "lo')
    assert [each["step"] for each in entries(path)] == [1, 2]
    with Journal(path, size) as again:
        again.add(step=2, loss=0.125)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 0.125},
    ]


def test_settings_that_cannot_be_are_refused(tmp_path):
    short_run.write(tmp_path)
    with pytest.raises(ConfigError, match=r"train.stepps|no 'stepps'"):
        short_run.settings(tmp_path, 30, **{"train.stepps": 3})
    with pytest.raises(ConfigError, match="A width of 18 cannot be cut into 4 heads"):
        train(short_run.settings(tmp_path, 30, **{"model.width": 18, "model.heads": 4}))
    run = short_run.settings(tmp_path, 30)
    assert from_toml(Run, to_toml(run)) == run
