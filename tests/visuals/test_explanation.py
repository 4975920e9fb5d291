"""An explanation drawn: every step is there, in both languages, in any width."""

import io
import json
from dataclasses import replace
from string import Formatter

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from clearhead.foundation.errors import ConfigError, InputError
from clearhead.traces import Array, Note, Trace
from clearhead.visuals import LANGUAGES, steps_of
from clearhead.visuals.terminal import show
from clearhead.visuals.terminal.grid import grid
from clearhead.visuals.words import FORMULAS, words_in

KINDS = ("titles", "why", "notes", "axes", "screen")


def explanation(count=5, width=4, *, query=0, causal=False, about=None, notes=()):
    """A trace like those `explain` makes, of made-up numbers that hold together."""
    draw = np.random.default_rng(3)
    embeddings, positions = draw.normal(size=(2, count, width))
    q, k, v = draw.normal(size=(3, count, width))
    scores = q @ k.T
    scaled = scores / width**0.5
    masked = np.where(np.tri(count, dtype=bool), scaled, -np.inf) if causal else scaled
    powers = np.exp(masked)
    weights = powers / powers.sum(axis=1, keepdims=True)
    mixed = weights @ v
    steps = {
        "embeddings": (embeddings, "query", "model"),
        "positions": (positions, "query", "model"),
        "inputs": (embeddings + positions, "query", "model"),
        "q": (q, "query", "width"),
        "k": (k, "key", "width"),
        "v": (v, "key", "value"),
        "scores": (scores, "query", "key"),
        "scaled": (scaled, "query", "key"),
        "masked": (masked, "query", "key"),
        "weights": (weights, "query", "key"),
        "mixed": (mixed, "query", "value"),
        "joined": (mixed, "query", "joined"),
        "output": (2 * mixed, "query", "model"),
    }
    labels = tuple(f"词{place}long" for place in range(count))
    return Trace(
        kind="explanation",
        arrays={name: Array(values, axes) for name, (values, *axes) in steps.items()
                for axes in [tuple(axes)]},
        labels={"query": labels, "key": labels},
        notes=notes,
        about={"title": "made up", "query": query, "head": 1, "heads": 4, "width": width,
               "scale": width**-0.5, "steps": list(steps), **(about or {})},
    )  # fmt: skip


def drawn(trace, *, width=80, language="en", **console):
    screen = io.StringIO()
    show(trace, console=Console(file=screen, width=width, **console), language=language)
    return screen.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_every_language_has_words_for_the_same_things(kind):
    english = getattr(words_in("en"), kind)
    for language in LANGUAGES:
        others = getattr(words_in(language), kind)
        assert set(others) == set(english)
        for key, sentence in others.items():
            assert gaps(sentence) == gaps(english[key]), f"{language} {key}"
            assert sentence.strip() or key == "comma"


def gaps(sentence):
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_every_step_has_a_title_a_reason_and_a_formula():
    assert set(words_in("en").titles) == set(words_in("en").why) == set(FORMULAS)


def test_an_unknown_language_is_answered_with_those_there_are():
    with pytest.raises(ConfigError, match=r"no language 'fr' here\. Choose one of: en, zh"):
        words_in("fr")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [1, 7, 12, 20, 33, 40, 60, 80, 120, 250])
@pytest.mark.parametrize("count", [1, 5, 30])
def test_no_line_is_wider_than_the_screen(width, count, language):
    for trace in (explanation(count), explanation(count, 48, query=count - 1, causal=True)):
        lines = drawn(trace, width=width, language=language).splitlines()
        assert max(map(cell_len, lines)) <= max(width, 12)


@pytest.mark.parametrize("width", [24, 33, 40, 61, 80, 120])
@pytest.mark.parametrize(("count", "numbers"), [(5, 4), (30, 48), (9, 500)])
def test_nothing_of_a_grid_is_cropped(width, count, numbers):
    trace = explanation(count, numbers, query=count - 1)
    for name in trace.about["steps"]:
        lines = grid(trace, name, width, more_rows="{count}")
        assert max(line.cell_len for line in lines) <= width, name
        shown = trace[name].values.shape[1]
        left_out = {line.plain.split(" … +")[1] for line in lines if " … +" in line.plain}
        cells = len(lines[0].plain.split())
        assert left_out in ({str(shown - cells)}, set()), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_stands_on_the_screen_with_its_reason_and_its_size(language):
    told, words = drawn(explanation(), language=language, width=300), words_in(language)
    for name in explanation().about["steps"]:
        assert words.titles[name] in told
        assert words.why[name].split("。")[0][:40] in told.replace("\n", words.space)
    assert f"5 {words.axes['query']} × 5 {words.axes['key']}" in told


def test_without_colour_there_are_no_codes_and_the_query_is_still_marked():
    told = drawn(explanation(query=2))
    assert "\x1b" not in told
    assert told.count("▸ 词2long") == 9  # once in every grid of queries that is not a repetition
    assert "▸ 词1long" not in told


def test_with_colour_the_cells_are_tinted():
    told = drawn(explanation(), force_terminal=True, color_system="truecolor")
    assert "48;2;" in told


def test_where_there_is_only_ascii_bars_are_made_of_hashes():
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    show(explanation(30), console=Console(file=screen, width=80), language="en")
    screen.seek(0)
    assert "####" in screen.read()
    assert "####" not in drawn(explanation(30))


def test_small_weights_are_all_shown_with_their_bars():
    told = drawn(explanation(3), width=100)
    weights = explanation(3)["weights"].values
    for share in weights.ravel():
        assert f"{share:.4f}" in told


def test_of_many_weights_the_largest_are_shown_and_the_others_added_up():
    trace = explanation(30, query=4)
    weights = np.sort(trace["weights"].values[4])[::-1]
    told = drawn(trace)
    for share in weights[:8]:
        assert f"{share:.4f}" in told
    assert f"22 others {weights[8:].sum():.4f}" in told


def test_a_step_that_changes_nothing_is_not_drawn_twice():
    told = drawn(explanation())
    assert "The same numbers as in scaled." in told
    assert "The same numbers as in mixed." in told
    assert "The same numbers as in scores." not in told
    assert "The same numbers as in scaled." not in drawn(explanation(causal=True))


def test_what_is_forbidden_is_shown_as_minus_infinity():
    assert "−∞" in drawn(explanation(causal=True)).split("weights")[0].split("masked")[1]


@pytest.mark.parametrize(
    ("row", "english", "chinese"),
    [
        (
            [0.9, 0.1],
            "gathers from: 词0long 90%, 词1long 10%.",
            "主要取自：词0long 90%，词1long 10%。",
        ),
        (
            [0.0, 0.0],
            "may look at nothing, so it gathers nothing.",
            "什么都不许看，所以什么也没取到。",
        ),
        ([0.0] + [1 / 299] * 299, "gathers a little from each of 299.", "从 299 个词元各取一点。"),
    ],
)
def test_the_last_line_says_where_the_query_looked_even_if_nowhere(row, english, chinese):
    trace = explanation(len(row))
    weights = Array(np.array([row] * len(row)), ("query", "key"))
    trace = replace(trace, arrays={**trace.arrays, "weights": weights})
    assert drawn(trace).splitlines()[-1] == f"词0long {english}"
    assert drawn(trace, language="zh").splitlines()[-1] == f"词0long {chinese}"


def test_a_layer_that_disagrees_is_told_in_red():
    facts = {"difference": 0.5, "allowed": 0.001, "kernel": "sdpa"}
    trace = explanation(notes=(Note("output", "disagrees", facts),))
    assert "WARNING: worked out again by the definition" in drawn(trace)
    assert "\x1b[1;31mWARNING" in drawn(trace, force_terminal=True, color_system="standard")
    assert "相差 5.0e-01" in drawn(trace, language="zh")


def test_a_note_nobody_here_knows_is_told_as_it_is():
    trace = explanation(notes=(Note("q", "from_the_future", {"share": 0.5}),))
    assert "from_the_future: share=0.5" in drawn(trace)


def test_a_step_nobody_here_knows_is_drawn_as_it_is():
    trace = explanation(about={"steps": ["q", "novel"]})
    trace = Trace(
        kind=trace.kind,
        arrays={**trace.arrays, "novel": Array(np.ones((2, 3)), ("strange", "axis"))},
        labels=trace.labels,
        about=trace.about,
    )
    assert "novel" in drawn(trace)
    assert "2 strange × 3 axis" in drawn(trace)


@pytest.mark.parametrize("language", LANGUAGES)
def test_steps_hold_name_value_and_note_and_are_json(language):
    trace = explanation(3, causal=True, notes=(Note("masked", "blind", {"rows": 2}),))
    steps = steps_of(trace, language=language)
    assert json.loads(json.dumps(steps, allow_nan=False)) == steps
    assert [step["name"] for step in steps] == trace.about["steps"]
    told = {step["name"]: step for step in steps}
    assert set(told["q"]) == {"name", "value", "note"}
    assert told["scores"]["value"] == trace["scores"].values.tolist()
    assert told["masked"]["value"][0][1:] == [None, None]
    words = words_in(language)
    assert told["masked"]["note"] == words.space.join(
        [words.why["masked"], words.notes["blind"].format(rows=2), words.screen["null"]]
    )


def test_a_step_that_did_not_take_place_has_no_value():
    trace = explanation(about={"steps": ["positions_of_nobody", "q"]})
    assert steps_of(trace)[0] == {"name": "positions_of_nobody", "value": None, "note": ""}
    assert "positions_of_nobody" in drawn(trace)


def test_another_kind_of_trace_is_refused():
    with pytest.raises(InputError, match="This trace is a 'map' and not an explanation"):
        steps_of(Trace(kind="map", arrays={}))
