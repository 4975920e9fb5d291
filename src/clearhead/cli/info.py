"""`clearhead info MODEL`: what a model is, how it is built, what it costs."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from ..config import to_plain
from ..layers import Words
from ..models import Architecture, EncoderDecoder
from ..models.formulas import cache_bytes_per_token, flops_per_token, parameters
from ..models.paper import NAMED
from ..tasks import Model, load
from ..visuals.structure import structure

LENGTH = 512  # tokens of context that FLOPs are given for, unless asked otherwise


def info(
    model: Annotated[str, typer.Argument(help="A folder, a file, an installed or a paper's name.")],
    length: Annotated[int, typer.Option(min=1, help="Tokens of context for the FLOPs.")] = LENGTH,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a model is: structure, parameters, FLOPs, cache, vocabulary."""
    loaded = None if model in NAMED else load(model, device="cpu")
    architecture = NAMED[model]() if loaded is None else loaded.config
    facts = {"model": model, **origin(loaded), **costs(architecture, length)}
    facts |= vocabulary(loaded, architecture)
    plain = to_plain(architecture)
    if as_json:
        print(json.dumps(facts | {"architecture": plain}, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.print(structure(model, plain))
    for name, value in facts.items():
        shown = "none" if value is None else f"{value:,}" if isinstance(value, int) else value
        console.print(f"  [dim]{name.replace('_', ' '):>28}[/dim]  {escape(shown)}", soft_wrap=True)


def origin(model: Model | None) -> dict[str, Any]:
    """Where the model is from."""
    if model is None:
        return {"source": "a paper's table: no weights"}
    provenance = model.provenance
    named = {"family": provenance.family, "published_as": provenance.published_as}
    return {"source": provenance.source} | {key: value for key, value in named.items() if value}


def costs(architecture: Architecture, length: int) -> dict[str, int]:
    """What it takes to hold and to run."""
    return {
        "parameters": parameters(architecture),
        "bytes_in_float32": 4 * parameters(architecture),
        "context": length,
        "flops_a_token": flops_per_token(architecture, length=length),
        "cache_bytes_a_token": cache_bytes_per_token(architecture),
    }


def vocabulary(model: Model | None, architecture: Architecture) -> dict[str, Any]:
    """How many words the network knows, and how many its tokenizer does, where there are any."""
    side = architecture.decoder if isinstance(architecture, EncoderDecoder) else architecture
    tokens = model.tokens if model is not None else None
    return {
        "vocabulary": side.input.vocabulary if isinstance(side.input, Words) else None,
        "tokenizer": None if tokens is None else tokens.size,
    }
