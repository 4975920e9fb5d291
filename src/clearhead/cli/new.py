"""`clearhead new TASK > run.toml`: the settings of a run, each with a line of help."""

from typing import Annotated

import typer

from ..foundation.errors import ConfigError, nearest

TASKS = ("translation",)


def new(
    task: Annotated[str, typer.Argument(help="What is to be learned: translation.")],
) -> None:
    """Write the settings of a new run, to be filled in and given to `clearhead train`."""
    if task not in TASKS:
        raise ConfigError(
            f"There is no task {task!r}.{nearest(task, TASKS)} There are: {', '.join(TASKS)}."
        )
    from ..config import to_toml
    from ..data import Corpus
    from ..tasks.translation import Translation
    from ..training import Run
    from ..training.run import Data, Train

    run = Run(
        into="runs/translation",
        task=Translation(),
        data=Data(
            train=Corpus(files=("train.en", "train.de")),
            valid=Corpus(files=("valid.en", "valid.de")),
        ),
        train=Train(steps=20_000),
    )
    print(to_toml(run), end="")
