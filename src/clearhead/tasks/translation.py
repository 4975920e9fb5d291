"""Translation: any text to any text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..config import setting
from ..models import EncoderDecoder, EncoderDecoderNetwork, Network
from ..models.sized import Settled, translator
from ..tokens import Learned, Pair, Subwords, Vocabulary
from .measures import bleu, chrf, exact_match
from .model import Model
from .task import Ids, Loss, Scored

NOTHING = -100  # the answer where there is none, which no loss counts


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Read one text, write another."""

    kind: Literal["translation"] = "translation"
    source: Learned = setting(Learned(), help="how the text that is read is cut")
    target: Learned | None = setting(
        None, help="how the text that is written is cut; both by one vocabulary when left out"
    )
    smoothing: float = setting(
        0.1, help="share of certainty that is spread over all words", minimum=0, below=1
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """A text, and what becomes of it."""
        return ("source", "target")

    def learn(self, rows: Iterable[Sequence[str]]) -> Vocabulary:
        """One vocabulary from both sides, or one for each."""
        if self.target is None:
            return self.source.learn(chain.from_iterable(rows))
        kept = list(rows)
        return Pair(
            self.source.learn(row[0] for row in kept), self.target.learn(row[1] for row in kept)
        )

    def architecture(self, vocabulary: Vocabulary, shape: Settled) -> EncoderDecoder:
        """An encoder-decoder, one table of words for both sides where they have one vocabulary."""
        return translator(
            shape,
            source=vocabulary.size,
            target=vocabulary.target.size,
            shared=vocabulary.target is vocabulary,
        )

    def encode(
        self, vocabulary: Vocabulary, rows: Sequence[Sequence[str]]
    ) -> Iterator[Sequence[Ids]]:
        """Both texts as ids, each as the vocabulary ends it."""
        assert isinstance(vocabulary, Pair | Subwords)
        sources = vocabulary.ids_of([row[0] for row in rows])
        targets = vocabulary.target.ids_of([row[1] for row in rows])
        return zip(sources, targets, strict=True)

    def loss(
        self,
        network: Network,
        vocabulary: Vocabulary,
        examples: Sequence[Sequence[Ids]],
        device: torch.device,
    ) -> Loss:
        """Cross-entropy of every word of the answer, given the text and the words before."""
        assert isinstance(network, EncoderDecoderNetwork)
        start = vocabulary.target.specials.start or 0
        lengths = [len(example[0]) for example in examples]
        source_BS = beside([example[0] for example in examples], 0)
        answers_BT = beside([example[1] for example in examples], NOTHING)
        given_BT = answers_BT.roll(1, dims=1)
        given_BT[:, 0] = start
        found = network(
            source_BS.to(device),
            given_BT.clamp(min=0).to(device),
            # Where all are of one length nothing is padding, and attention need not be told.
            source_lengths_B=None if len(set(lengths)) == 1 else torch.tensor(lengths).to(device),
        )
        assert found.logits_BTV is not None
        wide = torch.promote_types(found.logits_BTV.dtype, torch.float32)
        total = cross_entropy(
            found.logits_BTV.flatten(0, 1).to(wide),
            answers_BT.to(device).flatten(),
            ignore_index=NOTHING,
            label_smoothing=self.smoothing if network.training else 0.0,
            reduction="sum",
        )
        return Loss(total, int((answers_BT != NOTHING).sum()))

    def score(self, model: Model, rows: Sequence[Sequence[str]]) -> Scored:
        """BLEU and chrF as sacrebleu has them, and the share that is exactly right."""
        answers, wanted = model.translate([row[0] for row in rows]), [row[1] for row in rows]
        words, letters = bleu(answers, wanted), chrf(answers, wanted)
        return Scored(
            numbers={
                "bleu": words.score,
                "chrf": letters.score,
                "exact_match": exact_match(answers, wanted),
            },
            decides=("bleu", "chrf"),  # texts of fewer than four words have no BLEU
            signatures={"bleu": words.signature, "chrf": letters.signature},
            answers=answers,
        )


def beside(rows: Sequence[Ids], filler: int) -> Int[Tensor, "b t"]:
    """Rows of ids side by side, filled up to the longest."""
    found = np.full((len(rows), max(len(row) for row in rows)), filler, dtype=np.int64)
    for number, row in enumerate(rows):
        found[number, : len(row)] = row
    return torch.from_numpy(found)
