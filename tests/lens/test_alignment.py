"""Words of a translation and where they come from, against loops over the dense matrix."""

import pytest
import tiny
import torch

from clearhead import watch
from clearhead.attention import reference
from clearhead.foundation.errors import ConfigError, InputError
from clearhead.lens import Words, align, best_heads, words_of
from clearhead.lens.alignment import word_masses

SOURCE = [(0, 2), (2, 3), (3, 6)]
TARGET = [(1, 2), (2, 4)]


@pytest.fixture(scope="module")
def look():
    network = tiny.made(next(iter(tiny.TRANSLATORS.values())), dtype=torch.float32)
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 2, 7), tiny.ids(2, 2, 5))
    return seen["decoder.1.cross"]


def by_hand(look, example, heads, back):
    weights = reference.attend(look.source.request).weights_BHTS[example, heads].mean(0)
    table = []
    for start, stop in TARGET:
        rows = range(start - back, stop - back)
        table.append(
            [sum(float(weights[row, a:b].sum()) for row in rows) / len(rows) for a, b in SOURCE]
        )
    return table


@pytest.mark.parametrize("written", ["produces", "reads"])
@pytest.mark.parametrize("heads", [None, [1], [0, 3]])
def test_words_gather_the_weights_of_their_pieces(look, heads, written):
    words = Words(source=SOURCE, target=TARGET, example=1, written=written)
    count = look.shape[1]
    chosen = list(range(count)) if heads is None else [head % count for head in heads]
    found = word_masses(look, words, chosen)
    table = by_hand(look, 1, chosen, 1 if written == "produces" else 0)
    assert torch.allclose(found.double(), torch.tensor(table).double(), atol=1e-6)
    pairs = align(look, words, heads=chosen)
    best = [max(range(3), key=lambda source, row=row: row[source]) for row in table]
    assert pairs.pharaoh == " ".join(f"{s}-{t}" for t, s in enumerate(best))
    assert [pair.score for pair in pairs.pairs] == pytest.approx([max(r) for r in table], abs=1e-6)


def test_the_best_head_is_the_one_that_errs_least(look):
    words = Words(source=SOURCE, target=TARGET)
    truth = {(p.source, p.target) for p in align(look, words, heads=[1]).pairs}
    judged = best_heads([(look, words, frozenset(truth))])
    assert judged[0].error_rate == 0
    assert {each.head for each in judged} == set(range(look.shape[1]))
    assert 1 in [each.head for each in judged if each.error_rate == 0]
    wrong = frozenset({(9, 0), (9, 1)})
    assert all(each.error_rate == 1 for each in best_heads([(look, words, wrong)]))


@pytest.mark.parametrize(
    ("text", "spans", "words"),
    [
        ("unhappy cat", [(0, 2), (2, 7), (8, 11)], [(0, 2), (2, 3)]),
        ("unhappy cat", [(0, 0), (0, 2), (2, 7), (7, 11)], [(1, 3), (3, 4)]),
        ("你好。", [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3)]),
        ("don't", [(0, 3), (3, 4), (4, 5)], [(0, 1), (1, 2), (2, 3)]),
        ("a b", [(0, 1), (0, 0), (2, 3)], [(0, 1), (2, 3)]),
    ],
)
def test_pieces_are_joined_to_words(text, spans, words):
    assert words_of(spans, text) == words


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"source": [(0, 9)]}, InputError, "Word 0 of the source is pieces 0 to 9.* 0 to 7"),
        ({"target": [(0, 1)]}, InputError, "Word 0 of the target is pieces 0 to 1.* 1 to 6"),
        ({"target": []}, InputError, "The target has no words"),
        ({"written": "sees"}, ConfigError, "written='sees' says nothing"),
    ],
)
def test_words_that_are_not_there(look, changes, error, message):
    given = {"source": SOURCE, "target": TARGET, **changes}
    with pytest.raises(error, match=message):
        align(look, Words(**given))
    with pytest.raises(InputError, match="no sentences to judge"):
        best_heads([])
