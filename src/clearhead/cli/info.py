"""`clearhead info MODEL`: what a model is, how it is built, what it costs."""

import json
from typing import Annotated

import typer

LENGTH = 512  # tokens of context that FLOPs are given for, unless asked otherwise


def info(
    model: Annotated[str, typer.Argument(help="A folder, a file, an installed or a paper's name.")],
    length: Annotated[int, typer.Option(min=1, help="Tokens of context for the FLOPs.")] = LENGTH,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a model is: structure, parameters, FLOPs, cache, vocabulary."""
    from rich.console import Console
    from rich.markup import escape

    from ..tasks.about import about
    from ..visuals.structure import structure

    facts, architecture = about(model, length=length)
    if as_json:
        print(json.dumps(facts | {"architecture": architecture}, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(structure(model, architecture))
    for name, value in facts.items():
        shown = "none" if value is None else f"{value:,}" if isinstance(value, int) else value
        console.print(f"  [dim]{name.replace('_', ' '):>28}[/dim]  {escape(shown)}", soft_wrap=True)
