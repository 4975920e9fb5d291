"""BERT's vocab.txt, one piece a line: words cut greedily into the longest pieces there are."""

from pathlib import Path

from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece

from .beside import Beside, ids_of


def read_wordpiece(path: Path, beside: Beside) -> Tokenizer:
    """The tokenizer of a vocab.txt."""
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ids = {piece.removesuffix("\r"): number for number, piece in enumerate(pieces)}
    options, special = beside.options, beside.special_tokens
    ends = (special.get("cls_token", "[CLS]"), special.get("sep_token", "[SEP]"))
    tokenizer = Tokenizer(WordPiece(ids, unk_token=special.get("unk_token", "[UNK]")))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(options.get("tokenize_chinese_chars", True)),
        strip_accents=options.get("strip_accents"),
        lowercase=bool(options.get("do_lower_case", True)),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    known = ids_of((*ends, special.get("unk_token", "[UNK]")), tokenizer)
    tokenizer.add_tokens(beside.added_tokens())
    first, last = ends
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first}:0 $A:0 {last}:0",
        pair=f"{first}:0 $A:0 {last}:0 $B:1 {last}:1",
        special_tokens=known[:2],
    )
    return tokenizer
