"""What a folder says beside its vocabulary, in the files `transformers` writes.

tokenizer_config.json      the class it was published as, its options, its special tokens
special_tokens_map.json    special tokens again, in older folders
added_tokens.json          tokens added behind the vocabulary, in older folders
generation_config.json, config.json    ids a generator needs
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from ..foundation.errors import FileError
from ..foundation.json_file import read_json_if_there

NAMES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
BERT = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
ENDOFTEXT = {"unk": "<|endoftext|>", "bos": "<|endoftext|>", "eos": "<|endoftext|>"}
ROBERTA = {
    **{"bos": "<s>", "eos": "</s>", "sep": "</s>", "cls": "<s>"},
    **{"unk": "<unk>", "pad": "<pad>", "mask": "<mask>"},
}
# The special tokens a published class has where its folder does not say.
DEFAULTS: dict[str, dict[str, str]] = {
    "BertTokenizer": BERT,
    "DistilBertTokenizer": BERT,
    "ElectraTokenizer": BERT,
    "GPT2Tokenizer": ENDOFTEXT,
    "WhisperTokenizer": ENDOFTEXT,
    "Qwen2Tokenizer": {"unk": "<|endoftext|>", "eos": "<|endoftext|>", "pad": "<|endoftext|>"},
    "RobertaTokenizer": ROBERTA,
    "BartTokenizer": ROBERTA,
    "LlamaTokenizer": {"unk": "<unk>", "bos": "<s>", "eos": "</s>"},
    "T5Tokenizer": {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"},
    "MarianTokenizer": {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"},
}
# The class a folder means that names only its model.
BY_MODEL = {
    "bert": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "gpt2": "GPT2Tokenizer",
    "whisper": "WhisperTokenizer",
    "qwen2": "Qwen2Tokenizer",
    "qwen3": "Qwen2Tokenizer",
    "roberta": "RobertaTokenizer",
    "bart": "RobertaTokenizer",
    "llama": "LlamaTokenizer",
    "mistral": "LlamaTokenizer",
    "t5": "T5Tokenizer",
    "marian": "MarianTokenizer",
}


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The settings around a vocabulary.

    `options` is tokenizer_config.json, `added` the ids of tokens added behind the vocabulary,
    `config` and `generation` are config.json and generation_config.json, `published_as` is the
    class, "" when unknown.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    added: Mapping[str, int] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] = field(default_factory=dict)
    published_as: str = ""

    @property
    def special_tokens(self) -> dict[str, str]:
        """Special tokens by their published name: `eos_token` and so on."""
        found = {}
        for name in NAMES:
            key = f"{name}_token"
            given = self.options.get(key, DEFAULTS.get(self.published_as, {}).get(name))
            if given is not None:
                found[key] = str(_token(given))
        return found

    @property
    def ids(self) -> dict[str, Any]:
        """Special ids by their published name: `eos_token_id` and so on."""
        return {**self.config, **self.generation}

    def added_tokens(self) -> list[AddedToken]:
        """Tokens that stay whole in a text, in the order of the ids they were given."""
        listed = sorted((int(key), given) for key, given in self._listed().items())
        named = [self.options.get(key, text) for key, text in self.special_tokens.items()]
        return [
            *(_token(given, special=None) for _, given in listed),
            *(_token(given) for given in named),
            *(_token(given) for given in self.extras()),
            *(_token(text, special=False) for text, _ in sorted(self.added.items(), key=_second)),
        ]

    def _listed(self) -> Mapping[str, Any]:
        listed: Mapping[str, Any] = self.options.get("added_tokens_decoder") or {}
        return listed

    def extras(self) -> list[Any]:
        """Special tokens without a role."""
        found: list[Any] = []
        for key in ("extra_special_tokens", "additional_special_tokens"):
            given = self.options.get(key) or ()
            found += given.values() if isinstance(given, Mapping) else given
        return found


def read_beside(folder: Path) -> Beside:
    """What the folder's settings say."""
    options = read_json_if_there(folder / "tokenizer_config.json")
    config = read_json_if_there(folder / "config.json")
    named = str(options.get("tokenizer_class") or config.get("tokenizer_class") or "")
    named = named.removesuffix("Fast")
    known = named in DEFAULTS
    return Beside(
        options={**read_json_if_there(folder / "special_tokens_map.json"), **options},
        added=read_json_if_there(folder / "added_tokens.json"),
        config=config,
        generation=read_json_if_there(folder / "generation_config.json"),
        published_as=named if known else BY_MODEL.get(str(config.get("model_type")), ""),
    )


def _token(given: object, *, special: bool | None = True) -> AddedToken:
    """A token as settings give it: its text, or a table with its text and options."""
    if not isinstance(given, Mapping):
        return AddedToken(str(given), special=bool(special), normalized=False)
    flags = ("single_word", "lstrip", "rstrip", "normalized")
    return AddedToken(
        str(given["content"]),
        special=bool(given.get("special", False)) if special is None else special,
        **{flag: bool(given[flag]) for flag in flags if flag in given},
    )


def _second(pair: tuple[str, int]) -> int:
    return pair[1]


def ids_of(pieces: Iterable[str], tokenizer: Tokenizer) -> list[tuple[str, int]]:
    """Special tokens with their ids."""
    found = {piece: tokenizer.token_to_id(piece) for piece in pieces}
    missing = [piece for piece, number in found.items() if number is None]
    if missing:
        raise FileError(
            f"The vocabulary has no {', '.join(missing)}, which its model puts around every text. "
            "Use the vocabulary files that came with the model."
        )
    return [(piece, number) for piece, number in found.items() if number is not None]
