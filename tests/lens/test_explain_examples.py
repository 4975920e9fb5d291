"""The built-in examples, each against numbers worked out by hand: plain Python, no torch."""

from math import exp, sqrt

import pytest

from clearhead import explain
from clearhead.foundation.errors import ConfigError, InputError
from clearhead.lens import EXAMPLES
from clearhead.lens.explanation import STEPS

# What the issue of this example says, in its own words.
EMBEDDINGS = [[0.5, 0.1, 0.3], [0.2, 0.6, 0.1], [0.3, 0.4, 0.7]]
POSITIONS = [[0, 0.1, 0.2], [0.3, 0.4, 0.5], [0.6, 0.7, 0.8]]


def rows(trace, name):
    return trace[name].values.tolist()


def times(left, right):
    return [
        [
            sum(a * b for a, b in zip(row, column, strict=True))
            for column in zip(*right, strict=True)
        ]
        for row in left
    ]


def plus(left, right):
    return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(left, right, strict=True)]


def turned(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def softmax(row):
    powers = [exp(number) for number in row]
    return [power / sum(powers) for power in powers]


def attention(inputs, trace):
    """Attention by loops, with the projections the trace shows."""
    q, k, v = (times(inputs, rows(trace, name)) for name in ("W_q", "W_k", "W_v"))
    scaled = [[number / sqrt(len(q[0])) for number in row] for row in times(q, turned(k))]
    mixed = times([softmax(row) for row in scaled], v)
    return times(mixed, rows(trace, "W_o")) if "W_o" in trace else mixed


def near(given, wanted, within=1e-12):
    assert len(given) == len(wanted)
    for row, other in zip(given, wanted, strict=True):
        assert row == pytest.approx(other, abs=within)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_tells_the_thirteen_steps_in_order(name):
    steps = explain(name).about["steps"]
    wanted = "embeddings positions inputs q k v scores scaled masked weights mixed joined output"
    assert tuple(wanted.split()) == STEPS
    assert steps[:13] == wanted.split()


def test_look_up_picks_a_row_and_then_mixes_rows():
    trace = explain("look-up")
    table = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
    assert rows(trace, "v") == table
    assert rows(trace, "weights")[0] == [0, 0, 1, 0]
    assert rows(trace, "mixed")[0] == table[2]
    assert rows(trace, "mixed")[1] == [0.5, 0, 0.5]  # half red, half blue
    assert rows(trace, "mixed")[2] == [0.5, 0.5, 0.5]  # (1 + 0 + 0 + 1) / 4
    assert all(sum(row) == 1 for row in rows(trace, "weights"))
    assert times(rows(trace, "q"), turned(rows(trace, "k"))) == rows(trace, "scores")
    assert not {"embeddings", "positions", "inputs"} & set(trace.arrays)


def test_powerful_is_what_one_gets_by_hand():
    trace = explain("powerful")
    assert trace.labels["query"] == ("Transformer", "is", "powerful")
    assert rows(trace, "embeddings") == EMBEDDINGS
    near(rows(trace, "positions"), POSITIONS)
    inputs = plus(EMBEDDINGS, POSITIONS)
    near(rows(trace, "inputs"), inputs)
    q, k, v = (times(inputs, rows(trace, name)) for name in ("W_q", "W_k", "W_v"))
    for name, wanted in (("q", q), ("k", k), ("v", v)):
        near(rows(trace, name), wanted)
    scores = times(q, turned(k))
    near(rows(trace, "scores"), scores)
    scaled = [[number / sqrt(3) for number in row] for row in scores]
    near(rows(trace, "scaled"), scaled)
    near(rows(trace, "masked"), scaled)
    weights = [softmax(row) for row in scaled]
    near(rows(trace, "weights"), weights)
    near(rows(trace, "mixed"), times(weights, v))
    near(rows(trace, "joined"), times(weights, v))
    near(rows(trace, "output"), times(times(weights, v), rows(trace, "W_o")))


def test_powerful_has_these_projections_and_these_first_numbers():
    trace = explain("powerful")
    assert rows(trace, "W_q") == [[-2, -1, 0], [0, 2, -2], [0, 1, 1]]
    assert rows(trace, "W_k") == [[-2, 0, 0], [-2, 0, 2], [0, -1, 1]]
    assert rows(trace, "W_v") == [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    near([rows(trace, "q")[0]], [[-1.0, 0.4, 0.1]])  # [.5 .2 .5] · W_q
    near([rows(trace, "k")[2]], [[-4.0, -1.5, 3.7]])  # [.9 1.1 1.5] · W_k
    assert rows(trace, "scores")[0][2] == pytest.approx(3.77)  # 4 − .6 + .37


def test_five_rows_is_what_one_gets_by_hand():
    trace = explain("five-rows")
    assert rows(trace, "k") == [[1] * 4] + [[0.5] * 4] * 4
    assert rows(trace, "v") == [[0.5] * 4] + [[0.25] * 4] * 4
    assert rows(trace, "scaled") == [[1] + [0.5] * 4] + [[0.5] + [0.25] * 4] * 4
    first, others = [0.2919] + [0.1770] * 4, [0.2430] + [0.1893] * 4
    near(rows(trace, "weights"), [first] + [others] * 4, within=6e-5)
    near(rows(trace, "output"), [[0.3230] * 4] + [[0.3108] * 4] * 4, within=5e-5)
    assert all(sum(row) == pytest.approx(1) for row in rows(trace, "weights"))


def test_shuffled_tokens_give_shuffled_outputs_until_there_are_positions():
    trace = explain("shuffle")
    order = rows(trace, "order")
    assert sorted(order) == [0, 1, 2] != order
    moved = [EMBEDDINGS[place] for place in order]
    near(rows(trace, "output"), attention(EMBEDDINGS, trace))
    near(rows(trace, "shuffled"), attention(moved, trace))
    near(rows(trace, "shuffled"), [rows(trace, "output")[place] for place in order])
    near(rows(trace, "shuffled_difference"), [[0] * 3] * 3)

    placed = attention(plus(EMBEDDINGS, POSITIONS), trace)
    near(rows(trace, "placed"), placed)
    near(rows(trace, "placed_shuffled"), attention(plus(moved, POSITIONS), trace))
    difference = rows(trace, "placed_difference")
    near(plus(difference, [placed[place] for place in order]), rows(trace, "placed_shuffled"))
    assert max(abs(number) for row in difference for number in row) > 0.1


def test_the_query_that_is_followed_can_be_chosen_by_name_or_number():
    assert explain("powerful").about["query"] == 0
    assert explain("powerful", query="IS").about["query"] == 1
    assert explain("powerful", query=2).about["query"] == 2
    assert explain("look-up", query="α3").about["query"] == 2


@pytest.mark.parametrize(
    ("what", "asked", "message"),
    [
        ("five-row", {}, r"no example 'five-row'. Did you mean 'five-rows'\? There are: look-up, "),
        ("powerful", {"query": "power"}, r"No token is 'power'.* 0 Transformer, 1 is, 2 powerful"),
        ("powerful", {"query": 3}, "There is no token 3. The tokens are: 0 Transformer"),
        ("powerful", {"query": "-1"}, "There is no token -1"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(what, asked, message):
    with pytest.raises(InputError, match=message):
        explain(what, **asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"head": 1}, "no head 1: the example 'five-rows' has only head 0"),
        ({"layer": 0}, "A built-in example has no layer, so layer has no effect"),
        ({"site": "encoder.0.self"}, "A built-in example has no site"),
        ({"target": "x"}, "A built-in example has no target"),
    ],
)
def test_what_an_example_has_no_use_for_is_refused(asked, message):
    with pytest.raises(ConfigError, match=message):
        explain("five-rows", **asked)
