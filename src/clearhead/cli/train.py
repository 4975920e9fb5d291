"""`clearhead train`: learn from files, or go on where a run was ended."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..foundation.errors import ConfigError

ENDED = 130  # what shells give a program that was asked to end


def train(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="RUN.toml, and changes to it: train.steps=300 device=cpu …"),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(help="A run that is ready: dates, multi30k.")
    ] = None,
) -> None:
    """Train a model; run again, it goes on where it was ended."""
    from ..config import override, read
    from ..foundation.log import show_log
    from ..foundation.memory import keep_memory
    from ..recipes import recipe_of
    from ..training import Run
    from ..training import train as learn
    from .learning import Learning

    file, changes = parted(words or [], recipe)
    if file is not None:
        run = override(read(Run, file), changes)
    else:
        named, rest = arguments_of(changes)
        run = override(recipe_of(recipe or "", **named), rest)
    keep_memory()
    show_log("warning")
    with Learning(run.train.steps) as onlooker:
        trained = learn(run, look=onlooker)
    if not trained.finished:
        raise typer.Exit(ENDED)


def parted(words: Sequence[str], recipe: str | None) -> tuple[Path | None, list[str]]:
    """The settings file, where there is one, and the changes."""
    files = [word for word in words if "=" not in word]
    changes = [word for word in words if "=" in word]
    if recipe is not None and files:
        raise ConfigError(
            f"A recipe and {files[0]} were both given, and either is a whole run: leave one out."
        )
    if recipe is None and len(files) != 1:
        raise ConfigError(
            f"{len(files)} settings files were given where one was wanted: clearhead train "
            "RUN.toml, or --recipe dates. `clearhead new translation` writes such a file."
        )
    return (Path(files[0]) if files else None), changes


def arguments_of(changes: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """What a recipe itself is told (`folder=…`), and the changes to the run it makes."""
    named = {
        key: value
        for key, _, value in (change.partition("=") for change in changes)
        if key == "folder"
    }
    return named, [change for change in changes if change.partition("=")[0] not in named]
