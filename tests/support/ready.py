"""Tiny models with a vocabulary, as `load` returns them."""

from dataclasses import replace
from typing import Any

import tiny
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from clearhead.checkpoints.parts import Provenance
from clearhead.tasks import Model
from clearhead.tokens import Subwords
from clearhead.tokens.beside import Beside

WORDS = ("</s>", "<unk>", "the", "cat", "dog", "sat", "ran", "on", "mat", "and", "a", "red", "blue")
SPELLED = dict(zip(WORDS, range(len(WORDS)), strict=True))


def vocabulary(**generation: int | None) -> Subwords:
    """One id a word; a text is cut at spaces, and an answer ends with `</s>`.

    `generation` is what a generation_config.json says: `decoder_start_token_id` and so on.
    """
    tokenizer = Tokenizer(WordLevel(SPELLED, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.add_special_tokens(["</s>", "<unk>"])
    options = {"eos_token": "</s>", "unk_token": "<unk>"}
    return Subwords(tokenizer, Beside(options=options, generation=generation))


def resized(spec: Any) -> Any:
    """The same architecture over this vocabulary."""
    output = spec.output
    if hasattr(output, "vocabulary"):
        output = replace(output, vocabulary=len(WORDS))
    return replace(spec, input=replace(spec.input, vocabulary=len(WORDS)), output=output)


def model(spec: Any, *, seed: int = 0, **changes: Any) -> Model:
    """A model of this architecture, in float32, with the vocabulary unless told otherwise."""
    parts = {"tokens": vocabulary(), "provenance": Provenance(source="a test")} | changes
    network = tiny.made(spec, seed=seed, dtype=torch.float32)
    return Model(network=network, config=spec, **parts)


def translator(*, seed: int = 0, **changes: Any) -> Model:
    """An encoder-decoder with the vocabulary; an answer starts after `<unk>`."""
    return model(TRANSLATOR, seed=seed, **{"tokens": STARTING} | changes)


ENCODER = resized(tiny.ENCODERS["encoder, learned, types, masked"])
DECODER = resized(tiny.DECODERS["decoder, rotary, window"])
TRANSLATOR = tiny.TRANSLATORS["encoder-decoder, buckets, grouped"]
TRANSLATOR = replace(
    TRANSLATOR, encoder=resized(TRANSLATOR.encoder), decoder=resized(TRANSLATOR.decoder)
)
STARTING = vocabulary(decoder_start_token_id=1)
