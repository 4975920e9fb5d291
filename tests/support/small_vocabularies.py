"""Small vocabularies in every published form, learned on the spot from a few sentences."""

import io
import json

from sentencepiece import SentencePieceTrainer
from tokenizers import BertWordPieceTokenizer, ByteLevelBPETokenizer

TEXT = (
    """The quick brown fox jumps over the lazy dog. Attention is all you need!
Wednesday, 18 November 2026. We're happy; they're not. 12,345.67 euros, hello there
我去银行申请贷款。 我坐在河边。 今天是2026年11月18日星期三。
Hello world, hello   there! Ünïcödé ﬁne Ａｂｃ naïve café zebra quartz vow
[CLS] and <s> are written like this: 🙂 👩‍👧 ok""".splitlines()
    * 20
)

# What a vocabulary may be given: plain, spaces of all kinds, Chinese, emoji, accents, special
# tokens written out, letters it never saw, nothing at all.
SENTENCES = (
    "Hello world, attention is all you need!",
    "  two  spaces  and\ttabs\nand lines  ",
    "今天我去银行🙂, 2026 ok",
    "Ünïcödé naïve café ﬁne Ａｂｃ HELLO",
    "👩‍👧 family ЖЖ ok Ж",
    "the </s> end <s> [SEP] [MASK] <mask> <unk> <pad> <|endoftext|>",
    "don't we're 12345 x-y_z ... !!",
    "",
    " ",
    "a",
    "x<extra_id_0> y <extra_id_4>",
    *TEXT[:6],
)


def write_json(path, settings):
    path.write_text(json.dumps(settings), encoding="utf-8")


def wordpiece(folder, **options):
    """A BERT folder with a vocab.txt."""
    tokenizer = BertWordPieceTokenizer(lowercase=options.get("do_lower_case", True))
    tokenizer.train_from_iterator(TEXT, vocab_size=220, show_progress=False)
    tokenizer.save_model(str(folder))
    write_json(folder / "config.json", {"model_type": "bert"})
    if options:
        write_json(folder / "tokenizer_config.json", options)


def byte_level(folder, model_type, special, **options):
    """A folder with a vocab.json and a merges.txt."""
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        TEXT, vocab_size=400, special_tokens=list(special), show_progress=False
    )
    tokenizer.save_model(str(folder))
    write_json(folder / "config.json", {"model_type": model_type})
    if options:
        write_json(folder / "tokenizer_config.json", options)


def sentencepiece(**options) -> bytes:
    """A SentencePiece model."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        minloglevel=2,
        **{"character_coverage": 0.98, "num_threads": 1, **options},
    )
    return model.getvalue()


def unigram(folder, **options):
    """A T5 folder with a spiece.model."""
    ids = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    model = sentencepiece(model_type="unigram", vocab_size=100, hard_vocab_limit=False, **ids)
    (folder / "spiece.model").write_bytes(model)
    write_json(folder / "config.json", {"model_type": "t5"})
    if options:
        write_json(folder / "tokenizer_config.json", options)


def pairs(folder, **options):
    """A Llama 2 folder with a tokenizer.model."""
    plain = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False}
    model = sentencepiece(
        model_type="bpe", vocab_size=480, byte_fallback=True, split_digits=True, **plain
    )
    (folder / "tokenizer.model").write_bytes(model)
    write_json(folder / "config.json", {"model_type": "llama"})
    write_json(folder / "tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer", **options})


def marian(folder):
    """A Marian folder: two SentencePiece models and the ids both share."""
    pieces = {"</s>": 0, "<unk>": 1}
    for side, size in (("source", 90), ("target", 100)):
        model = sentencepiece(model_type="unigram", vocab_size=size, hard_vocab_limit=False)
        (folder / f"{side}.spm").write_bytes(model)
        for piece in spelled(model):
            pieces.setdefault(piece, len(pieces))
    del pieces["▁w"]  # a piece one model cuts and the table lacks is unknown
    pieces = {piece: number for number, piece in enumerate([*pieces, ">>cmn<<", "<pad>"])}
    write_json(folder / "vocab.json", pieces)
    settings = {"source_lang": "en", "target_lang": "zh", "tokenizer_class": "MarianTokenizer"}
    write_json(folder / "tokenizer_config.json", settings)
    config = {"model_type": "marian", "decoder_start_token_id": pieces["<pad>"], "eos_token_id": 0}
    write_json(folder / "config.json", config)


def spelled(model: bytes) -> list[str]:
    """The pieces of a SentencePiece model but for its special ones."""
    from sentencepiece import SentencePieceProcessor

    cutter = SentencePieceProcessor(model_proto=model)
    return [cutter.id_to_piece(number) for number in range(3, len(cutter))]


def read(folder) -> dict[str, int]:
    """The ids in a vocab.json."""
    ids: dict[str, int] = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return ids
