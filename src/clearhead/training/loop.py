"""The loop, on one screen: learn, look, save; and go on from wherever it was ended."""

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf, isfinite
from pathlib import Path
from threading import current_thread, main_thread

import torch

from ..checkpoints.folder import SETTINGS
from ..checkpoints.parts import Provenance
from ..config import check, to_plain, to_toml
from ..foundation.devices import choose_device
from ..foundation.errors import CannotError, ConfigError
from ..foundation.log import log
from ..tasks import Model
from . import checkpoint
from .journal import Journal
from .learner import Learner, Stepped
from .notes import Note, Onlooker, nobody
from .prepare import Prepared, prepare
from .run import Run

USED = "settings.toml"  # the settings as they were used


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What came of a run. `model` is the folder of the best model so far."""

    model: Path
    step: int
    finished: bool


def train(run: Run, *, look: Onlooker = nobody) -> Trained:
    """Train, or go on training, up to the last step, or until somebody asks the program to end.

    Ended at any moment, by whatever: the same run again goes on from its last checkpoint, and its
    losses are those of a run that was never ended (to the bit on a CPU with as many threads).
    """
    check(run)
    choose_device(run.device)  # refused before anything is written
    into = Path(run.into)
    with alone_in(into), ended_kindly() as asked_to_end:
        prepared = prepare(run, look)
        learner = Learner(run, prepared)
        written = begun(learner, prepared, look)
        with Journal(into / "journal.jsonl", written) as journal:
            learn(learner, prepared, journal, look, asked_to_end)
    if not (into / "model" / SETTINGS).is_file():  # ended before anything was measured
        model_of(learner).save(into / "model")
    finished = learner.step >= run.train.steps
    kind = "end" if finished else "ended"
    look(Note(kind=kind, step=learner.step, text=str(into / "model")))
    return Trained(model=into / "model", step=learner.step, finished=finished)


def learn(
    learner: Learner, prepared: Prepared, journal: Journal, look: Onlooker, asked: Sequence[int]
) -> None:
    """The loop itself: to the last step, or until somebody asks to end; what was done is saved."""
    settings, identity = learner.run.train, lasting(learner.run, prepared)
    while learner.step < settings.steps and not asked:
        began = time.perf_counter()
        stepped = learner.advance()
        journal.add(**line_of(stepped))
        refuse_failing(learner, stepped)
        look(note_of(stepped, time.perf_counter() - began))
        last = stepped.step == settings.steps
        if last or stepped.step % settings.valid_every == 0:
            validate(learner, prepared, journal, look)
        if last or stepped.step % settings.save_every == 0:
            save(learner, identity, journal, look)
    if learner.step and learner.step != learner.saved:
        save(learner, identity, journal, look)


def begun(learner: Learner, prepared: Prepared, look: Onlooker) -> int:
    """Begin, or go on from the last checkpoint; how much of the journal is kept."""
    run, into = learner.run, Path(learner.run.into)
    found = checkpoint.latest(into / "checkpoints")
    if found is None and (into / "model" / SETTINGS).is_file():
        raise ConfigError(
            f"{into} holds a model and no checkpoint to go on from, and the model would be lost: "
            "give another folder (into=…)."
        )
    if found is not None:
        refuse_another(run, lasting(run, prepared), found.state["run"])
        learner.resume(found)
        tell_of_threads(found.state["threads"])
    if learner.step > run.train.steps:
        raise ConfigError(
            f"The run in {into} is at step {learner.step}, beyond train.steps = "
            f"{run.train.steps}: give a larger number, or another folder (into=…)."
        )
    (into / USED).write_text(to_toml(run), encoding="utf-8")
    begins = f"goes on behind step {learner.step}: " if learner.step else ""
    look(Note(kind="begin", step=learner.step, text=f"{begins}{run.model.settled()}"))
    return int(found.state["journal"]) if found else 0


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Inside the block no other run writes into this folder; a second one is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    if find_spec("fcntl") is None:  # Windows: nobody is kept out
        yield
        return
    import fcntl

    with (folder / ".running").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CannotError(
                f"Another run is writing into {folder} now: wait for it, or give another folder "
                "(into=…)."
            ) from error
        yield


def line_of(stepped: Stepped) -> dict[str, float]:
    """One step, as the journal keeps it."""
    return {
        "step": stepped.step,
        "loss": stepped.loss,
        "norm": stepped.norm,
        "rate": stepped.rate,
    }


def validate(learner: Learner, prepared: Prepared, journal: Journal, look: Onlooker) -> None:
    """Measure by what was held back, and keep the model where it is the best so far."""
    model = model_of(learner)
    numbers: dict[str, float] = {}
    samples: list[tuple[str, str, str]] = []
    better = True
    if prepared.valid is not None:
        numbers["loss"] = learner.loss_over(prepared.valid)
        rows = prepared.valid_rows[: learner.run.train.valid_rows]
        refuse_lost(learner, numbers["loss"])
        scored = learner.run.task.score(model, rows)
        numbers.update(scored.numbers)
        samples = [
            (row[0], answer, row[-1])
            for row, answer in zip(rows[:3], scored.answers[:3], strict=True)
        ]
        better = ranked(numbers, scored.decides) > ranked(learner.best, scored.decides)
    if better:
        learner.best = {"step": learner.step, **numbers}
        model.save(Path(learner.run.into) / "model")
    journal.add(step=learner.step, valid=numbers, best=learner.best["step"])
    look(Note(kind="valid", step=learner.step, numbers=numbers, samples=samples))


def refuse_lost(learner: Learner, loss: float) -> None:
    """Stop where the weights have become useless, rather than measure them."""
    if not isfinite(loss):
        raise CannotError(
            f"At step {learner.step} the loss over what was held back is {loss}: the weights have "
            "grown beyond all numbers. Lower train.rate, or raise train.schedule.warmup, and begin "
            "again in another folder (into=…)."
        )


def ranked(numbers: Mapping[str, float], decides: Sequence[str]) -> list[float]:
    """What two models are compared by."""
    return [numbers.get(name, -inf) for name in decides]


def model_of(learner: Learner) -> Model:
    """The network as people use it."""
    return Model(
        network=learner.network.eval(),
        tokens=learner.vocabulary,
        config=learner.architecture,
        provenance=Provenance(source="clearhead train", notes={"step": str(learner.step)}),
    )


def save(learner: Learner, run: Mapping[str, object], journal: Journal, look: Onlooker) -> None:
    """Write a checkpoint, with what a run must still be to go on from it."""
    folder = Path(learner.run.into) / "checkpoints"
    state = learner.checkpoint(journal=journal.settle(), run=run)
    checkpoint.write(folder, learner.step, state, keep=learner.run.train.keep)
    learner.saved = learner.step
    look(Note(kind="saved", step=learner.step))


def note_of(stepped: Stepped, seconds: float) -> Note:
    """One step, as whoever looks on is told."""
    numbers = {
        "loss": stepped.loss,
        "norm": stepped.norm,
        "rate": stepped.rate,
        "tokens": stepped.tokens,
        "seconds": seconds,
    }
    return Note(kind="step", step=stepped.step, numbers=numbers)


def lasting(run: Run, prepared: Prepared) -> dict[str, object]:
    """What a run must still be to go on: another of these would be another run."""
    plain = to_plain(run)
    return {
        "seed": run.seed,
        "task": plain["task"],
        "model": plain.get("model", {}),
        "data": prepared.made_from,
        "vocabulary": prepared.words,
        "train.tokens": run.train.tokens,
    }


def refuse_another(run: Run, now: Mapping[str, object], before: Mapping[str, object]) -> None:
    """Refuse to go on with a run that was another; how long and how fast it learns may change."""
    for key, value in now.items():
        if value == before.get(key):
            continue
        told = f"{key} = {before.get(key)!r} and now it is {value!r}"
        if key == "data":
            told = "other files, or other settings for reading them, than those given now"
        if key == "vocabulary":
            told = "another vocabulary than the one that was learned now"
        raise ConfigError(
            f"{run.into} holds a run with {told}: give another folder (into=…), or what it began "
            "with."
        )


def tell_of_threads(before: int) -> None:
    """Say so where the losses will not be the same bits."""
    if torch.get_num_threads() != before:
        log("training").warning(
            f"The run was begun with {before} threads and goes on with "
            f"{torch.get_num_threads()}: its losses will differ in their last digits."
        )


def refuse_failing(learner: Learner, stepped: Stepped) -> None:
    """Stop where step after step fails, and keep the batch that did it."""
    if not stepped.failed:
        return
    log("training").warning(f"Step {stepped.step} failed: its gradient is {stepped.norm}.")
    if learner.failed_in_a_row <= learner.run.train.skip:
        return
    kept = Path(learner.run.into) / "failed.txt"
    decode = learner.vocabulary.decode
    texts = [decode(list(map(int, example[0]))) for example in learner.last]
    kept.write_text("\n".join(texts) + "\n", encoding="utf-8")
    raise CannotError(
        f"{learner.failed_in_a_row} steps in a row failed, the last was {stepped.step}: a loss or "
        f"gradient was not a number. The last batch is in {kept}. Lower train.rate, or raise "
        "train.schedule.warmup."
    )


@contextmanager
def ended_kindly() -> Iterator[list[int]]:
    """Inside the block, being asked to end (Ctrl-C, SIGTERM) fills the list and ends nothing.

    Asked again, it ends at once. Only a program's main thread is ever asked.
    """
    asked: list[int] = []

    def note(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    is_main = current_thread() is main_thread()
    kinds = (signal.SIGTERM, signal.SIGINT) if is_main else ()
    before = {kind: signal.signal(kind, note) for kind in kinds}
    try:
        yield asked
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
