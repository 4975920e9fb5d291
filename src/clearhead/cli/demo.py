"""`clearhead demo`: a translator learns here and now, translates, and shows what it looked at."""

import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..foundation.memory import keep_memory
from .terminal import language_of

if TYPE_CHECKING:
    from rich.console import Console

    from ..tasks import Model
    from ..training import Note
    from ..training.notes import Onlooker
    from .dates_shown import Shown

INTO = Path("demo")
ENDED = 130  # what shells give a program that was asked to end
SHOWN = 4  # translations that are shown

SAYS = {
    "en": {
        "learn": "A translator learns: English dates → 中文",
        "right": "{right} of {all} dates of months it never saw are right, to the last character: "
        "{share:.1%}. It learned for {seconds:.0f} seconds.",
        "shows": "What it looked at: {site}, head {head}",
        "wrong": "wrong, it should be {wanted}",
        "ask": "Type a date in English (nothing ends): ",
        "next": "Try next:",
    },
    "zh": {
        "learn": "一个翻译模型在学习：英文日期 → 中文",
        "right": "它没有见过的月份里，{all} 个日期中有 {right} 个一字不差：{share:.1%}。学习用了 "
        "{seconds:.0f} 秒。",
        "shows": "它看了哪里：{site}，第 {head} 头",
        "wrong": "错了，应当是 {wanted}",
        "ask": "输入一个英文日期（直接回车结束）：",
        "next": "接下来可以试：",
    },
}


def demo(
    into: Annotated[Path, typer.Option(help="The folder that everything stays in.")] = INTO,
    language: Annotated[
        str | None, typer.Option(help="en or zh; as the terminal is set when left out.")
    ] = None,
) -> None:
    """Train a translator of dates in about a minute, and see what it looks at."""
    language = language_of(language)  # refused before anything else is done
    from rich.console import Console  # what is slow to load is loaded when it begins

    from ..tasks import load
    from .dates_shown import shown_of

    keep_memory()
    says, console = SAYS[language], Console(highlight=False)
    console.rule(f"[bold]{says['learn']}")
    seconds = learned(into)
    if seconds is None:
        raise typer.Exit(ENDED)
    model = load(into / "model", device="cpu")
    shown = shown_of(model, into / "data")
    share = shown.right / shown.all
    result = {
        "exact_match": share,
        "seconds": seconds,
        "samples": [each.plain() for each in shown.samples[:SHOWN]],
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    (into / "result.json").write_text(text, encoding="utf-8")
    told = says["right"].format(right=shown.right, all=shown.all, share=share, seconds=seconds)
    console.print(f"\n[bold]{told}[/bold]\n")
    console.print(f"[dim]{says['shows'].format(site=shown.site, head=shown.head)}[/dim]")
    for sample in shown.samples[:SHOWN]:
        tell(console, shown, sample.text, sample.answer, sample.wanted, says)
    if sys.stdin.isatty() and os.environ.get("SERVE") != "0":
        converse(console, shown, model, says)
    console.print(f"\n[bold]{says['next']}[/bold]")
    first = shown.samples[0]
    for command in (
        f'see {into}/model "{first.text}" --target "{first.answer}"',
        f'translate {into}/model "{first.text}"',
        "tour",
    ):
        console.print(f"  clearhead {command}", markup=False, soft_wrap=True)


def learned(into: Path) -> float | None:
    """Train the translator, or find it trained; how many seconds that took, in all its parts.

    None where somebody asked the program to end before it was done.
    """
    import torch

    from ..config import override
    from ..recipes import recipe_of
    from ..training import train
    from .learning import Learning

    run = recipe_of("dates", str(into / "data"))
    run = override(run, [f"into={into}", "device=cpu"])
    torch.set_num_threads(min(torch.get_num_threads(), 2))  # so small a network has no use for more
    clock, began = into / "seconds", time.perf_counter()
    before = float(clock.read_text(encoding="utf-8")) if clock.is_file() else 0.0
    steps: list[int] = []

    def noted(onlooker: "Onlooker", note: "Note") -> None:
        steps.extend([note.step] if note.kind == "step" else [])
        onlooker(note)

    with Learning(run.train.steps) as onlooker:
        trained = train(run, look=partial(noted, onlooker))
    seconds = before + (time.perf_counter() - began if steps else 0.0)
    clock.write_text(str(seconds), encoding="utf-8")
    return seconds if trained.finished else None


def converse(console: "Console", shown: "Shown", model: "Model", says: dict[str, str]) -> None:
    """Translate what somebody types, until they type nothing."""
    while text := console.input(f"\n{says['ask']}", markup=False).strip():
        (answer,) = model.translate([text])
        tell(console, shown, text, answer, answer, says)


def tell(
    console: "Console", shown: "Shown", text: str, answer: str, wanted: str, says: dict[str, str]
) -> None:
    """One translation, and under it what each part of it looked at."""
    from rich.cells import cell_len
    from rich.text import Text

    wrong = "" if answer == wanted else f"  ≠ {says['wrong'].format(wanted=wanted)}"
    line = Text(f"\n{text}  →  ").append(answer, style="bold").append(wrong)
    console.print(line, soft_wrap=True)
    for each in shown.aligned(text, answer):
        target = each.target + " " * (8 - cell_len(each.target))
        console.print(f"  {target} ← {each.source:12} {each.score:4.0%}", markup=False)
