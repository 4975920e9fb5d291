"""How good answers are, measured as others measure it."""

from collections.abc import Sequence
from dataclasses import dataclass

CHINESE = ("\u4e00", "\u9fff")
KANA = ("\u3040", "\u30ff")


@dataclass(frozen=True)
class Measured:
    """A score, and how exactly it was taken: numbers of one signature can be compared."""

    score: float
    signature: str


def bleu(answers: Sequence[str], wanted: Sequence[str]) -> Measured:
    """BLEU of cased text as it is, by sacrebleu; Chinese and Japanese by their characters."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize=cutter_for(wanted))
    found = metric.corpus_score(list(answers), [list(wanted)])
    return Measured(found.score, str(metric.get_signature()))


def chrf(answers: Sequence[str], wanted: Sequence[str]) -> Measured:
    """The F-score of character n-grams, by sacrebleu."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    found = metric.corpus_score(list(answers), [list(wanted)])
    return Measured(found.score, str(metric.get_signature()))


def exact_match(answers: Sequence[str], wanted: Sequence[str]) -> float:
    """The share of answers that are right to the last character."""
    pairs = list(zip(answers, wanted, strict=True))
    return sum(answer == right for answer, right in pairs) / max(len(pairs), 1)


def cutter_for(wanted: Sequence[str]) -> str:
    """The sacrebleu tokenizer for these texts, told from their letters."""
    letters = "".join(wanted[:200])
    if any(KANA[0] <= letter <= KANA[1] for letter in letters):
        return "char"
    return "zh" if any(CHINESE[0] <= letter <= CHINESE[1] for letter in letters) else "13a"
