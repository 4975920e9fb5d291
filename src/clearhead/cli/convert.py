"""`clearhead convert MODEL FOLDER`: write a model as a Clearhead or a Hugging Face folder."""

from pathlib import Path
from typing import Annotated

import typer

from ..foundation.errors import FileError


def convert(
    model: Annotated[str, typer.Argument(help="A folder, a file, or an installed name.")],
    folder: Annotated[Path, typer.Argument(help="Where to write; must be new or empty.")],
    to: Annotated[str, typer.Option(help="clearhead, or huggingface")] = "clearhead",
) -> None:
    """Write a model in another form. Nothing that is already there is overwritten."""
    from ..tasks import load  # loads torch, which only the verb itself needs

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is already there and not empty: give a new folder.")
    load(model, device="cpu").save(folder, form=to)
    print(f"{model} → {folder} ({to})")
