"""Lines that fit. Chinese breaks between any two characters, but not before a full stop."""

import re

from rich.cells import cell_len, chop_cells

CLOSING = "，。、；：！？）」』”’》…%,.;:!?)"
WORD = re.compile(r"\s+|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]+|.")


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells."""
    lines: list[list[str]] = [[]]
    used = 0
    for piece in _pieces(text, max(width, 2)):
        size = cell_len(piece)
        if used + size > width and lines[-1]:
            moved = _taken_along(lines[-1], piece)
            lines.append(moved)
            used = sum(map(cell_len, moved))
        if piece.isspace() and not lines[-1]:
            continue
        lines[-1].append(piece)
        used += size
    return ["".join(line).rstrip() for line in lines]


def _pieces(text: str, width: int) -> list[str]:
    """Words and single characters; what is wider than a line is chopped."""
    return [part for piece in WORD.findall(text) for part in chop_cells(piece, width)]


def _taken_along(line: list[str], piece: str) -> list[str]:
    """What must move to the next line together with a closing mark."""
    if piece[0] not in CLOSING or len(line) < 2 or line[-1].isspace():
        return []
    return [line.pop()]
