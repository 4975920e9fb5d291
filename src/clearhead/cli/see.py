"""`clearhead see MODEL "text"`: what every head of a model looks at, in the terminal."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..foundation.errors import ConfigError
from ..traces import Trace, open_trace
from ..visuals.heads import chosen, gazes, heads_of, sites_of
from .terminal import language_of


def see(  # noqa: PLR0913, PLR0917 - one argument an option
    model: Annotated[str, typer.Argument(help="A folder, a file, an installed name; or a .trace.")],
    text: Annotated[str | None, typer.Argument(help="What the model reads.")] = None,
    target: Annotated[
        str | None, typer.Option(help="What a translator has written so far.")
    ] = None,
    site: Annotated[str | None, typer.Option(help="decoder.0.cross, for example.")] = None,
    head: Annotated[int | None, typer.Option(help="From 0.")] = None,
    rows: Annotated[str, typer.Option(help="Which tokens to list: FIRST:LAST.")] = "0:24",
    top: Annotated[int, typer.Option(help="How many keys of each token.")] = 4,
    as_json: Annotated[bool, typer.Option("--json", help="Print every head as JSON.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the trace, to open later.")] = None,
    language: Annotated[
        str | None, typer.Option(help="en or zh; as the terminal is set when left out.")
    ] = None,
) -> None:
    """Show what every head of a model looks at, and one of them closely."""
    language = language_of(language)
    part = part_of(rows)
    if save is not None and save.exists():
        raise ConfigError(f"{save} is already there: give a new file for the trace.")
    trace = trace_of(model, text, target, top)
    if save is not None:
        trace.save(save)
    if as_json:
        tell(trace, site, head)
        return
    from rich.console import Console

    from ..visuals.terminal.seeing import show_seen

    refuse_no_rows(trace, part, rows)
    console = Console(highlight=False)
    show_seen(trace, console=console, site=site, head=head, rows=part, language=language)
    if save is not None:
        print(f"→ {save}", file=sys.stderr)


def refuse_no_rows(trace: Trace, part: slice, rows: str) -> None:
    """Refuse rows of which the text has none."""
    count = max(facts["queries"] for facts in sites_of(trace).values())
    if not range(*part.indices(count)):
        raise ConfigError(
            f"--rows {rows} names no tokens: there are {count}, and FIRST:LAST are counted from 0."
        )


def part_of(rows: str) -> slice:
    """`3:10` as a slice."""
    first, colon, last = rows.partition(":")
    if not colon or not (first or "0").isdecimal() or not (last or "0").isdecimal():
        raise ConfigError(f"--rows {rows} names no tokens: give FIRST:LAST, for example 0:24.")
    return slice(int(first or 0), int(last) if last else None)


def trace_of(model: str, text: str | None, target: str | None, top: int) -> Trace:
    """What is to be shown: recorded before, or recorded now."""
    if model.endswith(".trace"):
        if text is not None or target is not None:
            raise ConfigError(
                f"{model} was recorded before, so a text has no effect: leave it out."
            )
        trace = open_trace(model)
        if trace.kind != "attention":
            raise ConfigError(
                f"{model} is a trace of the kind {trace.kind!r} and no record of attention. "
                "Show it with `clearhead explain --file`."
            )
        return trace
    if text is None:
        raise ConfigError('There is no text to read: clearhead see MODEL "text".')
    from ..tasks import load
    from ..tasks.seeing import seen_of

    return seen_of(load(model), text, target, name=model, top=top)


def tell(trace: Trace, site: str | None, head: int | None) -> None:
    """Every head in numbers, and where the tokens of one look, as JSON."""
    picked = chosen(trace, site, head)
    told = {
        "sites": trace.about["sites"],
        "heads": [asdict(each) for each in heads_of(trace)],
        "shown": asdict(picked),
        "gazes": [asdict(each) for each in gazes(trace, picked, slice(None))],
    }
    has_all_letters = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(told, ensure_ascii=not has_all_letters))
