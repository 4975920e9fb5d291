"""How well a translator of dates does on months it never saw, and which head shows its way."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..data import Corpus, rows_of
from ..lens import Look, Words, best_heads
from ..tasks import Model
from ..tasks.aligning import Aligned, Answered, Place, answered
from ..tasks.measures import exact_match

PART = re.compile(r"\d+年|\d+月|\d+日|星期.")
JUDGES = 60  # dates by which heads are judged
# The parts of a date that one English word says, wherever it stands.
SAID = {
    "月": re.compile(r"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"),
    "星期": re.compile(r"Mon|Tue|Wed|Thu|Fri|Sat|Sun"),
}


@dataclass(frozen=True)
class Sample:
    """A text, what was answered, what was wanted, and which words the answer looked at."""

    text: str
    answer: str
    wanted: str
    alignment: Sequence[Aligned]

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        pairs = [[each.target, each.source, each.score] for each in self.alignment]
        names = {"source": self.text, "answer": self.answer, "wanted": self.wanted}
        return {**names, "alignment": pairs}


@dataclass(frozen=True)
class Shown:
    """What the demonstration shows."""

    model: Model
    right: int
    all: int
    site: str
    head: int
    samples: Sequence[Sample]

    def aligned(self, text: str, answer: str) -> list[Aligned]:
        """What each part of a date looked at."""
        places = parts_of(answer)
        if not places:
            return []
        return answered(self.model, text, answer).aligned(self.site, [self.head], places)


def shown_of(model: Model, folder: Path) -> Shown:
    """Translate the months that were kept, and find the head that errs least on others."""
    rows = rows_in(folder / "test.tsv")
    answers = model.translate([text for text, _ in rows])
    site, head = telling_head(model, rows_in(folder / "valid.tsv")[:JUDGES])
    right = round(exact_match(answers, [wanted for _, wanted in rows]) * len(rows))
    plain = Shown(model, right, len(rows), site, head, ())
    # One of each length, the longest first: they are the ones with the most to see.
    chosen = sorted(range(len(rows)), key=lambda at: -len(rows[at][1]))[:: max(len(rows) // 8, 1)]
    samples = [
        Sample(rows[at][0], answers[at], rows[at][1], plain.aligned(rows[at][0], answers[at]))
        for at in chosen
    ]
    return Shown(model, right, len(rows), site, head, samples)


def rows_in(file: Path) -> list[tuple[str, str]]:
    """The pairs in a file."""
    found = rows_of(Corpus(files=(str(file),)), ("source", "target"))
    return [(row.fields[0], row.fields[1]) for row in found]


def telling_head(model: Model, rows: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The head whose months and weekdays look at the months and weekdays of the text."""
    seen = [answered(model, text, wanted) for text, wanted in rows]
    seen = [each for each in seen if truth(each)]
    judged = []
    for site in seen[0].sites:
        best = best_heads([judging(each, site) for each in seen])[0]
        judged.append((best.error_rate, site, best.head))
    _, site, head = min(judged)
    return site, head


def judging(each: Answered, site: str) -> tuple[Look, Words, frozenset[tuple[int, int]]]:
    """The parts of one date of which it is known where they come from, and from where."""
    words, _, _ = each.words(parts_of(each.answer))
    true = truth(each)
    only = replace(words, target=[words.target[part] for part in sorted(true)])
    pairs = frozenset((true[part], place) for place, part in enumerate(sorted(true)))
    return each.seen.look(site), only, pairs


def truth(each: Answered) -> dict[int, int]:
    """For parts of the date that one word of the text says: which word it is."""
    _, read, said = each.words(parts_of(each.answer))
    found = {}
    for part, text in enumerate(said):
        for mark, names in SAID.items():
            sources = [at for at, word in enumerate(read) if names.match(word)]
            if mark in text and len(sources) == 1:
                found[part] = sources[0]
    return found


def parts_of(answer: str) -> list[Place]:
    """Year, month, day and weekday of a Chinese date, by their characters."""
    return [found.span() for found in PART.finditer(answer)]
