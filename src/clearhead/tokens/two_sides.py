"""Marian's vocabulary: source and target are cut apart, and share one table of ids."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..foundation.errors import FileError, InputError
from ..foundation.json_file import read_json, write_json
from ..foundation.optional import need
from .beside import Beside
from .sentencepieces import SPACE
from .specials import Specials, read_specials
from .subwords import check_ids, outside, save_beside
from .vocabulary import Encoded

LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)  # at the start of a text: the language asked for
Piece = tuple[str, int, int]  # as it is spelled, its first and one-past-last character


@dataclass(frozen=True, kw_only=True)
class Ids:
    """Pieces and their ids, source and target alike."""

    by_piece: Mapping[str, int]
    unknown: int

    @cached_property
    def by_id(self) -> dict[int, str]:
        """The pieces by id."""
        return {number: piece for piece, number in self.by_piece.items()}


class TwoSides:
    """Text ↔ ids where source and target are cut differently. This is one of the sides."""

    def __init__(
        self, *, ids: Ids, models: Mapping[str, bytes], beside: Beside, side: str = "source"
    ) -> None:
        self.ids, self.models, self.beside, self.side = ids, models, beside, side
        self.specials: Specials = read_specials(self.find, beside.special_tokens, beside.ids)
        self.cutter = _cutter(models[side], side)

    @property
    def size(self) -> int:
        """How many ids there are, special ones included."""
        return len(self.ids.by_piece)

    @cached_property
    def target(self) -> "TwoSides":
        """The vocabulary of the answer."""
        if self.side == "target":
            return self
        return TwoSides(ids=self.ids, models=self.models, beside=self.beside, side="target")

    def encode(self, text: str, pair: str | None = None, *, specials: bool = True) -> Encoded:
        """The tokens of a text, `</s>` behind it. A language such as >>fra<< may stand first."""
        if pair is not None:
            raise InputError("This vocabulary takes one text, not a pair: encode them one by one.")
        cut = self._cut(text)
        if specials and self.specials.end is not None:
            cut.append((self.piece(self.specials.end), 0, 0))
        known = self.ids.by_piece
        return Encoded(
            ids=tuple(known.get(piece, self.ids.unknown) for piece, _, _ in cut),
            pieces=tuple(piece for piece, _, _ in cut),
            spans=tuple((start, end) for _, start, end in cut),
            types=(0,) * len(cut),
        )

    def _cut(self, text: str) -> list[Piece]:
        """The pieces of a text. Special tokens written in it stay whole."""
        whole = "|".join(re.escape(each) for each in self.beside.special_tokens.values())
        found: list[Piece] = []
        place = 0
        for number, part in enumerate(re.split(f"({whole})", text)):
            pieces = [(part, 0, len(part))] if number % 2 else self._cut_plain(part)
            found += [(piece, place + start, place + end) for piece, start, end in pieces]
            place += len(part)
        return found

    def _cut_plain(self, text: str) -> list[Piece]:
        code = LANGUAGE.match(text)
        skipped = 0 if code is None else code.end()
        schema = need("sentencepiece.sentencepiece_pb2", extra="formats", purpose="Cutting a text")
        found = schema.SentencePieceText()
        found.ParseFromString(self.cutter.encode(text[skipped:], out_type="serialized_proto"))
        # SentencePiece counts bytes.
        rest = enumerate(text[skipped:], start=skipped)
        places = [place for place, letter in rest for _ in letter.encode("utf-8")] + [len(text)]
        first = [(text[:skipped], 0, skipped)] if skipped else []
        return first + [(each.piece, places[each.begin], places[each.end]) for each in found.pieces]

    def decode(self, ids: Sequence[int], *, specials: bool = False) -> str:
        """The text of these ids, without special tokens unless asked for."""
        check_ids(ids, self.size)
        apart = set(self.beside.special_tokens.values())
        text: str = ""
        run: list[str] = []
        for piece in map(self.piece, ids):
            if piece not in apart:
                run.append(piece)
            elif specials:
                text += f"{self.cutter.decode_pieces(run)}{piece} "
                run = []
        text += self.cutter.decode_pieces(run)
        return text.replace(SPACE, " ").strip()

    def piece(self, token: int) -> str:
        """A token as the vocabulary spells it."""
        if token not in self.ids.by_id:
            raise InputError(outside(token, self.size))
        return self.ids.by_id[token]

    def find(self, piece: str) -> int | None:
        """The id of a token by its spelling; None when there is no such token."""
        return self.ids.by_piece.get(piece)

    def save(self, folder: Path) -> None:
        """Write both SentencePiece models, the ids and the settings beside them."""
        folder.mkdir(parents=True, exist_ok=True)
        for side, model in self.models.items():
            (folder / f"{side}.spm").write_bytes(model)
        write_json(folder / "vocab.json", self.ids.by_piece)
        save_beside(self.beside, self.specials, folder)


def read_two_sides(folder: Path, beside: Beside) -> TwoSides:
    """The vocabulary in a folder with source.spm, target.spm and vocab.json."""
    if beside.options.get("separate_vocabs"):
        raise FileError(
            f"{folder} gives source and target a table of ids each (separate_vocabs), which is "
            "not read here. Use a model whose sides share one."
        )
    beside = replace(beside, published_as="MarianTokenizer")
    by_piece = read_json(folder / "vocab.json")
    unknown = beside.special_tokens["unk_token"]
    if unknown not in by_piece:
        raise FileError(
            f"{folder / 'vocab.json'} has no {unknown}, which stands for all it does not have. "
            "Use the vocab.json that came with the model."
        )
    return TwoSides(
        ids=Ids(by_piece=by_piece, unknown=by_piece[unknown]),
        models={side: (folder / f"{side}.spm").read_bytes() for side in ("source", "target")},
        beside=beside,
    )


def _cutter(model: bytes, side: str) -> Any:
    purpose = f"Reading the SentencePiece vocabulary {side}.spm"
    library = need("sentencepiece", extra="formats", purpose=purpose)
    cutter = library.SentencePieceProcessor()
    try:
        cutter.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise FileError(
            f"{side}.spm is not a SentencePiece model ({error}): it is damaged. Copy it again."
        ) from error
    return cutter
