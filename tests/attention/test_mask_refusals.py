"""What rules, biases and scores say when they cannot be, or were made for other sizes."""

import math

import pytest
import torch
from doors import unchecked

from clearhead.attention import (
    Blocks,
    Causal,
    Documents,
    Given,
    Global,
    Padding,
    Prefix,
    Scores,
    Window,
)
from clearhead.attention.bias import Slopes, Table
from clearhead.attention.masks import Once
from clearhead.foundation.errors import ConfigError, ShapeError

THREE = torch.tensor([1, 2, 3])
BLOCKS = Blocks.of(torch.ones(2, 2, dtype=torch.bool), size=4)
PAIRS = Given(torch.ones(1, 4, 6, dtype=torch.bool))
DOCUMENTS = Documents(torch.zeros(2, 6, dtype=torch.long))

# (rule, batch, queries, keys, first), and what is said of it
WRONG_SIZES = {
    "padding of another batch": (
        (Padding(lengths_B=THREE), 2, 6, 6, 0),
        r"lengths of shape \(3,\) for a batch of 2: give one whole number an example, shape \(2,\)",
    ),
    "padding starts of another batch": (
        (Padding(starts_B=THREE), 2, 6, 6, 0),
        r"starts of shape \(3,\) for a batch of 2",
    ),
    "documents of another batch": (
        (DOCUMENTS, 3, 6, 6, 0),
        r"covers 2 rows of 6 keys and 6 queries; the attention has 3 rows of 6 keys and 6 queries",
    ),
    "documents of another length": (
        (DOCUMENTS, 2, 6, 7, 0),
        r"covers 2 rows of 6 keys .* has 2 rows of 7 keys.*Give one document number for each",
    ),
    "documents that end before a later start does": (
        (DOCUMENTS, 2, 6, 6, 1),
        r"covers 2 rows of 6 keys .* has 2 rows of 7 keys",
    ),
    "documents with fewer queries": (
        (DOCUMENTS, 2, 7, 6, 0),
        r"6 queries; the attention has 2 rows of 6 keys and 7 queries",
    ),
    "blocks that end too early": (
        (BLOCKS, 1, 9, 9, 0),
        r"covers 8 × 8 positions and the keys reach 9: add blocks of 4",
    ),
    "blocks that end before a later start does": (
        (BLOCKS, 1, 2, 2, 7),
        r"covers 8 × 8 positions and the keys reach 9",
    ),
    "blocks with queries before the keys": (
        (BLOCKS, 1, 5, 4, 0),
        r"cannot say what 5 queries see of 4 keys.*Give at least as many keys as queries",
    ),
    "pairs of other sizes": (
        (PAIRS, 1, 4, 7, 0),
        r"The mask is \(1, 4, 6\) and the attention has 1 examples of 4 queries and 7 keys: "
        r"give \[4, 7\] or \[1, 4, 7\]",
    ),
    "pairs of another batch": (
        (Given(torch.ones(2, 4, 6, dtype=torch.bool)), 3, 4, 6, 0),
        r"The mask is \(2, 4, 6\) and the attention has 3 examples",
    ),
    "pairs at a later start": (
        (PAIRS, 1, 4, 6, 2),
        r"written out pair by pair starts at the first key; here 2 earlier keys were forgotten",
    ),
    "one of two rules": ((Causal() & BLOCKS, 1, 9, 9, 0), "covers 8 × 8"),
    "the other of two rules": ((BLOCKS | Causal(), 1, 9, 9, 0), "covers 8 × 8"),
    "a rule turned round": ((~BLOCKS, 1, 9, 9, 0), "covers 8 × 8"),
    "a rule remembered": ((Once(BLOCKS), 1, 9, 9, 0), "covers 8 × 8"),
}


@pytest.mark.parametrize("case", WRONG_SIZES)
def test_a_rule_made_for_other_sizes_says_which_and_what_would_do(case):
    (mask, batch, queries, keys, first), message = WRONG_SIZES[case]
    with pytest.raises(ShapeError, match=message):
        mask.check(batch, queries, keys, first)


def test_documents_whose_queries_are_of_another_batch_are_refused():
    with unchecked(), pytest.raises(ShapeError, match="covers 2 rows of 6 keys and 6 queries"):
        Documents(DOCUMENTS.columns_BS, rows_BT=torch.zeros(1, 6).long()).check(2, 6, 6)


def test_a_rule_that_fits_says_nothing():
    Padding(lengths_B=THREE, starts_B=THREE).check(3, 4, 6)
    DOCUMENTS.check(2, 4, 6)
    DOCUMENTS.check(2, 2, 4, 2)
    BLOCKS.check(1, 8, 8)
    BLOCKS.check(1, 1, 3, 5)
    PAIRS.check(7, 4, 6)
    (Causal() & Prefix(3) | ~Window(1, 1)).check(2, 9, 4, 5)


IMPOSSIBLE = {
    "a window to the wrong side": (
        lambda: Window(-1, 0),
        r"window of -1 to the left and 0 to the right is below 0: give distances of 0 or more",
    ),
    "a window to the wrong side, right": (lambda: Window(None, -2), "None to the left and -2"),
    "a prefix below 0": (lambda: Prefix(-1), "A prefix of -1 keys is below 0: give 0 or more"),
    "global tokens from the end": (
        lambda: Global((0, -1)),
        r"Global tokens at \(0, -1\) cannot be: positions count from 0",
    ),
    "blocks of nothing": (
        lambda: Blocks.of(torch.ones(2, 2, dtype=torch.bool), size=0),
        "Blocks of 0 positions hold nothing: give 1 or more",
    ),
    "a softcap that bends nothing": (
        lambda: Scores(softcap=0.0),
        r"A softcap of 0.0 bends nothing: it must be above 0 and finite. Leave it out for no cap",
    ),
    "a softcap without end": (lambda: Scores(softcap=math.inf), "softcap of inf bends nothing"),
    "a scale that is no number": (
        lambda: Scores(scale=math.nan),
        r"A scale of nan makes no scores: it must be a finite number. Leave it out for 1/√width",
    ),
    "too few buckets": (
        lambda: Table(torch.zeros(2, 4), furthest=8, both_sides=True),
        "2 buckets cannot hold distances up to 8: give at least 4 buckets",
    ),
    "buckets for nothing far": (
        lambda: Table(torch.zeros(8, 4), furthest=2, both_sides=True),
        "8 buckets cannot hold distances up to 2: .* a furthest above 2",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_is_refused_when_it_is_made(case):
    make, message = IMPOSSIBLE[case]
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize("memory", [[3], [3, -1]])
def test_documents_need_one_memory_each(memory):
    with pytest.raises(ShapeError, match=r"lengths \[2, 2\] cannot look at memories of lengths"):
        Documents.packed([2, 2], memory)


def test_a_bias_made_for_other_heads_says_so():
    with pytest.raises(ShapeError, match="There are 3 slopes for 4 query heads: give one a head"):
        Slopes(torch.ones(3)).check(4)
    table = Table(torch.zeros(8, 2), furthest=8, both_sides=True)
    with pytest.raises(ShapeError, match="has 2 columns for 4 query heads: give one column a head"):
        table.check(4)
    table.check(2)
    Slopes(torch.ones(4)).check(4)
