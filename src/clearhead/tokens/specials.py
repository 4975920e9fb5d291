"""Special ids: which token begins, ends and pads a text, and where a decoder starts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Specials:
    """Ids with a meaning of their own; None where a vocabulary has no such token.

    Args:
        end: What stands at the end of a text.
        ends: Every id that ends an answer; `end` is usually the only one.
        start: What a decoder that reads an encoder is given first.
    """

    beginning: int | None = None
    end: int | None = None
    padding: int | None = None
    unknown: int | None = None
    mask: int | None = None
    ends: tuple[int, ...] = ()
    start: int | None = None


def read_specials(
    find: Callable[[str], int | None], tokens: Mapping[str, str], generation: Mapping[str, Any]
) -> Specials:
    """The special ids of a vocabulary.

    Args:
        find: The id of a token.
        tokens: Special tokens by their published name: `eos_token` and so on.
        generation: Ids by their published name, as a generation_config.json has them:
            `eos_token_id` and so on. They stand in where no token is named.
    """

    def found(token: str, key: str = "") -> int | None:
        named = find(tokens[token]) if token in tokens else None
        return named if named is not None else next(_ids(generation.get(key)), None)

    end = found("eos_token", "eos_token_id")
    ends = tuple(_ids(generation.get("eos_token_id")))
    return Specials(
        beginning=found("bos_token", "bos_token_id"),
        end=end,
        padding=found("pad_token", "pad_token_id"),
        unknown=found("unk_token"),
        mask=found("mask_token"),
        ends=ends or (() if end is None else (end,)),
        start=next(_ids(generation.get("decoder_start_token_id")), None),
    )


def generation_settings(specials: Specials) -> dict[str, Any]:
    """What a generation_config.json says about special ids; empty when nothing can be generated."""
    ends = specials.ends
    if not ends and specials.start is None:
        return {}
    given = {
        "bos_token_id": specials.beginning,
        "eos_token_id": ends[0] if len(ends) == 1 else list(ends) or None,
        "pad_token_id": specials.padding,
        "decoder_start_token_id": specials.start,
    }
    return {key: value for key, value in given.items() if value is not None}


def _ids(given: object) -> Iterator[int]:
    many = given if isinstance(given, list) else [given]
    return (each for each in many if isinstance(each, int))
