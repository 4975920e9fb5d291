"""Which words of a text each word of its translation looked at, by a model's cross-attention."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..foundation.errors import CannotError
from ..lens import Seen, Words, align, watch, words_of
from ..tokens import Encoded
from .model import Model

Place = tuple[int, int]  # first and one-past-last character of a word


@dataclass(frozen=True)
class Aligned:
    """A word of the answer, the word of the text it looked at most, and how hard."""

    source: str
    target: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A text and its answer, with all that the model's attention did between them."""

    text: str
    answer: str
    source: Encoded
    target: Encoded
    seen: Seen

    @property
    def sites(self) -> list[str]:
        """Every attention by which the answer looks at the text."""
        return [site for site in self.seen.sites if site.endswith("cross")]

    def words(self, places: Sequence[Place] | None = None) -> tuple[Words, list[str], list[str]]:
        """The words of both sides as pieces, and as they are written.

        Args:
            places: The words of the answer; what spaces and letters make of it when left out.
        """
        source = words_of(self.source.spans, self.text)
        if places is None:
            target = words_of(self.target.spans, self.answer)
        else:
            target = [pieces_at(self.target.spans, place) for place in places]
        shifted = [(start + 1, stop + 1) for start, stop in target]  # a decoder's start is piece 0
        read = [self.text[self.source.spans[a][0] : self.source.spans[b - 1][1]] for a, b in source]
        said = [
            self.answer[self.target.spans[a][0] : self.target.spans[b - 1][1]] for a, b in target
        ]
        return Words(source=source, target=shifted), read, said

    def aligned(
        self, site: str, heads: Sequence[int], places: Sequence[Place] | None = None
    ) -> list[Aligned]:
        """For each word of the answer the word of the text that these heads look at most."""
        words, read, said = self.words(places)
        found = align(self.seen.look(site), words, heads=heads)
        return [Aligned(read[each.source], said[each.target], each.score) for each in found.pairs]


def answered(model: Model, text: str, answer: str) -> Answered:
    """Run a text and its answer through the model, watched."""
    vocabulary = model.vocabulary()
    start = vocabulary.specials.start
    if start is None:
        raise CannotError(
            "The vocabulary does not say which token an answer starts after, so there is no answer "
            "to look at: put decoder_start_token_id into the model's generation_config.json."
        )
    source = vocabulary.encode(text)
    target = vocabulary.target.encode(answer, specials=False)
    ids = [torch.tensor([each], device=model.device) for each in (source.ids, (start, *target.ids))]
    with torch.inference_mode(), watch(model.network) as seen:
        model.network(*ids)
    return Answered(text=text, answer=answer, source=source, target=target, seen=seen)


def pieces_at(spans: Sequence[Place], place: Place) -> Place:
    """The pieces that stand at these characters."""
    inside = [
        number
        for number, (start, stop) in enumerate(spans)
        if start >= place[0] and stop <= place[1] and stop > start
    ]
    return inside[0], inside[-1] + 1
