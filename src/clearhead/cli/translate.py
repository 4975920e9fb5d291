"""`clearhead translate MODEL TEXT`: the best answer to a text."""

from typing import Annotated

import typer


def translate(
    model: Annotated[str, typer.Argument(help="An encoder-decoder: a folder, an installed name.")],
    text: Annotated[str, typer.Argument(help="The text to translate.")],
    beams: Annotated[int, typer.Option(min=1, help="How many beginnings go on at a time.")] = 4,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="At most this many tokens. 50 more than the text has when left out."
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps")] = "auto",
) -> None:
    """Translate a text by beam search."""
    from ..tasks import load  # loads torch, which only the verb itself needs

    (answer,) = load(model, device=device).translate([text], beams=beams, max_tokens=max_tokens)
    print(answer)
