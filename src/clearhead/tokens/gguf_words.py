"""A vocabulary as a GGUF file stores it: tokens, how they join, which stay whole."""

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE

from ..foundation.errors import CannotError, nearest
from .beside import Beside
from .byte_level import GPT_4O, LLAMA_3, QWEN, TEKKEN, byte_level, cut_by, frame
from .sentencepieces import implied_merges, keep_spaces
from .subwords import Subwords

CONTROL, USER_DEFINED = 3, 4  # kinds of tokens that stay whole
# How text is cut into words before bytes are joined, by the name llama.cpp gave it.
CUTS: dict[str, str | None] = {
    **dict.fromkeys(("default", "gpt-2", "smollm", "starcoder"), None),
    **dict.fromkeys(("llama3", "llama-v3", "llama-bpe", "falcon3", "smaug-bpe"), LLAMA_3),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), QWEN),
    "tekken": TEKKEN,
    "gpt-4o": GPT_4O,
}
DIGIT_BY_DIGIT = ("smollm", "starcoder")
SPECIAL = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad"}


def vocabulary_of_gguf(metadata: Mapping[str, Any]) -> Subwords:
    """The vocabulary in a GGUF file's metadata."""
    said = {
        key.removeprefix("tokenizer.").removeprefix("ggml."): value
        for key, value in metadata.items()
        if key.startswith("tokenizer.")
    }
    if said.get("model") == "gpt2":
        tokenizer = _byte_level(said)
    elif said.get("model") == "llama":
        tokenizer = _pairs(said)
    else:
        raise CannotError(
            f"The file's vocabulary is of kind {said.get('model')!r}, which is not read here. "
            "Known: gpt2 (bytes), llama (SentencePiece pairs). Use ids instead of text."
        )
    kinds = zip(said["tokens"], said.get("token_type", ()), strict=False)
    tokenizer.add_tokens(
        [
            AddedToken(token, normalized=False, special=kind == CONTROL)
            for token, kind in kinds
            if kind in (CONTROL, USER_DEFINED)
        ]
    )
    beside = _beside(said)
    tokenizer.add_tokens(beside.added_tokens())
    frame(tokenizer, beside)
    return Subwords(tokenizer, beside)


def _byte_level(said: Mapping[str, Any]) -> Tokenizer:
    cut = said.get("pre", "default")
    if cut not in CUTS:
        raise CannotError(
            f"The file's vocabulary cuts text into words the way of {cut!r}, which is not known "
            f"here.{nearest(cut, CUTS)} Known: {', '.join(CUTS)}. Use ids instead of text."
        )
    merges = [merge.split(" ") for merge in said["merges"]]
    ids = {token: number for number, token in enumerate(said["tokens"])}
    tokenizer = byte_level(ids, [(left, right) for left, right in merges])
    pattern = CUTS[cut]
    if pattern is not None:
        tokenizer.pre_tokenizer = cut_by(pattern)
    elif cut in DIGIT_BY_DIGIT:
        bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False)
        digits = pre_tokenizers.Digits(individual_digits=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_only])
    if pattern == QWEN:
        tokenizer.normalizer = normalizers.NFC()
    return tokenizer


def _pairs(said: Mapping[str, Any]) -> Tokenizer:
    """SentencePiece pairs: the likelier a piece, the earlier its parts are joined."""
    tokens = said["tokens"]
    ids = {token: number for number, token in enumerate(tokens)}
    if "merges" in said:
        merges = [(left, right) for left, right in (each.split(" ") for each in said["merges"])]
    else:
        ranks = {token: -score for token, score in zip(tokens, said["scores"], strict=True)}
        merges = implied_merges(ranks)
    unknown = tokens[said.get("unknown_token_id", 0)]
    tokenizer = Tokenizer(BPE(ids, merges, unk_token=unknown, fuse_unk=True, byte_fallback=True))
    keep_spaces(tokenizer, prefix=bool(said.get("add_space_prefix", True)), legacy=False)
    return tokenizer


def _beside(said: Mapping[str, Any]) -> Beside:
    """The settings around it, under the names `transformers` has for them."""
    begins = said["model"] == "llama" or CUTS.get(said.get("pre", "default")) == LLAMA_3
    options: dict[str, Any] = {
        "add_bos_token": bool(said.get("add_bos_token", begins)),
        "add_eos_token": bool(said.get("add_eos_token", False)),
    }
    for name, published in SPECIAL.items():
        number = said.get(f"{name}_token_id")
        if number is not None:
            options[f"{published}_token"] = said["tokens"][number]
    if "chat_template" in said:
        options["chat_template"] = said["chat_template"]
    ends = [said[key] for key in ("eos_token_id", "eot_token_id") if key in said]
    return Beside(options=options, generation={"eos_token_id": list(dict.fromkeys(ends))})
