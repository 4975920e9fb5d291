"""Texts through an encoder-decoder: each is read once, and its answer searched word by word."""

from collections.abc import Iterator, Sequence

import torch

from ..attention import tell_returned
from ..foundation.errors import CannotError, InputError
from ..inference.beam import Search, beam_search
from ..inference.lengths import average
from ..inference.session import Session
from ..layers import WordInput
from ..models import EncoderDecoderNetwork, Network
from ..tokens import Encoded, Vocabulary
from .batch import check_texts, padded

TEXTS, TOKENS = 64, 2048  # of one batch: beams, and scores of all words, must fit beside it
MOST_BEAMS = 256
LONGER = 50  # tokens an answer may have more than its source (Vaswani et al. 2017, section 6.1)


def translate(
    network: EncoderDecoderNetwork,
    vocabulary: Vocabulary,
    texts: Sequence[str],
    search: Search,
    *,
    max_tokens: int | None,
) -> list[str]:
    """The best answer to each text, in the order of the texts; see `Model.translate`."""
    start = _start(vocabulary)
    sources = _encoded(vocabulary, texts)
    limits = _limits(network, sources, max_tokens)
    device = next(network.parameters()).device
    answers = [""] * len(texts)
    for places in in_batches([len(source.ids) for source in sources]):
        given = padded([sources[place] for place in places], device)
        with torch.inference_mode():
            memory_BSM = network.encoder(given.ids_BT, lengths_B=given.lengths_B).hidden_BTM
        found = beam_search(
            Session(network.decoder, memory_BSM, lengths_B=given.lengths_B),
            torch.full((len(places), 1), start, device=device),
            search,
            max_tokens=[limits[place] for place in places],
        )
        end = list(search.stops)[:1]
        tell_returned(network.decoder, [[start, *best.ids, *end] for best, *_ in found])
        for place, (best, *_) in zip(places, found, strict=True):
            answers[place] = vocabulary.target.decode(best.ids)
    return answers


def text_translator(network: Network) -> EncoderDecoderNetwork:
    """The network, where it reads text and writes text."""
    if not isinstance(network, EncoderDecoderNetwork):
        raise CannotError(
            "Only an encoder-decoder translates, and this model is an encoder or a decoder alone. "
            "Load a translator, for example a Marian or T5 folder; a decoder can generate."
        )
    if not isinstance(network.encoder.input, WordInput):
        raise CannotError(
            "This model reads pictures or sound and not text, so it has no text to translate: "
            "call .network with what it reads."
        )
    return network


def search_for(
    network: EncoderDecoderNetwork, vocabulary: Vocabulary, *, beams: int, alpha: float
) -> Search:
    """A beam search for answers that this vocabulary can spell, padding not being one of them."""
    if beams > MOST_BEAMS:
        raise InputError(
            f"{beams} beams would fill the memory and find nothing better: give {MOST_BEAMS} at "
            "most; papers take 4 or 5."
        )
    specials = vocabulary.specials
    if not specials.ends:
        raise CannotError(
            "The vocabulary names no token that ends an answer, so none would end: put "
            "eos_token_id into the model's generation_config.json."
        )
    unspelled = range(vocabulary.target.size, network.decoder.spec.input.vocabulary)
    padding = specials.padding
    never = unspelled if padding is None or padding in specials.ends else (*unspelled, padding)
    return Search(stops=specials.ends, beams=beams, never=never, divide=average(alpha))


def in_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Which texts go together: those of like length, the longest first.

    A batch has at most `TEXTS` texts, and with its padding `TOKENS` tokens, or is one text.
    """
    left = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    while left:
        count = max(1, min(TEXTS, TOKENS // lengths[left[0]]))
        yield left[:count]
        left = left[count:]


def _start(vocabulary: Vocabulary) -> int:
    start = vocabulary.specials.start
    if start is None:
        raise CannotError(
            "The vocabulary does not say which token an answer starts after: put "
            "decoder_start_token_id into the model's generation_config.json."
        )
    return start


def _encoded(vocabulary: Vocabulary, texts: Sequence[str]) -> list[Encoded]:
    check_texts(texts)
    sources = [vocabulary.encode(text) for text in texts]
    for text, source in zip(texts, sources, strict=True):
        if not source.ids or not text.strip():
            raise InputError(
                f"The text {text!r} has no tokens, so there is nothing to translate: leave it out."
            )
    return sources


def _limits(
    network: EncoderDecoderNetwork, sources: Sequence[Encoded], max_tokens: int | None
) -> list[int]:
    """How many tokens each answer may have."""
    positions = network.decoder.spec.input.positions
    room = None if positions is None else positions.length
    if max_tokens is None:
        wanted = [len(source.ids) + LONGER for source in sources]
        return wanted if room is None else [min(each, room) for each in wanted]
    if room is not None and max_tokens > room:
        raise InputError(
            f"An answer may have {max_tokens} tokens and this model was made for {room}: give a "
            "max_tokens that is not larger."
        )
    return [max_tokens] * len(sources)
