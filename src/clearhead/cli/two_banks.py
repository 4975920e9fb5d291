"""One word in two sentences: the same going in, another coming out, and the heads behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from rich.console import Console
from rich.text import Text

from ..attention import Announcement, watching
from ..tasks import Model
from ..visuals.terminal.bars import bar

SENTENCES = ("I went to the bank to apply for a loan.", "I sat on the bank of the river.")
WORD = "bank"
CLUES = ("loan", "river")


def two_banks(model: Model, console: Console, says: Mapping[str, str]) -> None:
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
