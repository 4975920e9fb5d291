"""The demonstration: a translator learns, is judged, and shows what it looked at.

Here it learns for a moment only; what it reaches in a minute is `demo/result.json`.
"""

import json
import signal
from io import StringIO

import pytest
import torch
from rich.console import Console
from typed import typed

from clearhead import load
from clearhead.cli import dates_shown, demo
from clearhead.cli.dates_shown import parts_of, shown_of, truth
from clearhead.config import override
from clearhead.lens.alignment import Judged
from clearhead.recipes import catalog
from clearhead.tasks.aligning import answered
from clearhead.training import learner

pytest.importorskip("babel")


@pytest.fixture(scope="module")
def short():
    """The run of the demonstration, with next to nothing to read."""
    really, threads = catalog.RECIPES["dates"], torch.get_num_threads()
    pairs, catalog.PAIRS = catalog.PAIRS, 400
    changes = ["train.steps=6", "train.tokens=400", "train.valid_rows=4", "train.valid_every=6"]
    catalog.RECIPES["dates"] = lambda folder: override(really(folder), changes)
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
    catalog.RECIPES["dates"], catalog.PAIRS = really, pairs


@pytest.fixture(scope="module")
def folder(short, tmp_path_factory):
    """What a demonstration leaves behind."""
    into = tmp_path_factory.mktemp("demo")
    demo.learned(into)
    return into


def test_it_learns_once_and_writes_down_what_came_of_it(capsys, folder):
    answer = typed(capsys, "demo", "--into", folder, "--language", "en")
    assert answer.code == 0
    assert "of months it never saw are right" in answer.out
    result = json.loads((folder / "result.json").read_text())
    assert set(result) == {"exact_match", "seconds", "samples"}
    assert 0 <= result["exact_match"] <= 1
    assert len(result["samples"]) == demo.SHOWN
    (folder / "seconds").write_text("12.5")
    again = typed(capsys, "demo", "--into", folder, "--language", "zh")
    assert "学习用了 12 秒" in again.out.replace("\n", "")
    assert json.loads((folder / "result.json").read_text())["seconds"] == 12.5


def test_the_words_of_a_date_are_those_it_is_written_with(folder):
    model = load(folder / "model", device="cpu")
    text, answer = "Wednesday, 18 November 2026", "2026年11月18日星期三"
    seen = answered(model, text, answer)
    _, read, said = seen.words(parts_of(answer))
    assert [word for word in read if word.isalnum()] == ["Wednesday", "18", "November", "2026"]
    assert said == ["2026年", "11月", "18日", "星期三"]
    named = {said[part]: read[word] for part, word in truth(seen).items()}
    assert named == {"11月": "November", "星期三": "Wednesday"}
    _, _, letters = seen.words()
    assert letters == ["2026", "年", "11", "月", "18", "日", "星", "期", "三"]


def test_a_head_that_looks_where_it_should_is_found(folder, monkeypatch):
    """Judged by weights that are put in its place: head 1 of the second layer is right."""
    model = load(folder / "model", device="cpu")
    rows = dates_shown.rows_in(folder / "data" / "valid.tsv")[:20]

    def judged(looks_words_true):
        site = looks_words_true[0][0].site
        right = site == "decoder.1.cross"
        return [Judged(1 if right else 0, 0.1 if right else 0.8)]

    monkeypatch.setattr(dates_shown, "best_heads", judged)
    assert dates_shown.telling_head(model, rows) == ("decoder.1.cross", 1)


def test_scores_of_an_alignment_are_shares_of_attention(folder):
    shown = shown_of(load(folder / "model", device="cpu"), folder / "data")
    assert shown.all == 500
    for sample in shown.samples:
        for each in shown.aligned(sample.text, sample.wanted):
            assert 0 < each.score <= 1
            assert each.source in sample.text
            assert each.target in sample.wanted
    assert shown.aligned("Monday", "no date") == []


def test_a_language_it_does_not_speak_is_refused(capsys, tmp_path):
    answer = typed(capsys, "demo", "--language", "fr", "--into", tmp_path / "new")
    assert answer.code == 2
    assert "fr" in answer.err
    assert not (tmp_path / "new").exists()


def test_ended_before_it_was_done_it_shows_nothing(capsys, short, tmp_path, monkeypatch):
    really = learner.Learner.advance

    def asked(self):
        signal.raise_signal(signal.SIGINT)
        return really(self)

    monkeypatch.setattr(learner.Learner, "advance", asked)
    answer = typed(capsys, "demo", "--into", tmp_path, "--language", "en")
    assert answer.code == 130
    assert not (tmp_path / "result.json").exists()
    assert float((tmp_path / "seconds").read_text()) > 0


def test_brackets_in_what_somebody_types_are_text(folder):
    console = Console(width=80, file=StringIO())
    shown = shown_of(load(folder / "model", device="cpu"), folder / "data")
    demo.tell(console, shown, "[/b] 1 May [red]", "[x]", "[y]", demo.SAYS["en"])
    assert "[/b] 1 May [red]  →  [x]  ≠ wrong, it should be [y]" in console.file.getvalue()


def test_a_part_looked_where_the_steps_that_wrote_it_looked(folder):
    """The step that writes a character has read those before it: the first one only the start."""
    model = load(folder / "model", device="cpu")
    text, answer = "18 November 2026", "2026年11月18日"
    seen = answered(model, text, answer)
    weights = seen.seen.look("decoder.1.cross").weights().values[0, 2]
    starts = [(0, 5), (5, 8), (8, 11)]  # of year, month and day: one token a character
    words = {"18": slice(0, 2), "November": slice(2, 3), "2026": slice(3, 7)}
    found = seen.aligned("decoder.1.cross", [2], parts_of(answer))
    assert [each.target for each in found] == ["2026年", "11月", "18日"]
    for each, (start, stop) in zip(found, starts, strict=True):
        shares = {word: float(weights[start:stop, at].sum(-1).mean()) for word, at in words.items()}
        best = max(shares, key=lambda word: shares[word])
        assert each.source == best
        assert abs(each.score - shares[best]) < 1e-6
