"""SentencePiece's .model files, turned into a tokenizer of the `tokenizers` library.

A space is written ▁ and belongs to the word after it. Pieces are found by their probability
(unigram: T5) or by joining pairs (BPE with bytes to fall back on: Llama 2, Mistral).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram

from ..foundation.errors import FileError
from ..foundation.optional import need
from .beside import Beside, ids_of
from .byte_level import frame

SPACE = "▁"
UNIGRAM, PAIRS = 1, 2  # SentencePiece's numbers for its two kinds of model
CONTROL, USER_DEFINED = 3, 4  # and for pieces that stay whole


def read_sentencepiece(path: Path, beside: Beside) -> Tokenizer:
    """The tokenizer of a .model file."""
    model = parse(path)
    is_t5 = beside.published_as == "T5Tokenizer"
    kind = model.trainer_spec.model_type
    if kind not in (UNIGRAM, PAIRS):
        raise FileError(
            f"{path} is a SentencePiece model of kind {kind}, which is neither unigram (1) nor "
            "pairs (2): no model here uses it. Use the tokenizer that came with the model."
        )
    extra = int(beside.options.get("extra_ids", 100)) if is_t5 else 0
    tokenizer = Tokenizer(_unigram(model, extra) if kind == UNIGRAM else _pairs(model))
    _add_spaces(tokenizer, model, legacy=bool(beside.options.get("legacy", False)))
    tokenizer.add_tokens(
        [
            AddedToken(piece.piece, normalized=False, special=piece.type == CONTROL)
            for piece in model.pieces
            if piece.type in (CONTROL, USER_DEFINED)
        ]
        + [AddedToken(f"<extra_id_{number}>", special=True) for number in range(extra)]
    )
    tokenizer.add_tokens(beside.added_tokens())
    if is_t5:
        end = beside.special_tokens["eos_token"]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=["$A", end],
            pair=["$A", end, "$B", end],
            special_tokens=ids_of((end,), tokenizer),
        )
    else:
        frame(tokenizer, beside)
    return tokenizer


def parse(path: Path) -> Any:
    """The contents of a SentencePiece file."""
    purpose = f"Reading the SentencePiece vocabulary {path.name}"
    schema = need("sentencepiece.sentencepiece_model_pb2", extra="formats", purpose=purpose)
    errors = need("google.protobuf.message", extra="formats", purpose=purpose)
    model, trouble = schema.ModelProto(), ""
    try:
        model.ParseFromString(path.read_bytes())
    except errors.DecodeError as error:
        trouble = str(error)
    if not model.pieces:
        trouble = trouble or "it holds no pieces"
    if trouble:
        raise FileError(
            f"{path} is not a SentencePiece model ({trouble}): it is damaged, or a vocabulary of "
            "another kind with the same name. Copy it again, or put a tokenizer.json beside it."
        )
    return model


def _unigram(model: Any, extra: int) -> Unigram:
    pieces = [(piece.piece, piece.score) for piece in model.pieces]
    pieces += [(f"<extra_id_{number}>", 0.0) for number in reversed(range(extra))]
    spec = model.trainer_spec
    return Unigram(pieces, unk_id=spec.unk_id, byte_fallback=spec.byte_fallback)


def _pairs(model: Any) -> BPE:
    ids = {piece.piece: number for number, piece in enumerate(model.pieces)}
    return BPE(
        ids,
        implied_merges(ids),
        unk_token=model.trainer_spec.unk_piece,
        fuse_unk=True,
        byte_fallback=model.trainer_spec.byte_fallback,
    )


def implied_merges(ranks: Mapping[str, float]) -> list[tuple[str, str]]:
    """The pairs that make up the pieces, those of the first piece first.

    SentencePiece keeps no list of pairs: joining two pieces to a third one ranks as the third does.
    """
    found = []
    for piece, rank in ranks.items():
        cuts = [(piece[:cut], piece[cut:]) for cut in range(1, len(piece))]
        pairs = [pair for pair in cuts if pair[0] in ranks and pair[1] in ranks]
        pairs.sort(key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
        found += [(rank, len(left), len(right), left, right) for left, right in pairs]
    found.sort(key=lambda each: each[:3])
    return [(left, right) for *_, left, right in found]


def _add_spaces(tokenizer: Tokenizer, model: Any, *, legacy: bool) -> None:
    """Set what turns spaces into ▁ and back, as the model was trained."""
    spec = model.normalizer_spec
    if spec.precompiled_charsmap:
        tokenizer.normalizer = normalizers.Precompiled(spec.precompiled_charsmap)
    if spec.remove_extra_whitespaces:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        )
        tokenizer.decoder = decoders.Metaspace()
    else:
        keep_spaces(tokenizer, prefix=spec.add_dummy_prefix, legacy=legacy)


def keep_spaces(tokenizer: Tokenizer, *, prefix: bool, legacy: bool) -> None:
    """Write every space as ▁, and one more before the first word where `prefix` is set.

    Text behind a special token begins anew for `legacy` tokenizers.
    """
    scheme: Literal["always", "first", "never"] = "always" if legacy else "first"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme=scheme if prefix else "never", split=False
    )
    steps: list[decoders.Decoder] = [
        decoders.Replace(SPACE, " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
    ]
    if prefix:
        steps.append(decoders.Strip(content=" ", left=1))
    tokenizer.decoder = decoders.Sequence(steps)
