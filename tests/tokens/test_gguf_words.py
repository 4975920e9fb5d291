"""Vocabularies in GGUF metadata: ids as `transformers` gives them from the same metadata."""

import re

import pytest
import small_vocabularies as small
from sentencepiece import SentencePieceProcessor
from transformers import AutoTokenizer
from transformers.integrations.gguf.gguf_tokenizer_mapping import convert_gguf_tokenizer

from clearhead.foundation.errors import CannotError
from clearhead.tokens import Specials, read_vocabulary, vocabulary_of_gguf
from clearhead.tokens.gguf_words import CUTS, DIGIT_BY_DIGIT

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
TEXTS = (*small.SENTENCES, "x 2024 a1b22 3333", "<|im_start|>user 去<|im_end|> HELLO HELLOs")


def byte_words(folder, **more):
    """Byte-level metadata, with two tokens that stay whole."""
    small.byte_level(folder, "gpt2", ("<|endoftext|>",))
    ids = small.read(folder)
    tokens = [*sorted(ids, key=ids.get), "<|im_start|>", "<|im_end|>", "HELLO"]
    merges = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    kinds = [CONTROL] + [NORMAL] * (len(tokens) - 4) + [CONTROL, CONTROL, USER_DEFINED]
    said = {
        "model": "gpt2",
        "tokens": tokens,
        "token_type": kinds,
        "merges": [merge for merge in merges if merge and not merge.startswith("#")],
        "bos_token_id": 400,
        "eos_token_id": 401,
        "padding_token_id": 0,
    }
    return said | more


def pair_words(folder, **more):
    """SentencePiece metadata, as llama.cpp writes it: scores instead of merges."""
    small.pairs(folder)
    model = SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))
    count = range(len(model))
    kinds = [
        UNKNOWN
        if model.is_unknown(n)
        else CONTROL
        if model.is_control(n)
        else BYTE
        if model.is_byte(n)
        else NORMAL
        for n in count
    ]
    said = {
        "model": "llama",
        "tokens": [model.id_to_piece(n) for n in count],
        "scores": [model.get_score(n) for n in count],
        "token_type": kinds,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
    }
    return said | more


def named(said):
    """The metadata under its full names."""
    return {f"tokenizer.ggml.{key}": value for key, value in said.items()}


def judge(said):
    """The tokenizer `transformers` builds from the same metadata, without its frame."""
    renamed = {"model": "tokenizer_type", "pre": "pre_tokenizer_type"}
    given = {renamed.get(key, key): value for key, value in said.items()}
    return convert_gguf_tokenizer("llama", given)[0]


def compare(said):
    ours, theirs = vocabulary_of_gguf(named(said)), judge(said)
    assert ours.size == theirs.get_vocab_size(with_added_tokens=True)
    for text in TEXTS:
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert list(ours.encode(text, specials=False).ids) == expected, text
        assert ours.decode(expected) == theirs.decode(expected, skip_special_tokens=True)


@pytest.mark.parametrize("cut", sorted(set(CUTS) - set(DIGIT_BY_DIGIT)))
def test_bytes_are_joined_as_in_transformers(tmp_path, cut):
    compare(byte_words(tmp_path, pre=cut))


@pytest.mark.parametrize("cut", DIGIT_BY_DIGIT)
def test_digits_are_cut_one_by_one_where_a_model_was_trained_so(tmp_path, cut):
    """Unlike in `transformers`, which does not look for these names."""
    said = byte_words(tmp_path, pre=cut)
    ours, theirs = vocabulary_of_gguf(named(said)), judge(said)
    joined = 0
    for text in TEXTS:
        parts = [theirs.encode(part).ids for part in re.split(r"(\d)", text)]
        expected = [number for part in parts for number in part]
        assert list(ours.encode(text).ids) == expected, text
        joined += theirs.encode(text).ids != expected
    assert joined


def test_pairs_are_joined_as_in_transformers_and_in_sentencepiece(tmp_path):
    said = pair_words(tmp_path)
    compare(said)
    ours = vocabulary_of_gguf(named(said))
    model = SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    for text in TEXTS:
        if "<" not in text and not text.startswith(" "):
            assert list(ours.encode(text, specials=False).ids) == model.encode(text)


def test_merges_a_file_lists_are_used(tmp_path):
    said = pair_words(tmp_path)
    plain = vocabulary_of_gguf(named(said)).encode("Hello world")
    fewer = vocabulary_of_gguf(named(said | {"merges": ["H e"]})).encode("Hello world")
    assert "He" in fewer.pieces
    assert len(fewer.ids) > len(plain.ids)
    assert fewer.pieces[-1] == "d"


def test_a_space_before_the_first_word_is_left_out_where_the_file_says_so(tmp_path):
    said = pair_words(tmp_path, add_space_prefix=False)
    assert vocabulary_of_gguf(named(said)).encode("world").pieces[-1] != "▁world"
    assert vocabulary_of_gguf(named(said)).decode([1]) == ""


@pytest.mark.parametrize(
    ("more", "first", "last"),
    [
        ({"model": "gpt2"}, False, False),
        ({"model": "gpt2", "add_bos_token": True, "add_eos_token": True}, True, True),
        ({"model": "gpt2", "pre": "llama-bpe"}, True, False),
        ({"model": "llama"}, True, False),
        ({"model": "llama", "add_bos_token": False}, False, False),
    ],
)
def test_a_text_is_framed_as_the_file_says_and_a_llama_begins_when_it_does_not(
    tmp_path, more, first, last
):
    said = (byte_words if more["model"] == "gpt2" else pair_words)(tmp_path, **more)
    ids = vocabulary_of_gguf(named(said)).encode("we").ids
    assert (ids[0] == said["bos_token_id"]) == first
    assert (ids[-1] == said["eos_token_id"]) == last


def test_special_ids_are_named_and_a_turn_may_end_an_answer(tmp_path):
    said = byte_words(tmp_path, eot_token_id=0)
    expected = Specials(beginning=400, end=401, padding=0, ends=(401, 0))
    assert vocabulary_of_gguf(named(said)).specials == expected


def test_what_is_saved_opens_here_and_in_transformers(tmp_path):
    said = named(byte_words(tmp_path, pre="qwen2")) | {"tokenizer.chat_template": "{{ hi }}"}
    ours = vocabulary_of_gguf(said)
    ours.save(tmp_path / "saved")
    again = read_vocabulary(tmp_path / "saved")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert again.specials == ours.specials
    assert theirs.chat_template == "{{ hi }}"
    for text in TEXTS:
        assert again.encode(text).ids == ours.encode(text).ids == tuple(theirs(text)["input_ids"])


def test_a_way_to_cut_words_we_do_not_know_is_refused(tmp_path):
    said = byte_words(tmp_path, pre="qwen3")
    expected = r"the way of 'qwen3', which is not known here. Did you mean 'qwen2'\? Known: default"
    with pytest.raises(CannotError, match=expected):
        vocabulary_of_gguf(named(said))


@pytest.mark.parametrize("kind", ["t5", None])
def test_another_kind_of_vocabulary_is_refused(kind):
    expected = re.escape(f"is of kind {kind!r}, which is not read here. Known: gpt2 (bytes), llama")
    with pytest.raises(CannotError, match=expected):
        vocabulary_of_gguf({} if kind is None else {"tokenizer.ggml.model": kind})
