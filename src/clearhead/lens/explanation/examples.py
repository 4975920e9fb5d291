"""The built-in examples. Each is small enough to be worked out by hand, and a test does so."""

from collections.abc import Callable
from dataclasses import replace

import torch

from ...foundation.errors import InputError, nearest
from .matrices import Matrices, Rows
from .picks import pick_number, pick_query
from .products import output_of, walk_matrices
from .story import Story

COLOURS = ("red", "green", "blue", "white")
TABLE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0))
ALPHAS = ((0.0, 0.0, 1.0, 0.0), (0.5, 0.0, 0.5, 0.0), (0.25, 0.25, 0.25, 0.25))

POWERFUL = Matrices(
    tokens=("Transformer", "is", "powerful"),
    embeddings=((0.5, 0.1, 0.3), (0.2, 0.6, 0.1), (0.3, 0.4, 0.7)),
    positions=((0.0, 0.1, 0.2), (0.3, 0.4, 0.5), (0.6, 0.7, 0.8)),
    W_q=((-2.0, -1.0, 0.0), (0.0, 2.0, -2.0), (0.0, 1.0, 1.0)),
    W_k=((-2.0, 0.0, 0.0), (-2.0, 0.0, 2.0), (0.0, -1.0, 1.0)),
    W_v=((1.0, 1.0, 0.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0)),
    W_o=((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
)


def _filled(number: float) -> Rows:
    return ((number,) * 4,) * 4


def _unit(size: int) -> Rows:
    return tuple(tuple(float(row == column) for column in range(size)) for row in range(size))


FIVE_ROWS = Matrices(
    tokens=("x1", "x2", "x3", "x4", "x5"),
    embeddings=((0.5,) * 4, *_unit(4)),
    W_q=_unit(4),
    W_k=_filled(0.5),
    W_v=_filled(0.25),
)
ORDER = (2, 0, 1)


def _look_up(query: str | int | None) -> Story:
    """A table of colours, asked with shares: no softmax, nothing learned, only α·V."""
    names = tuple(f"α{number}" for number in range(1, len(ALPHAS) + 1))
    axes = ("red", "green", "blue")
    about = {"query": pick_query(names, query), "scale": 1.0, "width": 4, "head": 0, "heads": 1}
    story = Story(
        {"query": names, "key": COLOURS, "width": COLOURS, "value": axes, "joined": axes},
        {**about, "colours": ["v", "mixed"]},
    )
    alpha_TS = torch.tensor(ALPHAS, dtype=torch.float64)
    table_SE = torch.tensor(TABLE, dtype=torch.float64)
    mixed_TE = alpha_TS @ table_SE
    for name in ("embeddings", "positions", "inputs"):
        story.step(name, None)
        story.note(name, "nothing_embedded")
    story.step("q", alpha_TS, "query", "width")
    story.note("q", "alpha_queries")
    story.step("k", torch.eye(4, dtype=torch.float64), "key", "width")
    story.note("k", "unit_keys")
    story.step("v", table_SE, "key", "value")
    story.note("v", "colour_table")
    for name in ("scores", "scaled", "masked", "weights"):
        story.step(name, alpha_TS, "query", "key")
    story.note("scaled", "not_scaled")
    story.note("masked", "mask_full", forbidden=0, pairs=alpha_TS.numel())
    story.note("weights", "already_shares")
    story.step("mixed", mixed_TE, "query", "value")
    story.step("joined", mixed_TE, "query", "joined")
    story.step("output", mixed_TE, "query", "joined")
    story.note("output", "no_output_projection")
    return story


def _shuffle(query: str | int | None) -> Story:
    """The same tokens in another order: what moves along without positions, and what does not."""
    words = replace(POWERFUL, positions=None)
    story = walk_matrices(words, head=None, query=query, about={})
    X_TM = torch.tensor(POWERFUL.embeddings, dtype=torch.float64)
    P_TM = torch.tensor(POWERFUL.positions, dtype=torch.float64)
    order = list(ORDER)
    story.labels["shuffled"] = [words.labels[place] for place in order]
    story.step("order", torch.tensor(order), "shuffled")

    plain, plain_shuffled = output_of(words, X_TM), output_of(words, X_TM[order])
    story.step("shuffled", plain_shuffled, "shuffled", "out")
    story.step("shuffled_difference", plain_shuffled - plain[order], "shuffled", "out")
    placed, placed_shuffled = output_of(words, X_TM + P_TM), output_of(words, X_TM[order] + P_TM)
    story.step("placed", placed, "query", "out")
    story.step("placed_shuffled", placed_shuffled, "shuffled", "out")
    moved = placed_shuffled - placed[order]
    story.step("placed_difference", moved, "shuffled", "out")
    story.note("placed_difference", "moved", largest=float(moved.abs().max()))
    return story


def _matrices(given: Matrices) -> Callable[[str | int | None], Story]:
    return lambda query: walk_matrices(given, head=None, query=query, about={})


WALKS: dict[str, Callable[[str | int | None], Story]] = {
    "look-up": _look_up,
    "powerful": _matrices(POWERFUL),
    "five-rows": _matrices(FIVE_ROWS),
    "shuffle": _shuffle,
}
EXAMPLES = tuple(WALKS)


def walk_example(name: str, *, head: int | None, query: str | int | None) -> Story:
    """The steps of a built-in example."""
    if name not in WALKS:
        raise InputError(
            f"There is no example {name!r}.{nearest(name, WALKS)} There are: {', '.join(WALKS)}."
        )
    pick_number("head", head, 1, f"the example {name!r}")
    story = WALKS[name](query)
    story.about |= {"source": "example", "title": name}
    return story
