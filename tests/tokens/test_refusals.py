"""Vocabularies that cannot be used are refused in a sentence that says what to do."""

import sys

import pytest
import small_vocabularies as small

from clearhead.foundation.errors import FileError, InputError, MissingPartError
from clearhead.tokens import read_vocabulary


@pytest.mark.parametrize("module", ["sentencepiece", "google.protobuf"])
@pytest.mark.parametrize("form", [small.unigram, small.marian])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path, monkeypatch, form, module
):
    form(tmp_path)
    for name in [name for name in sys.modules if name.startswith((module, "sentencepiece."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    expected = r"needs the package .*, which is not installed: pip install 'clearhead\[formats\]'"
    with pytest.raises(MissingPartError, match=expected):
        read_vocabulary(tmp_path).encode("Hello")


def test_a_damaged_tokenizer_json_is_refused(tmp_path):
    (tmp_path / "tokenizer.json").write_text('{"model": ', encoding="utf-8")
    with pytest.raises(FileError, match=r"tokenizer.json is not a tokenizer .* Copy it again"):
        read_vocabulary(tmp_path)


def test_settings_that_are_not_json_are_refused(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(FileError, match=r"tokenizer_config.json is not JSON .* Copy it again"):
        read_vocabulary(tmp_path)


@pytest.mark.parametrize(
    ("form", "lost", "kept"),
    [
        (small.marian, "target.spm", "source.spm, vocab.json"),
        (small.marian, "vocab.json", "source.spm, target.spm"),
        (lambda folder: small.byte_level(folder, "gpt2", ()), "merges.txt", "vocab.json"),
        (lambda folder: small.byte_level(folder, "gpt2", ()), "vocab.json", "merges.txt"),
    ],
)
def test_half_a_vocabulary_is_refused_with_the_half_that_is_missing(tmp_path, form, lost, kept):
    form(tmp_path)
    (tmp_path / lost).unlink()
    expected = f"has {kept} and no {lost}: only together are they a vocabulary"
    with pytest.raises(FileError, match=expected):
        read_vocabulary(tmp_path)


def test_merges_of_another_vocabulary_are_refused(tmp_path):
    small.byte_level(tmp_path, "gpt2", ())
    with (tmp_path / "merges.txt").open("a", encoding="utf-8") as file:
        file.write("Ġqu xyz\n")
    with pytest.raises(FileError, match=r"line \d+: 'Ġqu xyz' is not a pair whose parts and whole"):
        read_vocabulary(tmp_path)


def test_a_bert_vocabulary_without_its_special_tokens_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\nhello\n", encoding="utf-8")
    small.write_json(tmp_path / "config.json", {"model_type": "bert"})
    with pytest.raises(FileError, match=r"has no \[SEP\], which its model puts around every text"):
        read_vocabulary(tmp_path)


@pytest.mark.parametrize("contents", [b"", b"IQ== 0\nIg== 1\n", b"\x0a\x05\x0a"])
@pytest.mark.parametrize("name", ["spiece.model", "tokenizer.model"])
def test_a_damaged_sentencepiece_file_is_refused(tmp_path, name, contents):
    (tmp_path / name).write_bytes(contents)
    with pytest.raises(FileError, match=rf"{name} is not a SentencePiece model .* tokenizer.json"):
        read_vocabulary(tmp_path)


def test_a_sentencepiece_model_of_words_is_refused(tmp_path):
    model = small.sentencepiece(model_type="word", vocab_size=20)
    (tmp_path / "spiece.model").write_bytes(model)
    with pytest.raises(FileError, match=r"of kind 3, which is neither unigram \(1\) nor pairs"):
        read_vocabulary(tmp_path)


def test_a_damaged_side_is_refused(tmp_path):
    small.marian(tmp_path)
    (tmp_path / "source.spm").write_bytes(b"no model")
    with pytest.raises(
        FileError, match=r"source.spm is not a SentencePiece model .* Copy it again"
    ):
        read_vocabulary(tmp_path)


def test_a_shared_table_without_an_unknown_piece_is_refused(tmp_path):
    small.marian(tmp_path)
    small.write_json(tmp_path / "vocab.json", {"</s>": 0})
    with pytest.raises(FileError, match=r"vocab.json has no <unk>, which stands for all"):
        read_vocabulary(tmp_path)


def test_a_table_of_ids_for_each_side_is_refused(tmp_path):
    small.marian(tmp_path)
    small.write_json(tmp_path / "tokenizer_config.json", {"separate_vocabs": True})
    with pytest.raises(FileError, match=r"a table of ids each \(separate_vocabs\)"):
        read_vocabulary(tmp_path)


def test_a_pair_for_a_vocabulary_that_takes_one_text_is_refused(tmp_path):
    small.marian(tmp_path)
    with pytest.raises(InputError, match=r"takes one text, not a pair"):
        read_vocabulary(tmp_path).encode("one", "two")


@pytest.mark.parametrize("form", [small.wordpiece, small.marian])
def test_an_id_outside_the_vocabulary_is_refused(tmp_path, form):
    form(tmp_path)
    vocabulary = read_vocabulary(tmp_path)
    size = vocabulary.size
    for outside in (-1, size):
        expected = rf"Id {outside} is outside the vocabulary of {size}: ids go from 0 to {size - 1}"
        with pytest.raises(InputError, match=expected):
            vocabulary.decode([3, outside, 4])
        with pytest.raises(InputError, match=expected):
            vocabulary.piece(outside)
    assert vocabulary.decode([]) == ""
