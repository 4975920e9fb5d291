"""Whisper's own vocabulary: a .tiktoken file of bytes and ranks, and special tokens behind it."""

import base64
import binascii
from pathlib import Path

from tokenizers import AddedToken

from ..foundation.errors import FileError
from .beside import Beside
from .byte_level import byte_level, prompt, spelled
from .sentencepieces import implied_merges
from .subwords import Subwords

LANGUAGES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th "
    "ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr "
    "pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt "
    "haw ln ha ba jw su yue"
)
TASKS = ("translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps")
TIMES, STEP = 1501, 0.02  # every 20 ms of the 30 seconds has a token
FIXED = 2 + len(TASKS) + TIMES  # special tokens that are no language


def whisper_vocabulary(path: Path, size: int) -> Subwords:
    """The vocabulary of a model with `size` ids, from a .tiktoken file."""
    ids = _ids(path)
    codes, languages = LANGUAGES.split(), size - len(ids) - FIXED
    if not 0 < languages <= len(codes):
        raise FileError(
            f"{path} has {len(ids)} tokens and the model {size} ids, which leaves {languages} for "
            f"languages; 1 to {len(codes)} were wanted. Use the file that belongs to the model."
        )
    tokenizer = byte_level(ids, implied_merges(ids))
    named = ["endoftext", "startoftranscript", *codes[:languages], *TASKS]
    times = [f"{number * STEP:.2f}" for number in range(TIMES)]
    tokenizer.add_tokens([AddedToken(f"<|{name}|>", special=True) for name in named])
    tokenizer.add_tokens([AddedToken(f"<|{time}|>", normalized=False) for time in times])
    start = tokenizer.token_to_id("<|startoftranscript|>")
    beside = Beside(published_as="WhisperTokenizer", generation={"decoder_start_token_id": start})
    prompt(tokenizer, beside)
    return Subwords(tokenizer, beside)


def _ids(path: Path) -> dict[str, int]:
    """Tokens as byte-level vocabularies spell them, by their rank, which is their id."""
    found = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line:
            continue
        try:
            token, rank = line.split()
            # The last token of the multilingual file is a lone "=": no bytes at all.
            known = b"" if token == b"=" else base64.b64decode(token, validate=True)
            found[spelled(known)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise FileError(
                f"{path}, line {number}: a token in base64 and its rank were wanted ({error}). "
                "The file is damaged: copy it again."
            ) from error
    return found
