"""A vocabulary learned from text: words, characters, byte pairs, unigrams, bytes.

The `tokenizers` library learns and runs it; this file says how text is cut before.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import normalize

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from ..config import setting
from ..foundation.errors import ConfigError, InputError
from ..foundation.log import log
from .beside import Beside
from .subwords import Subwords

NEVER = -1e6  # a score that any other way to cut beats
PADDING, UNKNOWN, START, END = SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass(frozen=True, kw_only=True)
class Learned:
    """How a vocabulary is learned.

    Every text gets the token that ends it. `words` are cut at spaces and punctuation, each digit
    by itself; `characters` need no size that matters; `bpe` and `unigram` cut words into pieces
    and bring every space back; `bytes` are byte pairs, for which no text is unknown. The same texts
    give the same vocabulary, but for `unigram`, whose scores the library adds up in any order.
    """

    cut: Literal["words", "characters", "bpe", "unigram", "bytes"] = setting(
        "bpe", help="what a token is"
    )
    size: int = setting(8000, help="how many tokens at most, special ones included", minimum=16)

    def learn(self, texts: Iterable[str]) -> Subwords:
        """The vocabulary of these texts; padding, unknown, start and end come first."""
        tokenizer = Tokenizer(_model(self.cut))
        # Of two ways to write one letter, the composed one.
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = _cutter(self.cut)
        decoder = _joiner(self.cut)
        if decoder is not None:
            tokenizer.decoder = decoder
        letters: set[str] = set()
        self._train(tokenizer, _noted(texts, letters))
        if self.cut == "unigram":
            tokenizer.model = _never_special(tokenizer)
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"$A {END}", special_tokens=[(END, SPECIALS.index(END))]
        )
        if tokenizer.get_vocab_size() <= len(SPECIALS):
            raise InputError(
                "There is no text to learn a vocabulary from: give files with at least one word."
            )
        self._check(tokenizer, letters)
        return Subwords(tokenizer, BESIDE)

    def _train(self, tokenizer: Tokenizer, texts: Iterable[str]) -> None:
        try:
            tokenizer.train_from_iterator(texts, _trainer(self.cut, self.size))
        except Exception as error:  # the library has no error of its own
            raise ConfigError(
                f"No vocabulary of {self.size} tokens can be learned ({error}): give a larger size."
            ) from error

    def _check(self, tokenizer: Tokenizer, letters: set[str]) -> None:
        """Refuse more tokens than were asked for; say which letters there was no room for."""
        if tokenizer.get_vocab_size() > self.size:
            raise ConfigError(
                f"A vocabulary of {self.size} tokens has no room for every letter and the special "
                f"tokens, which are {tokenizer.get_vocab_size()}: give at least that size."
            )
        missing = [letter for letter in letters if tokenizer.token_to_id(letter) is None]
        if self.cut == "characters" and missing:
            log("tokens").warning(
                f"{len(missing)} of {len(letters)} letters have no room in a vocabulary of "
                f"{self.size} and will be unknown: give a size of {len(letters) + len(SPECIALS)}."
            )


def _noted(texts: Iterable[str], letters: set[str]) -> Iterator[str]:
    """The same texts; their letters are noted on the way."""
    for text in texts:
        letters.update(normalize("NFC", text))
        yield text


def _never_special(tokenizer: Tokenizer) -> Any:
    """The same unigrams; a special token is never the best way to cut what is spelled like it."""
    stored = json.loads(tokenizer.to_str())["model"]
    pairs = [(piece, NEVER if piece in SPECIALS else score) for piece, score in stored["vocab"]]
    return models.Unigram(pairs, unk_id=stored["unk_id"], byte_fallback=False)


BESIDE = Beside(
    options={
        "pad_token": PADDING,
        "unk_token": UNKNOWN,
        "bos_token": START,
        "eos_token": END,
        "split_special_tokens": True,
    },
    generation={"decoder_start_token_id": SPECIALS.index(START)},
)


def _model(cut: str) -> Any:
    if cut in ("words", "characters"):
        return models.WordLevel(unk_token=UNKNOWN)
    if cut == "unigram":
        return models.Unigram()
    return models.BPE(unk_token=None if cut == "bytes" else UNKNOWN)


def _cutter(cut: str) -> Any:
    """How text is cut before pieces are learned; nothing is lost but at the cuts of `words`."""
    if cut == "words":
        return pre_tokenizers.Sequence(
            [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
        )
    if cut == "characters":
        return pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    if cut == "bytes":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    return pre_tokenizers.Metaspace()


def _joiner(cut: str) -> Any:
    if cut == "characters":
        return decoders.Fuse()
    if cut == "bytes":
        return decoders.ByteLevel()
    return None if cut == "words" else decoders.Metaspace()


def _trainer(cut: str, size: int) -> Any:
    settings: dict[str, Any] = {
        "vocab_size": size,
        "special_tokens": list(SPECIALS),
        "show_progress": False,
    }
    if cut in ("words", "characters"):
        return trainers.WordLevelTrainer(**settings)
    if cut == "unigram":
        return trainers.UnigramTrainer(unk_token=UNKNOWN, **settings)
    if cut == "bytes":
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        return trainers.BpeTrainer(initial_alphabet=alphabet, **settings)
    return trainers.BpeTrainer(**settings)
