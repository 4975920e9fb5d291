"""Requests of every kind: each case turns some argument of attention away from its default."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from clearhead.attention import (
    Blocks,
    Causal,
    Documents,
    Everything,
    Given,
    Global,
    Mask,
    Padding,
    Prefix,
    Request,
    Scores,
    Window,
)
from clearhead.attention.bias import Slopes, Table

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
FLOATS = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float64": torch.float64,
}

MakeMask = Callable[[str], Mask]
MakeScores = Callable[[torch.Generator], Scores]


@dataclass(frozen=True, kw_only=True)
class Case:
    """The sizes of a request, and how its mask (on a device) and its scores (drawn) are made."""

    mask: MakeMask = lambda device: Everything()
    scores: MakeScores = lambda draw: Scores()
    batch: int = 2
    heads: int = 4
    groups: int = 4
    queries: int = 9
    keys: int = 9
    width: int = 16
    value_width: int = 16
    first: int = 0


def whole(device: str, *numbers: int) -> Tensor:
    return torch.tensor(numbers, device=device)


def normal(draw: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=draw, dtype=torch.float64)


def chance(*shape: int, share: float = 0.6) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(3)) < share


def documents(device: str) -> Documents:
    ids = [[0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0, 0, 1, 1]]
    return Documents(torch.tensor(ids, device=device))


def packed(device: str) -> Documents:
    return Documents.packed([3, 4, 2], device=device)


def longformer(reach: int, *positions: int) -> Mask:
    return Window(left=reach, right=reach) | Global(positions)


def bigbird(device: str) -> Mask:
    draw = torch.Generator().manual_seed(5)
    scattered = Blocks.scattered(3, each=1, size=4, draw=draw)
    return Window(1, 1) | Global((0, 7)) | Blocks.of(scattered.layout_RC.to(device), size=4)


def blocks(device: str) -> Mask:
    layout = torch.tensor([[1, 0, 0], [0, 1, 1], [1, 1, 0]], dtype=torch.bool, device=device)
    return Blocks.of(layout, size=4)


def table(draw: torch.Generator, *, both_sides: bool, heads: int = 4) -> Scores:
    return Scores(bias=Table(normal(draw, 8, heads), furthest=6, both_sides=both_sides))


def slopes(draw: torch.Generator) -> Scores:
    return Scores(bias=Slopes(torch.tensor([1.0, 0.5, 0.25, 0.125], dtype=torch.float64)))


MASKS: dict[str, Case] = {
    "everything": Case(),
    "causal": Case(mask=lambda device: Causal()),
    "window to both sides": Case(mask=lambda device: Window(2, 1)),
    "window to the left": Case(mask=lambda device: Window(3, None)),
    "window to the right": Case(mask=lambda device: Window(None, 2)),
    "window without a limit": Case(mask=lambda device: Window(None, None)),
    "window of itself": Case(mask=lambda device: Window(0, 0)),
    "causal window": Case(mask=lambda device: Causal() & Window(2, None)),
    "padding right": Case(mask=lambda device: Padding(lengths_B=whole(device, 5, 9))),
    "padding left": Case(mask=lambda device: Padding(starts_B=whole(device, 4, 0))),
    "padding both": Case(
        mask=lambda device: Padding(lengths_B=whole(device, 7, 9), starts_B=whole(device, 2, 1))
    ),
    "padding of nothing": Case(mask=lambda device: Padding()),
    "blind rows": Case(mask=lambda device: Causal() & Padding(starts_B=whole(device, 3, 0))),
    "blind example": Case(mask=lambda device: Padding(lengths_B=whole(device, 0, 9))),
    "blind batch": Case(mask=lambda device: Window(0, 0) & ~Window(1, 1)),
    "prefix": Case(mask=lambda device: Causal() | Prefix(4)),
    "documents": Case(mask=documents),
    "documents out of order": Case(
        mask=lambda device: Documents(
            torch.tensor([[0, 1, 0, 1, 2, 2, 0, 1, 2]] * 2, device=device)
        )
    ),
    "documents & causal": Case(mask=lambda device: documents(device) & Causal()),
    "packed documents": Case(batch=1, mask=packed),
    "packed documents & causal": Case(batch=1, mask=lambda device: Causal() & packed(device)),
    "packed documents, the last queries": Case(batch=1, queries=4, mask=packed),
    "packed documents across": Case(
        batch=1,
        keys=11,
        mask=lambda device: Documents.packed([3, 4, 2], [2, 5, 4], device=device),
    ),
    "packed documents across, one with no keys": Case(
        batch=1,
        keys=7,
        mask=lambda device: Documents.packed([3, 4, 2], [2, 0, 5], device=device),
    ),
    "longformer": Case(mask=lambda device: longformer(1, 0, 5)),
    "bigbird": Case(mask=bigbird),
    "blocks": Case(mask=blocks),
    "not": Case(mask=lambda device: ~Window(1, 1)),
    "not padding": Case(mask=lambda device: ~Padding(lengths_B=whole(device, 5, 3))),
    "given once": Case(mask=lambda device: Given(chance(1, 9, 9).to(device))),
    "given each": Case(mask=lambda device: Given(chance(2, 9, 9).to(device))),
    "given across": Case(
        queries=5, keys=11, mask=lambda device: Given(chance(2, 5, 11).to(device))
    ),
}
SIZES: dict[str, Case] = {
    "grouped heads": Case(groups=2, mask=lambda device: Causal()),
    "three heads a group": Case(heads=6, groups=2, mask=lambda device: Window(3, 0)),
    "one shared head": Case(groups=1),
    "one query with a cache": Case(queries=1, mask=lambda device: Causal()),
    "some queries with a cache": Case(queries=3, mask=lambda device: Causal()),
    "more queries than keys": Case(queries=9, keys=5),
    "blind queries before the keys": Case(queries=9, keys=5, mask=lambda device: Causal()),
    "a later start": Case(
        queries=3,
        first=7,
        mask=lambda device: Causal() & Padding(starts_B=whole(device, 9, 0)),
    ),
    "a later start, packed": Case(
        batch=1,
        queries=2,
        keys=5,
        first=4,
        mask=lambda device: packed(device) & Window(3, 0),
    ),
    "wide values": Case(value_width=24, mask=lambda device: Causal()),
    "narrow values": Case(width=32, mask=lambda device: Window(2, 2)),
    "narrow heads": Case(width=8, value_width=8, mask=lambda device: Causal()),
    "odd widths": Case(width=19, value_width=19, mask=lambda device: Causal()),
    "batch of one": Case(batch=1, mask=lambda device: Causal()),
    "one token": Case(batch=1, queries=1, keys=1, mask=lambda device: Causal()),
    "no queries": Case(queries=0),
    "no keys": Case(keys=0),
    "several tiles": Case(
        batch=1, heads=2, groups=2, queries=600, keys=600, mask=lambda device: Causal()
    ),
    "several tiles, window": Case(
        batch=1, heads=2, groups=1, queries=600, keys=600, mask=lambda device: Window(40, 0)
    ),
    "several tiles, last queries": Case(
        batch=1, heads=2, groups=2, queries=300, keys=600, mask=lambda device: Window(70, 3)
    ),
    "several tiles, longformer": Case(
        batch=1,
        heads=2,
        groups=2,
        queries=600,
        keys=600,
        mask=lambda device: longformer(30, 0, 430),
    ),
    "several tiles, blind in the middle": Case(
        batch=1,
        heads=2,
        groups=2,
        queries=600,
        keys=600,
        mask=lambda device: (
            Window(20, 20) & ~Window(None, None) | Window(9, 0) & Padding(whole(device, 200))
        ),
    ),
    "several tiles, documents": Case(
        batch=2,
        heads=2,
        groups=2,
        queries=600,
        keys=600,
        mask=lambda device: Documents(torch.arange(1200, device=device).reshape(2, 600) // 170),
    ),
}
SCORES: dict[str, Case] = {
    "unusual scale": Case(scores=lambda draw: Scores(scale=0.7)),
    "negative scale": Case(scores=lambda draw: Scores(scale=-0.3), mask=lambda device: Causal()),
    "softcap": Case(scores=lambda draw: Scores(softcap=1.5), mask=lambda device: Causal()),
    "bias for every pair": Case(scores=lambda draw: Scores(bias=normal(draw, 2, 4, 9, 9))),
    "bias for every head": Case(scores=lambda draw: Scores(bias=normal(draw, 4, 9, 9))),
    "bias alike for all heads": Case(scores=lambda draw: Scores(bias=normal(draw, 2, 1, 9, 9))),
    "bias for every key": Case(scores=lambda draw: Scores(bias=normal(draw, 9))),
    "bias for every key of an example": Case(
        scores=lambda draw: Scores(bias=normal(draw, 2, 1, 1, 9))
    ),
    "bias for every query": Case(scores=lambda draw: Scores(bias=normal(draw, 2, 4, 9, 1))),
    "one bias": Case(scores=lambda draw: Scores(bias=normal(draw, 1)[0])),
    "slopes": Case(scores=slopes),
    "buckets to both sides": Case(scores=lambda draw: table(draw, both_sides=True)),
    "buckets to the left": Case(
        scores=lambda draw: table(draw, both_sides=False), mask=lambda device: Causal()
    ),
    "sinks": Case(scores=lambda draw: Scores(sinks=normal(draw, 4))),
    "causal slopes, grouped, cached, later": Case(
        groups=2, queries=4, first=6, scores=slopes, mask=lambda device: Window(4, 0)
    ),
    "bias, padding and groups": Case(
        groups=2,
        scores=lambda draw: Scores(bias=normal(draw, 4, 9, 9), scale=0.4),
        mask=lambda device: Padding(lengths_B=whole(device, 4, 9)) & Causal(),
    ),
    "bias and blind rows": Case(
        scores=lambda draw: Scores(bias=normal(draw, 1, 4, 9, 9)),
        mask=lambda device: Causal() & Padding(starts_B=whole(device, 3, 0)),
    ),
    "buckets, prefix, across": Case(
        queries=5,
        keys=11,
        scores=lambda draw: table(draw, both_sides=True),
        mask=lambda device: Causal() | Prefix(3),
    ),
    "softcap, sinks and window": Case(
        scores=lambda draw: Scores(softcap=2.0, sinks=normal(draw, 4)),
        mask=lambda device: Window(2, 0),
    ),
    "softcap, bias and scale": Case(
        scores=lambda draw: Scores(softcap=1.0, bias=normal(draw, 4, 1, 9), scale=0.8),
    ),
    "sinks and blind rows": Case(
        scores=lambda draw: Scores(sinks=normal(draw, 4)),
        mask=lambda device: Causal() & Padding(starts_B=whole(device, 3, 0)),
    ),
    "several tiles, buckets and window": Case(
        batch=1,
        heads=2,
        groups=2,
        queries=600,
        keys=600,
        scores=lambda draw: table(draw, both_sides=True, heads=2),
        mask=lambda device: Window(50, 50),
    ),
    "several tiles, bias and longformer": Case(
        batch=1,
        heads=2,
        groups=1,
        queries=300,
        keys=600,
        scores=lambda draw: Scores(bias=normal(draw, 2, 300, 600)),
        mask=lambda device: longformer(30, 0, 430),
    ),
}
CASES = MASKS | SIZES | SCORES


def make_request(
    case: str, *, dtype: str = "float32", device: str = "cpu", trains: bool = False
) -> Request:
    """The request of this case, the same numbers every time."""
    made, draw = CASES[case], torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> Tensor:
        return normal(draw, *shape)

    request = Request(
        q_BHTD=drawn(made.batch, made.heads, made.queries, made.width),
        k_BGSD=drawn(made.batch, made.groups, made.keys, made.width),
        v_BGSE=drawn(made.batch, made.groups, made.keys, made.value_width),
        mask=made.mask(device),
        scores=made.scores(draw),
        first=made.first,
    )
    cast = {
        name: tensor.to(device=device, dtype=FLOATS[dtype]).requires_grad_(trains)
        for name, tensor in leaves(request).items()
    }
    return with_leaves(request, cast)


def leaves(request: Request) -> dict[str, Tensor]:
    """Every tensor of a request that has a gradient, by name."""
    found = {"q": request.q_BHTD, "k": request.k_BGSD, "v": request.v_BGSE}
    bias = request.scores.bias
    if isinstance(bias, Tensor):
        found["bias"] = bias
    elif isinstance(bias, Table):
        found["table"] = bias.table_NH
    elif isinstance(bias, Slopes):
        found["slopes"] = bias.slopes_H
    if request.scores.sinks is not None:
        found["sinks"] = request.scores.sinks
    return found


def with_leaves(request: Request, given: dict[str, Tensor]) -> Request:
    """The same request over other tensors."""
    bias = request.scores.bias
    if isinstance(bias, Tensor):
        bias = given["bias"]
    elif isinstance(bias, Table):
        bias = replace(bias, table_NH=given["table"])
    elif isinstance(bias, Slopes):
        bias = replace(bias, slopes_H=given["slopes"])
    return replace(
        request,
        q_BHTD=given["q"],
        k_BGSD=given["k"],
        v_BGSE=given["v"],
        scores=replace(request.scores, bias=bias, sinks=given.get("sinks")),
    )


def doubled(request: Request) -> tuple[Request, dict[str, Tensor]]:
    """The same numbers in float64, and their leaves, for the definition to work on."""
    wide = {
        name: tensor.detach().double().requires_grad_() for name, tensor in leaves(request).items()
    }
    return with_leaves(request, wide), wide
