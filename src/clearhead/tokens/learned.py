"""A vocabulary learned from text: words, characters, byte pairs, unigrams, bytes.

The `tokenizers` library learns and runs it; this file says how text is cut before.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

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
from ..foundation.errors import InputError
from .beside import Beside
from .subwords import Subwords

PADDING, UNKNOWN, START, END = SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")


@dataclass(frozen=True, kw_only=True)
class Learned:
    """How a vocabulary is learned.

    Every text gets the token that ends it. `words` are cut at spaces and punctuation, each digit
    by itself; `characters` need no size that matters; `bpe` and `unigram` cut words into pieces
    and bring every space back; `bytes` are byte pairs, for which no text is unknown.
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
        tokenizer.train_from_iterator(texts, _trainer(self.cut, self.size))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"$A {END}", special_tokens=[(END, SPECIALS.index(END))]
        )
        if tokenizer.get_vocab_size() <= len(SPECIALS):
            raise InputError(
                "There is no text to learn a vocabulary from: give files with at least one word."
            )
        return Subwords(tokenizer, BESIDE)


BESIDE = Beside(
    options={
        "pad_token": PADDING,
        "unk_token": UNKNOWN,
        "bos_token": START,
        "eos_token": END,
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
