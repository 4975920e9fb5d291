"""`clearhead score MODEL FILES`: how well a model answers."""

import json
from pathlib import Path
from typing import Annotated

import typer


def score(
    model: Annotated[str, typer.Argument(help="A folder, a file, or an installed name.")],
    files: Annotated[
        list[Path], typer.Argument(help="One table, or two text files whose lines are in step.")
    ],
    device: Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print numbers as JSON.")] = False,
) -> None:
    """Translate a file and compare it with what was wanted: BLEU, chrF, exact matches."""
    from ..data import Corpus, rows_of
    from ..tasks import load
    from ..tasks.translation import Translation

    task = Translation()
    corpus = Corpus(files=tuple(str(file) for file in files))
    rows = [row.fields for row in rows_of(corpus, task.columns)]
    found = task.score(load(model, device=device), rows)
    if as_json:
        print(json.dumps({**found.numbers, "signatures": dict(found.signatures)}))
        return
    for name, value in found.numbers.items():
        print(f"{name:12} {value:.4g}  {found.signatures.get(name, '')}".rstrip())
