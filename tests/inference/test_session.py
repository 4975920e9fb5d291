"""A session: a decoder step by step says what it says of the whole text, whatever rows go on."""

from dataclasses import replace

import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearhead.foundation.errors import CannotError
from clearhead.inference.beam import Search, beam_search
from clearhead.inference.session import Session
from clearhead.inference.step import Step

SPOKEN = [name for name, spec in tiny.DECODERS.items() if hasattr(spec.output, "scale")]
LENGTHS = torch.tensor([7, 3, 5])


class Whole:
    """A step without a memory: it reads every text, and its source, from the start each time."""

    def __init__(self, network, source=None, lengths=None):
        self.network, self.source, self.lengths = network, source, lengths
        self.texts = None

    def __call__(self, newest_BT, rows):
        if self.texts is None:
            self.texts, self.prompt = newest_BT, list(range(len(newest_BT)))
        else:
            rows = list(range(len(self.texts))) if rows is None else rows
            self.texts = torch.cat([self.texts[rows], newest_BT], 1)
            self.prompt = [self.prompt[row] for row in rows]
        return torch.stack([self.scores(row) for row in range(len(self.texts))])

    def scores(self, row):
        given = [self.texts[row : row + 1]]
        if self.source is not None:
            prompt = self.prompt[row]
            given = [self.source[prompt : prompt + 1, : self.lengths[prompt]], *given]
        return self.network(*given).logits_BTV[0, -1]


def session(network, source, *, lengths=LENGTHS) -> Session:
    memory = network.encoder(source, lengths_B=lengths).hidden_BTM
    return Session(network.decoder, memory, lengths_B=lengths)


walks = st.lists(
    st.one_of(st.none(), st.lists(st.integers(0, 99), min_size=1, max_size=5)),
    min_size=1,
    max_size=5,
)


def walk(one: Step, other: Step, prompts, moves):
    """The same random way through both."""
    tiny.close(one(prompts, None), other(prompts, None))
    size = len(prompts)
    for number, move in enumerate(moves):
        rows = None if move is None else [row % size for row in move]
        size = size if rows is None else len(rows)
        newest = tiny.ids(number, size, 1)
        tiny.close(one(newest, rows), other(newest, rows))


@torch.no_grad()
@settings(max_examples=15)
@given(moves=walks)
@pytest.mark.parametrize("name", SPOKEN)
def test_a_decoder_says_of_rows_that_move_what_it_says_of_whole_texts(name, moves):
    network = tiny.made(tiny.DECODERS[name])
    walk(Session(network), Whole(network), tiny.ids(5, 3, 4), moves)


@torch.no_grad()
@settings(max_examples=15)
@given(moves=walks)
@pytest.mark.parametrize("name", tiny.TRANSLATORS)
def test_a_translator_says_of_rows_that_move_what_it_says_of_whole_texts(name, moves):
    network, source = tiny.made(tiny.TRANSLATORS[name]), tiny.ids(4, 3, 7)
    whole = Whole(network, source, LENGTHS)
    walk(session(network, source), whole, tiny.ids(5, 3, 2), moves)


@torch.no_grad()
@pytest.mark.parametrize("name", [*SPOKEN, *tiny.TRANSLATORS])
@pytest.mark.parametrize("seed", range(3))
def test_beams_over_a_past_find_what_beams_over_whole_texts_find(name, seed):
    network = tiny.made((tiny.DECODERS | tiny.TRANSLATORS)[name], seed=seed)
    source = tiny.ids(seed, 3, 7) if name in tiny.TRANSLATORS else None
    step = Session(network) if source is None else session(network, source)
    search = Search(stops=(3, 7, 11, 15), beams=4)
    prompts, limits = tiny.ids(8 + seed, 3, 2), [9, 5, 12]
    found = beam_search(step, prompts, search, max_tokens=limits)
    wanted = beam_search(Whole(network, source, LENGTHS), prompts, search, max_tokens=limits)
    for one, other in zip(found, wanted, strict=True):
        assert [each.ids for each in one] == [each.ids for each in other]
        scores = [torch.tensor([each.score for each in both]) for both in (one, other)]
        torch.testing.assert_close(*scores, atol=1e-10, rtol=0)


@torch.no_grad()
def test_a_memory_is_moved_only_when_rows_are_of_other_prompts():
    network = tiny.made(tiny.TRANSLATORS["encoder-decoder, shared words"])
    step = session(network, tiny.ids(4, 3, 7))
    step(tiny.ids(1, 3, 1), None)
    step(tiny.ids(2, 5, 1), [0, 0, 1, 2, 2])
    memory = step.memory_BSM
    step(tiny.ids(3, 5, 1), [1, 0, 2, 4, 4])
    assert step.memory_BSM is memory
    assert memory.shape[0] == 5
    step(tiny.ids(3, 3, 1), [2, 3, 4])
    assert step.memory_BSM.shape[0] == 3
    assert step.lengths_B.tolist() == [3, 5, 5]


@torch.no_grad()
def test_a_memory_without_padding_needs_no_lengths():
    network, source = (
        tiny.made(tiny.TRANSLATORS["encoder-decoder, shared words"]),
        tiny.ids(4, 3, 7),
    )
    walk(
        session(network, source, lengths=None),
        Whole(network, source, torch.tensor([7, 7, 7])),
        tiny.ids(5, 3, 2),
        [[2, 0, 0], None, [1]],
    )


def test_a_decoder_without_scores_is_refused():
    for spec in (tiny.DECODERS["decoder, buckets"], replace(tiny.DECODERS[SPOKEN[0]], output=None)):
        with pytest.raises(CannotError, match=r"no output over words: load it with its head"):
            Session(tiny.made(spec))
