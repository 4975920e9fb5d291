"""GPT-2's vocab.json and merges.txt: byte pairs over bytes, so that every text has tokens.

RoBERTa and BART put special tokens around a text, Whisper a prompt before it; Qwen cuts numbers
into digits first.
"""

from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE

from ..foundation.errors import FileError
from ..foundation.json_file import read_json
from .beside import Beside, ids_of

# How others cut a text into words, as patterns.
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
ENDS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
STARTS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
MARKS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
PATHS = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
QWEN = "|".join((SHORT, WORD, r"\p{N}", MARKS, SPACES))
LLAMA_3 = "|".join((SHORT, WORD, r"\p{N}{1,3}", MARKS, SPACES))
TEKKEN = "|".join((ENDS, STARTS, r"\p{N}", PATHS, SPACES))
GPT_4O = "|".join((f"{ENDS}{SHORT}?", f"{STARTS}{SHORT}?", r"\p{N}{1,3}", PATHS, SPACES))


def read_byte_level(folder: Path, beside: Beside) -> Tokenizer:
    """The tokenizer of a vocab.json and a merges.txt."""
    ids = read_json(folder / "vocab.json")
    prefix = bool(beside.options.get("add_prefix_space", False))
    tokenizer = byte_level(ids, _merges(folder / "merges.txt", ids), add_prefix_space=prefix)
    if beside.published_as == "Qwen2Tokenizer":
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = cut_by(QWEN)
    tokenizer.add_tokens(beside.added_tokens())
    if beside.published_as in ("RobertaTokenizer", "BartTokenizer"):
        _surround(tokenizer, beside, add_prefix_space=prefix)
    elif beside.published_as == "WhisperTokenizer":
        prompt(tokenizer, beside)
    else:
        frame(tokenizer, beside)
    return tokenizer


def byte_level(
    ids: dict[str, int], merges: list[tuple[str, str]], *, add_prefix_space: bool = False
) -> Tokenizer:
    """Byte pairs over bytes, cut into words the way GPT-2 does."""
    tokenizer = Tokenizer(BPE(ids, merges, fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def cut_by(pattern: str) -> pre_tokenizers.PreTokenizer:
    """Cut a text into words by this pattern instead of GPT-2's."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def frame(tokenizer: Tokenizer, beside: Beside) -> None:
    """Put the first and last token around a text where the settings ask for them."""
    special = beside.special_tokens
    first, last = (
        [special[f"{name}_token"]]
        if beside.options.get(f"add_{name}_token") and f"{name}_token" in special
        else []
        for name in ("bos", "eos")
    )
    if not first and not last:
        return
    single, second = (
        [f"{piece}:{kind}" for piece in (*first, text, *last)]
        for kind, text in ((0, "$A"), (1, "$B"))
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=single + second, special_tokens=ids_of((*first, *last), tokenizer)
    )


def _merges(path: Path, ids: dict[str, int]) -> list[tuple[str, str]]:
    """The pairs to join, the most frequent first."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        pair = line.rstrip("\r").split(" ")
        known = len(pair) == 2 and all(piece in ids for piece in (*pair, "".join(pair)))
        if not known:
            raise FileError(
                f"{path}, line {number}: {line!r} is not a pair whose parts and whole are in "
                "vocab.json. Use the vocab.json and merges.txt that came with the model."
            )
        found.append((pair[0], pair[1]))
    return found


def spelled(token: bytes) -> str:
    """A token of bytes as these vocabularies spell it: one visible character a byte."""
    return "".join(SPELLING[byte] for byte in token)


def _spelling() -> dict[int, str]:
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {
        byte: chr(256 + number) for number, byte in enumerate(rest)
    }


SPELLING = _spelling()


def _surround(tokenizer: Tokenizer, beside: Beside, *, add_prefix_space: bool) -> None:
    special = beside.special_tokens
    last, first = ids_of((special["sep_token"], special["cls_token"]), tokenizer)
    tokenizer.post_processor = processors.RobertaProcessing(
        last,
        first,
        trim_offsets=bool(beside.options.get("trim_offsets", True)),
        add_prefix_space=add_prefix_space,
    )


def prompt(tokenizer: Tokenizer, beside: Beside) -> None:
    """Whisper's: it starts a transcript without times, and ends it."""
    before = [
        piece
        for piece in ("<|startoftranscript|>", "<|notimestamps|>")
        if tokenizer.token_to_id(piece) is not None
    ]
    after = beside.special_tokens["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=[*before, "$A:0", after],
        pair=[*before, "$A:0", "$B:1", f"{after}:1"],
        special_tokens=ids_of((*before, after), tokenizer),
    )
