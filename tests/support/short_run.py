"""A run that takes a second: digits in words become figures. Also started as a process of its own.

python short_run.py FOLDER STEPS [NAME=VALUE …]
"""

import sys
from pathlib import Path

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def rows(count: int, first: int = 0) -> list[tuple[str, str]]:
    """Numbers in words, and in figures."""
    found = []
    for number in range(first, first + count):
        figures = str(number * 7919 % 100_000)
        found.append((" ".join(WORDS[int(figure)] for figure in figures), figures))
    return found


def write(folder: Path, train: int = 300, valid: int = 20) -> None:
    """The files of the run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in {"train": rows(train), "valid": rows(valid, first=5000)}.items():
        lines = ["source\ttarget", *("\t".join(pair) for pair in pairs)]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def settings(folder: Path, steps: int, **changes: object):
    """The run, in `folder/run`, over files in `folder`."""
    from clearhead.config import override
    from clearhead.data import Corpus
    from clearhead.models.sized import Shape
    from clearhead.tasks.translation import Translation
    from clearhead.tokens import Learned
    from clearhead.training import Run
    from clearhead.training.run import Data, Train
    from clearhead.training.schedule import InverseRoot

    run = Run(
        into=str(folder / "run"),
        seed=3,
        device="cpu",
        task=Translation(source=Learned(cut="words"), target=Learned(cut="characters")),
        model=Shape(size="tiny", width=16, heads=2, layers=1, dropout=0.1),
        data=Data(
            train=Corpus(files=(str(folder / "train.tsv"),)),
            valid=Corpus(files=(str(folder / "valid.tsv"),)),
        ),
        train=Train(
            steps=steps,
            tokens=200,
            rate=5e-3,
            schedule=InverseRoot(warmup=20),
            save_every=7,
            valid_every=25,
            valid_rows=2,
        ),
    )
    return override(run, [f"{name}={value}" for name, value in changes.items()])


def main() -> None:
    """Train, and say each step as it is done."""
    import torch

    from clearhead.training import train

    torch.set_num_threads(1)
    folder, steps, *changes = sys.argv[1:]
    named = dict(change.split("=", 1) for change in changes)
    train(
        settings(Path(folder), int(steps), **named),
        look=lambda note: print(note.kind, note.step, flush=True),
    )


if __name__ == "__main__":
    main()
