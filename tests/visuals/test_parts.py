"""The parts of a drawing: numbers, bars, lines that fit, and what is worked out by hand."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from clearhead.traces import Array, Trace
from clearhead.visuals.numbers import aligned, places_for, short
from clearhead.visuals.terminal.bars import bar
from clearhead.visuals.terminal.colours import light, tinted
from clearhead.visuals.terminal.wrapped import wrapped
from clearhead.visuals.worked import worked

FINITE = st.floats(-1e12, 1e12)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-1e-17, "0"),
        (0.5, "0.5"),
        (-1.23456, "-1.2346"),
        (10.0, "10"),
        (3.1e-7, "3.1e-07"),
        (2.5e8, "2.5e+08"),
        (float("-inf"), "−∞"),
        (float("inf"), "∞"),
    ],
)
def test_a_number_is_said_as_short_as_it_can_be(number, text):
    assert short(number) == text


@given(FINITE)
def test_a_short_number_says_nothing_else(number):
    assert float(short(number)) == pytest.approx(number, rel=0.05, abs=5e-5)


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([1.0, 0.0, 2.0], 0),
        ([0.5, 1.0], 1),
        ([0.25, float("-inf")], 2),
        ([1 / 3], 4),
        ([123.456], 3),
        ([1e-17, 0.0], 0),
        ([2e-7], -1),
        ([5e9], -1),
        ([], 0),
    ],
)
def test_a_grid_has_as_many_decimals_as_it_needs(numbers, places):
    assert places_for(numbers) == places


@given(st.lists(FINITE, max_size=20))
def test_numbers_in_a_grid_are_of_one_kind_and_short(numbers):
    places = places_for(numbers)
    texts = [aligned(number, places) for number in numbers]
    assert all(len(text) <= 9 for text in texts)
    assert "-0" not in {text.rstrip("0").rstrip(".") for text in texts}


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0.0, "    "), (1.0, "████"), (0.5, "██  "), (0.53125, "██▏ "), (2.0, "████"), (-1.0, "    ")],
)
def test_a_bar_is_exact_to_an_eighth_of_a_cell(share, drawn):
    assert bar(share, 4) == drawn


def test_a_bar_in_ascii_is_exact_to_a_cell():
    assert bar(0.5, 4, ascii_only=True) == "##  "


def test_colours_say_the_sign_and_the_size():
    strong, weak, below = tinted(1.0, 1.0), tinted(0.1, 1.0), tinted(-1.0, 1.0)
    assert strong.bgcolor != weak.bgcolor
    blue = strong.bgcolor.triplet
    orange = below.bgcolor.triplet
    assert blue.blue > blue.red
    assert orange.red > orange.blue
    assert tinted(-np.inf, 1.0).bgcolor is None
    assert tinted(0.0, 0.0).bgcolor is None
    assert tuple(light((1.0, 0.5, 0.0)).color.triplet) == (255, 128, 0)


@given(st.text(st.sampled_from("ab词元，。 （）1.5%“”\n"), max_size=80), st.integers(4, 40))
def test_wrapped_lines_fit_and_lose_nothing_but_spaces(text, width):
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", text)


def test_a_chinese_line_does_not_begin_with_a_full_stop():
    assert wrapped("注意力看一看。好", 12) == ["注意力看一", "看。好"]
    assert wrapped("see the words here", 9) == ["see the", "words", "here"]


def trace(about=None, **arrays):
    axes = {"q": ("query", "width"), "k": ("key", "width"), "v": ("key", "value"),
            "inputs": ("query", "model"), "embeddings": ("query", "model"),
            "positions": ("query", "model"), "mixed": ("query", "value"),
            "W_q": ("model", "width"), "W_v": ("model", "value")}  # fmt: skip
    return Trace(
        kind="explanation",
        arrays={
            name: Array(np.array(values, dtype=float), axes.get(name, ("query", "key")))
            for name, values in arrays.items()
        },
        labels={"query": ("x", "y"), "key": ("x", "y")},
        about={"query": 1, "scale": 0.5, "width": 4, **(about or {})},
    )


WEIGHTS = {"weights": [[1, 0], [0.75, 0.25]]}


@pytest.mark.parametrize(
    ("step", "given", "line"),
    [
        (
            "inputs",
            {
                "embeddings": [[0], [0.5]],
                "positions": [[0], [-0.25]],
                "inputs": [[0], [0.25]],
            },
            "y[0] = 0.5 + (-0.25) = 0.25",
        ),
        (
            "q",
            {"inputs": [[0, 0], [1, -2]], "W_q": [[3], [0.5]], "q": [[0], [2]]},
            "y[0] = 1×3 + (-2)×0.5 = 2",
        ),
        (
            "scores",
            {"q": [[0] * 5, [1, 2, 3, 4, 5]], "k": [[1] * 5, [0] * 5], "scores": [[0, 0], [15, 0]]},
            "Q[y]·K[x] = 1×1 + 2×1 + 3×1 + 4×1 + … = 15",
        ),
        (
            "scaled",
            {"scores": [[0, 0], [3, 1]], "scaled": [[0, 0], [1.5, 0.5]]},
            "3 ÷ √4 = 3 ÷ 2 = 1.5",
        ),
        (
            "weights",
            {"masked": [[0, 0], [np.log(3), 0]]},
            "x: e^1.0986 ÷ (e^1.0986 + e^0) = 3 ÷ 4 = 0.75",
        ),
        (
            "mixed",
            {"v": [[4, 0], [8, 0]], "mixed": [[4, 0], [5, 0]]},
            "y[0] = 0.75×4 + 0.25×8 = 5",
        ),
        ("mixed", {"v": [[0, 4], [0, 8]], "mixed": [[0, 4], [0, 5]]}, "y[1] = 0.75×4 + 0.25×8 = 5"),
    ],
)  # fmt: skip
def test_a_number_is_worked_out_as_by_hand(step, given, line):
    assert worked(trace(**{**WEIGHTS, **given}), step) == line


@pytest.mark.parametrize(
    ("step", "given"),
    [
        ("inputs", {"embeddings": [[0], [1]], "positions": [[0], [1]], "inputs": [[0], [3]]}),
        ("inputs", {"embeddings": [[0], [1]], "inputs": [[0], [1]]}),
        ("q", {"inputs": [[0], [1]], "q": [[0], [1]]}),
        ("q", {"inputs": [[0], [1]], "W_q": [[3]], "q": [[0], [1]]}),
        ("scaled", {"scores": [[0, 0], [3, 1]], "scaled": [[0, 0], [2.5, 0.5]]}),
        ("weights", {"masked": [[0, 0], [1, 1]]}),
        ("weights", {"masked": [[0, 0], [-np.inf, -np.inf]]}),
        ("weights", {"masked": [[0, 0], [800.0, 0]]}),
        ("norm", {"norm": [[0, 0], [0, 0]]}),
        ("novel", {}),
    ],
)
def test_where_more_happened_than_a_line_can_say_there_is_no_line(step, given):
    assert worked(trace(**{**WEIGHTS, **given}), step) is None


def test_another_scale_is_said_as_it_is():
    given = {"scores": [[0, 0], [3, 1]], "scaled": [[0, 0], [0.3, 0.1]]}
    assert worked(trace({"scale": 0.1}, **WEIGHTS, **given), "scaled") == "3 × 0.1 = 0.3"
    same = {"scores": [[0, 0], [3, 1]], "scaled": [[0, 0], [3, 1]]}
    assert worked(trace({"scale": 1.0}, **WEIGHTS, **same), "scaled") is None
