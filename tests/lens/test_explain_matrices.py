"""Matrices in a TOML file: numbers by hand, and a sentence for everything that does not fit."""

from math import exp, sqrt

import pytest

from clearhead import explain
from clearhead.foundation.errors import ConfigError, FileError, ShapeError
from clearhead.lens import Matrices, read_matrices

GOOD = {
    "tokens": ["a", "b"],
    "embeddings": [[1, 0.5, 0], [0, 1, 2]],
    "W_q": [[1, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0]],
    "W_k": [[0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]],
    "W_v": [[1, 2], [3, 4], [5, 6]],
}
TEXT = """
tokens = ["a", "b"]
embeddings = [[1, 0.5, 0], [0, 1, 2]]
W_q = [[1, 0, 2, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
W_k = [[0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]]
W_v = [[1, 2], [3, 4], [5, 6]]
"""


def rows(trace, name):
    return trace[name].values.tolist()


def softmax(row):
    powers = [exp(number) for number in row]
    return [power / sum(powers) for power in powers]


def test_a_file_and_the_same_lists_in_memory_are_the_same(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(TEXT, encoding="utf-8")
    traces = [explain(path), explain(str(path)), explain(GOOD), explain(read_matrices(GOOD))]
    for trace in traces:
        assert rows(trace, "output") == rows(traces[0], "output")
        assert trace.labels["key"] == ("a", "b")
    assert [trace.about["title"] for trace in traces] == ["mine.toml"] * 2 + ["matrices"] * 2


def test_everything_at_its_default_is_one_plain_head():
    trace = explain(GOOD)
    # q: [1 .5 2 .5] and [2 3 0 1]; k: [.5 1 1 .5] and [1 0 2 3]
    assert rows(trace, "scores") == [[3.25, 6.5], [4.5, 5.0]]
    assert rows(trace, "scaled") == [[1.625, 3.25], [2.25, 2.5]]
    weights = [softmax([1.625, 3.25]), softmax([2.25, 2.5])]
    for row, wanted in zip(rows(trace, "weights"), weights, strict=True):
        assert row == pytest.approx(wanted)
    a, b = weights[0]  # v: [2.5 4] and [13 16]
    assert rows(trace, "output")[0] == pytest.approx([2.5 * a + 13 * b, 4 * a + 16 * b])
    assert "positions" not in trace
    assert [note.says for note in trace.notes_about("positions")] == ["no_positions"]
    assert [note.says for note in trace.notes_about("output")] == ["no_output_projection"]


def test_every_head_is_cut_from_its_own_columns():
    trace = explain(GOOD | {"heads": 2}, head=1)
    assert rows(trace, "q") == [[2, 0.5], [0, 1]]
    assert rows(trace, "k") == [[1, 0.5], [2, 3]]
    assert rows(trace, "v") == [[4], [16]]
    assert rows(trace, "W_v") == [[2], [4], [6]]
    assert rows(trace, "scaled")[0] == pytest.approx([2.25 / sqrt(2), 5.5 / sqrt(2)])
    first = explain(GOOD | {"heads": 2}, head=0)
    assert [row[0] for row in rows(trace, "joined")] == [row[0] for row in rows(first, "mixed")]
    assert [row[1] for row in rows(trace, "joined")] == [row[0] for row in rows(trace, "mixed")]
    assert (trace.about["head"], trace.about["heads"], trace.about["width"]) == (1, 2, 2)


def test_positions_masks_scale_and_output_are_used():
    given = GOOD | {
        "positions": [[0, 0, 1], [1, 0, 0]],
        "mask": "causal",
        "scale": 0.1,
        "W_o": [[0, 1, 0], [1, 0, 0.5]],
    }
    trace = explain(given, query="b")
    assert rows(trace, "inputs") == [[1, 0.5, 1], [1, 1, 2]]
    assert rows(trace, "scaled")[1] == pytest.approx([0.1 * x for x in rows(trace, "scores")[1]])
    assert rows(trace, "masked")[0][1] == -float("inf")
    assert rows(trace, "weights")[0] == [1, 0]
    x, y = rows(trace, "joined")[0]
    assert rows(trace, "output")[0] == pytest.approx([y, x, 0.5 * y])
    says = {note.says: note.facts for note in trace.notes}
    assert says["mask_causal"] == {"forbidden": 1, "pairs": 4}
    assert says["own_scale"] == {"scale": 0.1}


def test_a_mask_can_be_written_out_and_may_leave_a_query_blind():
    trace = explain(GOOD | {"mask": [[0, 1], [False, False]]})
    assert rows(trace, "weights") == [[0, 1], [0, 0]]
    assert rows(trace, "mixed") == [[13, 16], [0, 0]]
    says = {note.says: note.facts for note in trace.notes}
    assert says["mask_rule"] == {"forbidden": 3, "pairs": 4}
    assert says["blind"] == {"rows": 1}


def test_inputs_may_be_given_instead_of_embeddings():
    given = {key: value for key, value in GOOD.items() if key != "embeddings"}
    trace = explain(given | {"inputs": GOOD["embeddings"]})
    assert rows(trace, "inputs") == GOOD["embeddings"]
    for absent in ("embeddings", "positions"):
        assert absent not in trace
        assert [note.says for note in trace.notes_about(absent)] == ["inputs_given"]
    assert rows(trace, "output") == rows(explain(GOOD), "output")


def test_tokens_without_names_have_numbers():
    trace = explain({key: value for key, value in GOOD.items() if key != "tokens"})
    assert trace.labels["query"] == ("0", "1")


def changed(**settings):
    given = GOOD | settings
    return {key: value for key, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokens": ["a"]}, "1 tokens and 2 rows of numbers"),
        ({"embeddings": []}, "embeddings has no numbers"),
        ({"embeddings": [[], []]}, "embeddings has no numbers"),
        ({"W_q": [[1, 0], [1]]}, "W_q has rows of 1 and of 2 numbers"),
        ({"W_q": [[1, 2], [3, 4]]}, "W_q is 2 × 2 and must be 3 × 2: one row for each number"),
        ({"W_v": [[1]]}, "W_v is 1 × 1 and must be 3 × 1"),
        ({"W_k": [[1], [2], [3]]}, "W_k is 3 × 1 and must be 3 × 4: as W_q"),
        ({"W_o": [[1, 2, 3]]}, "W_o is 1 × 3 and must be 2 × 3: one row for each column of W_v"),
        ({"positions": [[1, 2, 3]]}, "positions is 1 × 3 and must be 2 × 3"),
        ({"heads": 3}, "W_q has 4 columns, which cannot be cut into 3 heads"),
        ({"heads": 4}, "W_v has 2 columns, which cannot be cut into 4 heads"),
        ({"mask": [[1, 1]]}, "The mask is 1 × 2 and must be 2 × 2"),
        ({"mask": [[1, 1], [1]]}, "The mask is 2 × 1 or 2 and must be 2 × 2"),
        ({"mask": []}, "The mask is 0 × 0 and must be 2 × 2"),
    ],
)
def test_sizes_that_do_not_fit_are_told_with_those_that_would(settings, message):
    with pytest.raises(ShapeError, match=f"the configuration: .*{message}"):
        explain(changed(**settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embeddings": None}, "needs embeddings or inputs, and neither is given"),
        ({"inputs": [[1]]}, "needs embeddings or inputs, and both are given"),
        ({"embeddings": None, "inputs": [[1, 2, 3]], "tokens": None, "positions": [[1, 2, 3]]},
         "positions has no effect: inputs have their positions in them already"),
        ({"W_v": None}, "lacks 'W_v'"),
        ({"w_q": [[1]]}, r"has no 'w_q'. Did you mean 'W_q'\?"),
        ({"W_q": "x"}, "W_q is 'x', but it wants a list"),
        ({"heads": 0}, "heads is 0, but it wants a whole number, at least 1"),
        ({"mask": "casual"}, "mask is 'casual', but it wants"),
        ({"mask": [[1, 2], [0, 1]]}, "A mask has 1 where a query may look"),
        ({"embeddings": [[1, float("nan"), 0]]}, "embeddings has inf or nan in it"),
        ({"scale": float("nan")}, "scale is nan: give a finite number, or leave it out"),
        ({"scale": float("inf")}, "scale is inf: give a finite number"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_told(settings, message):
    with pytest.raises(ConfigError, match=message):
        explain(changed(**settings))


def test_a_file_that_is_not_there_or_not_toml_is_told(tmp_path):
    with pytest.raises(FileError, match=r"nowhere\.toml cannot be read"):
        explain(tmp_path / "nowhere.toml")
    (tmp_path / "bad.toml").write_text("W_q = [[1,", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"bad\.toml is not TOML"):
        explain(tmp_path / "bad.toml")


def test_what_matrices_have_no_use_for_is_refused():
    with pytest.raises(ConfigError, match="Matrices has no layer, so layer has no effect"):
        explain(GOOD, layer=1)
    with pytest.raises(ConfigError, match="There is no head 1: the attention has only head 0"):
        explain(Matrices(embeddings=((1.0,),), W_q=((1.0,),), W_k=((1.0,),), W_v=((1.0,),)), head=1)
