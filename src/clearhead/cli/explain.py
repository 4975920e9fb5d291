"""`clearhead explain`: one attention, step by step, with real numbers."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..foundation.errors import ConfigError
from ..traces import Trace, open_trace
from ..visuals import steps_of
from .terminal import language_of

FIRST = "look-up"
MENU = {
    "en": """What can be explained:
  clearhead explain --example look-up      a table, asked with shares: attention before learning
  clearhead explain --example powerful     three words, every product by hand
  clearhead explain --example five-rows    five rows, softmax once
  clearhead explain --example shuffle      what the order of the words does
  clearhead explain --file mine.toml       your own matrices
  clearhead explain --model minilm "I went to the bank to apply for a loan" --query bank
Add --language zh, --json, or --save FILE.trace. Here is look-up:
""",
    "zh": """可以看这些：
  clearhead explain --example look-up      一张表，按份额查：还没有学习的注意力
  clearhead explain --example powerful     三个词，每个乘积都能手算
  clearhead explain --example five-rows    五行，softmax 只做一次
  clearhead explain --example shuffle      词的顺序起什么作用
  clearhead explain --file mine.toml       自己的矩阵
  clearhead explain --model minilm "I went to the bank to apply for a loan" --query bank
还可以加 --language en、--json 或 --save FILE.trace。先看 look-up：
""",
}


def explain(  # noqa: PLR0913, PLR0917 - one argument an option
    text: Annotated[str | None, typer.Argument(help="What the model reads.")] = None,
    example: Annotated[
        str | None, typer.Option(help="look-up, powerful, five-rows or shuffle")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Matrices in a TOML file, or a saved .trace.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A folder, a file, or an installed name such as minilm.")
    ] = None,
    layer: Annotated[int | None, typer.Option(help="Its self-attention is meant; from 0.")] = None,
    head: Annotated[int | None, typer.Option(help="From 0.")] = None,
    query: Annotated[
        str | None, typer.Option(help="The token to look from, or its number.")
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="Instead of a layer: decoder.0.cross, for example.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What a translator has written so far.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
    save: Annotated[
        Path | None, typer.Option(help="Write the trace to a file, to open later.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="en or zh; as the terminal is set when left out.")
    ] = None,
) -> None:
    """Walk through one attention, from tokens to output, with real numbers."""
    language = language_of(language)  # refused before anything else is done
    sources = {"--example": example, "--file": file, "--model": model}
    asked = [option for option, value in sources.items() if value is not None]
    if len(asked) > 1:
        raise ConfigError(f"{' and '.join(asked)} are different things to explain: give one.")
    if text is not None and model is None:
        raise ConfigError("A text needs a model that reads it: add --model minilm.")
    where = {"layer": layer, "head": head, "query": query, "site": site, "target": target}
    trace = trace_of(model, text, example or FIRST, file, where)
    if not asked and not as_json:
        print(MENU[language])
    if save is not None:
        trace.save(save)
    tell(trace, as_json=as_json, language=language)
    if save is not None:
        print(f"→ {save}", file=sys.stderr)


def trace_of(
    model: str | None,
    text: str | None,
    example: str,
    file: Path | None,
    where: Mapping[str, Any],
) -> Trace:
    """What is to be told: recorded before, or recorded now."""
    if file is not None and file.suffix == ".trace":
        for name, value in where.items():
            if value is not None:
                raise ConfigError(f"{file} was recorded before, so --{name} has no effect.")
        trace = open_trace(file)
        if trace.kind != "explanation":
            raise ConfigError(
                f"{file} is a trace of the kind {trace.kind!r} and no explanation. Show it with "
                f"`clearhead see {file}`."
            )
        return trace
    from ..lens import explain as walk  # what needs torch is loaded when it is needed

    if model is None:
        return walk(example if file is None else file, **where)
    from ..tasks import load

    trace = walk(load(model), text, **where)
    return replace(trace, about={**trace.about, "title": model})


def tell(trace: Trace, *, as_json: bool, language: str) -> None:
    """Print an explanation, for a person or for a program."""
    if as_json:
        told = {"steps": steps_of(trace, language=language)}
        has_all_letters = sys.stdout.encoding.lower().startswith("utf")
        print(json.dumps(told, ensure_ascii=not has_all_letters, allow_nan=False))
        return
    from rich.console import Console

    from ..visuals.terminal import show

    show(trace, console=Console(highlight=False), language=language)
