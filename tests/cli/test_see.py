"""`clearhead see`: what every head looks at, in the terminal, as JSON, from a trace."""

import json

import pytest
import ready
from typed import refused, typed

from clearhead import open_trace

TEXT = "the red cat sat on the red mat and the red cat ran"


@pytest.fixture
def folder(tmp_path):
    ready.model(ready.DECODER, seed=3).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def translator(tmp_path):
    ready.translator().save(tmp_path / "both")
    return tmp_path / "both"


def test_a_text_is_seen_in_the_terminal(capsys, folder):
    answer = typed(capsys, "see", folder, TEXT, "--language", "en")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert "2 attentions, 8 heads, 13 × 13 tokens" in answer.out
    assert [line.split()[0] for line in lines if line.startswith("decoder.")][:2] == [
        "decoder.0.self",
        "decoder.1.self",
    ]
    assert "Where each token looks: the 2 strongest keys" in answer.out  # 80 columns wide
    assert sum("rest" in line for line in lines) >= 12


def test_site_head_and_rows_choose_what_is_shown(capsys, folder):
    answer = typed(
        capsys, "see", folder, TEXT, "--site", "decoder.1.self", "--head", 2, "--rows", "3:5"
    )
    assert "decoder.1.self, head 2" in answer.out
    assert "11 more tokens" in answer.out


def test_it_is_seen_in_chinese(capsys, folder):
    answer = typed(capsys, "see", folder, TEXT, "--language", "zh")
    assert "每个头在做什么" in answer.out
    assert "Every head" not in answer.out


def test_json_has_every_head_and_where_the_tokens_of_one_look(capsys, folder):
    told = json.loads(typed(capsys, "see", folder, TEXT, "--json", "--top", 3).out)
    assert [(head["site"], head["head"]) for head in told["heads"]] == [
        (f"decoder.{layer}.self", head) for layer in range(2) for head in range(4)
    ]
    assert len(told["gazes"]) == 13
    assert told["gazes"][1]["query"] == "red"
    for gaze in told["gazes"]:
        shares = [weight for _, weight in gaze["keys"]] + [gaze["left_out"]]
        assert abs(sum(shares) - 1) < 1e-5
        assert len(gaze["keys"]) <= 3


def test_what_was_saved_is_shown_again_without_the_model(capsys, folder, tmp_path):
    saved = tmp_path / "run.trace"
    first = typed(capsys, "see", folder, TEXT, "--save", saved, "--json")
    assert open_trace(saved).about["text"] == TEXT
    again = typed(capsys, "see", saved, "--json")
    assert json.loads(again.out) == json.loads(first.out)


def test_a_translator_shows_what_each_written_word_looks_at(capsys, translator):
    told = json.loads(
        typed(
            capsys, "see", translator, TEXT, "--target", "the cat", "--site", "decoder.1.cross",
            "--json",
        ).out
    )  # fmt: skip
    assert [gaze["query"] for gaze in told["gazes"]][-2:] == ["the", "cat"]
    assert {key for gaze in told["gazes"] for key, _ in gaze["keys"]} <= set(TEXT.split()) | {
        "</s>"
    }


def test_what_cannot_be_seen_is_said_in_a_sentence(capsys, folder, translator, tmp_path):
    def told(*words):
        return refused(typed(capsys, "see", *words))

    assert told(folder).startswith("There is no text to read: clearhead see MODEL")
    assert told(folder, " ").startswith("The text is empty. Give at least one word.")
    assert "no attention 'decoder.9.self'. Did you mean" in told(
        folder, TEXT, "--site", "decoder.9.self"
    )
    assert told(folder, TEXT, "--head", 4).startswith("There is no head 4: give one from 0 to 3.")
    assert told(folder, TEXT, "--top", 0).startswith("The top 0 keys show nothing")
    assert "--rows 1-3 names no tokens" in told(folder, TEXT, "--rows", "1-3")
    assert "--rows 100:200 names no tokens: there are 13" in told(folder, TEXT, "--rows", "100:200")
    assert "--rows 9:3 names no tokens" in told(folder, TEXT, "--rows", "9:3")
    assert "one side only, so a target has no effect" in told(folder, TEXT, "--target", "a")
    assert "give what it writes with --target" in told(translator, TEXT)
    there = tmp_path / "there.trace"
    there.write_text("something")
    assert "is already there" in told(folder, TEXT, "--save", there)
    assert str(there) in told(there)
    assert "so a text has no effect" in told(there, TEXT)
    assert "language" in told(folder, TEXT, "--language", "fr").lower()


def test_what_was_seen_is_no_explanation(capsys, folder, tmp_path):
    saved = tmp_path / "run.trace"
    typed(capsys, "see", folder, TEXT, "--save", saved)
    told = refused(typed(capsys, "explain", "--file", saved))
    assert "is a trace of the kind 'attention' and no explanation" in told
    assert f"clearhead see {saved}" in told
