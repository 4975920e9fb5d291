"""`clearhead generate MODEL PROMPT`: continue a text."""

from typing import Annotated

import typer


def generate(
    model: Annotated[str, typer.Argument(help="A decoder: a folder, a file, an installed name.")],
    prompt: Annotated[str, typer.Argument(help="The text to continue.")],
    max_tokens: Annotated[int, typer.Option(min=1, help="At most this many new tokens.")] = 64,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps")] = "auto",
) -> None:
    """Continue a text with the likeliest token, again and again."""
    from ..tasks import load  # loads torch, which only the verb itself needs

    print(load(model, device=device).generate(prompt, max_tokens=max_tokens))
