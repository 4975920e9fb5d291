"""Heads by name on the screen: every name has a mark and words, and the telling head is shown."""

import pytest
from rich.cells import cell_len

from clearhead.lens.patterns import PATTERNS
from clearhead.visuals.heads import Head, telling
from clearhead.visuals.terminal.seeing import MARKS, PLAIN_MARKS, packed
from clearhead.visuals.words.seeing import says_in

NAMES = [*(pattern.name for pattern in PATTERNS), "mixed"]


def test_every_name_has_a_mark_of_its_own_with_and_without_unicode():
    assert [name for name in NAMES if name not in MARKS] == []
    plain = MARKS | PLAIN_MARKS
    for marks in (MARKS, plain):
        assert len({marks[name] for name in NAMES}) == len(NAMES)
        assert all(cell_len(marks[name]) == 1 for name in NAMES)
    assert all(plain[name].isascii() for name in NAMES)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_name_has_words_of_its_own(language):
    words = [says_in(language)[name] for name in NAMES]
    assert len(set(words)) == len(NAMES)
    assert all(words)


def test_what_marks_mean_is_said_in_lines_that_fit_and_break_no_item():
    assert packed(["← one", "→ two", "对角线"], 14) == ["← one   → two", "对角线"]
    assert packed(["对角线", "= x"], 12) == ["对角线   = x"]
    assert packed(["对角线", "= x"], 11) == ["对角线", "= x"]
    assert packed(["far too long"], 4) == ["far too long"]
    assert packed([], 9) == []


def head(name: str, peak: float, sink: float = 0.0) -> Head:
    return Head("decoder.0.self", 0, entropy=1.0, sink=sink, distance=1.0, peak=peak, name=name)


def test_the_head_shown_first_looks_at_what_tokens_are():
    dull = [head("first", 1.0, 1.0), head("previous", 1.0), head("stripe", 0.9), head("broad", 0.1)]
    unclear, sure = head("mixed", 0.3), head("mixed", 0.6)
    content = [head("duplicate", 0.5), head("induction", 0.7)]
    assert telling(dull) == dull[1]
    assert telling([*dull, unclear, sure]) == sure
    assert telling([*dull, sure, *content]) == content[1]
