"""Vocabularies learned from text: every text comes back, in every language, from disk too."""

import logging

import pytest

from clearhead.foundation.errors import ConfigError, InputError
from clearhead.tokens import Learned, Pair, read_vocabulary

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Wednesday, 18 November 2026",
    "2026年11月18日星期三",
    "我们来学习注意力。",
    "私たちは注意を学びます。",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich",
    "the dog, the fox and the lazy cat",
] * 3
CUTS = ["words", "characters", "bpe", "unigram", "bytes"]
LOSSLESS = ["characters", "bpe", "unigram", "bytes"]


def learned(cut, size=400):
    return Learned(cut=cut, size=size).learn(TEXTS)


@pytest.mark.parametrize("cut", CUTS)
def test_special_tokens_come_first_and_texts_have_none_of_them(cut):
    vocabulary = learned(cut)
    special = vocabulary.specials
    assert (special.padding, special.unknown, special.start, special.end) == (0, 1, 2, 3)
    assert special.ends == (3,)
    assert vocabulary.size <= 400
    ids = vocabulary.ids_of(TEXTS)
    assert all(min(each[:-1]) > 3 for each in ids)
    assert {each[-1] for each in ids} == {3}
    assert ids == [list(vocabulary.encode(text).ids) for text in TEXTS]


@pytest.mark.parametrize("cut", LOSSLESS)
def test_every_text_comes_back(cut):
    vocabulary = learned(cut)
    for text in TEXTS:
        assert vocabulary.decode(vocabulary.encode(text).ids) == text


def test_words_are_cut_at_spaces_and_every_digit_by_itself():
    vocabulary = learned("words")
    pieces = vocabulary.encode("Wednesday, 18 November").pieces
    assert pieces == ("Wednesday", ",", "1", "8", "November", "</s>")
    assert vocabulary.encode("unheard").ids == (1, 3)


def test_bytes_know_every_text_and_others_say_what_they_do_not():
    assert learned("bytes").decode(learned("bytes").encode("ﬁ🙂").ids) == "ﬁ🙂"
    assert 1 in learned("characters").encode("🙂").ids


def test_two_ways_to_write_a_letter_are_one():
    vocabulary = learned("characters")
    assert vocabulary.encode("u\u0308ber").ids == vocabulary.encode("über").ids


@pytest.mark.parametrize("cut", CUTS)
def test_it_is_read_back_from_disk(cut, tmp_path):
    vocabulary = learned(cut)
    vocabulary.save(tmp_path)
    again = read_vocabulary(tmp_path)
    assert again.specials == vocabulary.specials
    assert [again.encode(text) for text in TEXTS] == [vocabulary.encode(text) for text in TEXTS]


def test_a_pair_reads_with_one_and_writes_with_the_other(tmp_path):
    reads, writes = learned("words"), learned("characters", 300)
    pair = Pair(reads, writes)
    pair.save(tmp_path)
    again = read_vocabulary(tmp_path)
    assert isinstance(again, Pair)
    for each in (pair, again):
        assert each.size == reads.size
        assert each.encode(TEXTS[0]) == reads.encode(TEXTS[0])
        assert each.ids_of(TEXTS) == reads.ids_of(TEXTS)
        assert each.decode([5, 6]) == reads.decode([5, 6])
        assert each.piece(7) == reads.piece(7)
        assert each.find("the") == reads.find("the")
        assert each.specials == reads.specials
        assert each.target.encode(TEXTS[2]) == writes.encode(TEXTS[2])
        assert each.target.specials == writes.specials


def test_the_same_texts_give_the_same_vocabulary():
    for cut in CUTS:
        if cut == "unigram":  # its docstring says that it is the exception
            continue
        one, other = learned(cut), learned(cut)
        assert one.tokenizer.to_str() == other.tokenizer.to_str()


@pytest.mark.parametrize("cut", [cut for cut in CUTS if cut != "bytes"])
def test_nothing_can_be_learned_from_nothing(cut):
    with pytest.raises(InputError, match="no text to learn a vocabulary from"):
        Learned(cut=cut).learn([])


@pytest.mark.parametrize("cut", CUTS)
def test_what_is_spelled_like_a_special_token_is_text(cut, tmp_path):
    vocabulary = Learned(cut=cut, size=400).learn([*TEXTS, "a </s> b <s> c <pad>"])
    vocabulary.save(tmp_path)
    Pair(vocabulary, vocabulary).save(tmp_path / "pair")
    for each in (vocabulary, read_vocabulary(tmp_path), read_vocabulary(tmp_path / "pair").target):
        ids = each.ids_of(["a </s> b <pad> c"])[0]
        assert not {0, 2, 3} & set(ids[:-1])
        if cut in LOSSLESS:
            assert each.decode(ids) == "a </s> b <pad> c"


def test_a_size_too_small_is_refused_or_said(caplog):
    for cut in ("bpe", "bytes", "unigram"):
        with pytest.raises(ConfigError, match=r"give at least that size|give a larger size"):
            Learned(cut=cut, size=16).learn(TEXTS)
    with caplog.at_level(logging.WARNING, "clearhead"):
        Learned(cut="characters", size=20).learn(TEXTS)
    assert "letters have no room in a vocabulary of 20" in caplog.text
