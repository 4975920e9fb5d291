"""The walk through matrices: inputs times W_q, W_k and W_v, attention, times W_o."""

from collections.abc import Mapping

import torch
from torch import Tensor

from ...attention import Causal, Everything, Given, Mask, Request, Scores
from .matrices import Matrices, Rows
from .picks import pick_number, pick_query
from .steps import walk
from .story import Story


def walk_matrices(
    given: Matrices, *, head: int | None, query: str | int | None, about: Mapping[str, object]
) -> Story:
    """The thirteen steps of these matrices."""
    place = pick_query(given.labels, query)
    chosen = pick_number("head", head, given.heads, "the attention")
    labels = {"query": given.labels, "key": given.labels}
    story = Story(labels, {"source": "matrices", **about, "query": place})

    inputs_TM = _tensor(given.rows)
    story.step("embeddings", _maybe(given.embeddings), "query", "model")
    story.step("positions", _maybe(given.positions), "query", "model")
    if given.embeddings is None:
        story.note("embeddings", "inputs_given")
        story.note("positions", "inputs_given")
    elif given.positions is None:
        story.note("positions", "no_positions")
    else:
        inputs_TM = inputs_TM + _tensor(given.positions)
    story.step("inputs", inputs_TM, "query", "model")

    request = asked_of(given, inputs_TM)
    steps = walk(request, chosen)
    story.attention(request, chosen, steps)
    output_TM = steps.joined_TM
    if given.W_o is None:
        story.note("output", "no_output_projection")
    else:
        output_TM = output_TM @ _tensor(given.W_o)
    story.step("output", output_TM, "query", "out")
    _keep_weights(story, given, chosen)
    return story


def asked_of(given: Matrices, inputs_TM: Tensor) -> Request:
    """The attention of these inputs under the matrices' projections."""

    def cut(rows: Rows) -> Tensor:
        projected_TN = inputs_TM @ _tensor(rows)
        return torch.stack(projected_TN.chunk(given.heads, dim=1))[None]

    return Request(
        q_BHTD=cut(given.W_q),
        k_BGSD=cut(given.W_k),
        v_BGSE=cut(given.W_v),
        mask=_rule(given),
        scores=Scores(scale=given.scale),
    )


def output_of(given: Matrices, inputs_TM: Tensor) -> Tensor:
    """What comes out for other inputs."""
    joined_TM = walk(asked_of(given, inputs_TM), 0).joined_TM
    return joined_TM if given.W_o is None else joined_TM @ _tensor(given.W_o)


def _rule(given: Matrices) -> Mask:
    if isinstance(given.mask, str):
        return Causal() if given.mask == "causal" else Everything()
    return Given(torch.tensor([list(map(bool, row)) for row in given.mask])[None])


def _keep_weights(story: Story, given: Matrices, head: int) -> None:
    """Keep the chosen head's part of every projection, and all of the last."""
    projections = (("W_q", given.W_q, "width"), ("W_k", given.W_k, "width"))
    for name, rows, axis in (*projections, ("W_v", given.W_v, "value")):
        story.keep(name, _tensor(rows).chunk(given.heads, dim=1)[head], "model", axis)
    if given.W_o is not None:
        story.keep("W_o", _tensor(given.W_o), "joined", "out")


def _maybe(rows: Rows | None) -> Tensor | None:
    return None if rows is None else _tensor(rows)


def _tensor(rows: Rows) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)
