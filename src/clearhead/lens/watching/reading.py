"""Masks that came written out, read as rules: what took n × n numbers takes two a query."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from ...attention import Given, Mask, Request
from ...attention.intervals import Place, intervals
from ...attention.masks import Both, Everything, plain
from ..questions.source import Blind

FLOOR = -1e30  # what is added to a score to forbid a pair is below this in every precision


@dataclass(frozen=True)
class Reading:
    """The same request with its mask as simple as it is, and what blind rows were made into."""

    request: Request
    blind: Blind


def read(request: Request, values_BHTE: Tensor) -> Reading:
    """Turn additions that forbid into a mask, and a mask into stretches where it is that."""
    parted = parted_bias(request)
    place = Place(request.queries, request.keys, request.first, request.q_BHTD.device)
    simple: Mask = intervals(parted.mask, place) or parted.mask
    parted = replace(parted, mask=simple)
    return Reading(parted, blind_rows(parted, values_BHTE))


def parted_bias(request: Request) -> Request:
    """What is added to the scores, parted into who may look at whom and true numbers."""
    bias = request.scores.bias
    if not isinstance(bias, Tensor):
        return request
    floor = max(FLOOR, torch.finfo(bias.dtype).min / 2)
    may = bias.detach() > floor
    forbids = not bool(may.all())
    numbers = bias.masked_fill(~may, 0.0) if forbids else bias
    scores = replace(request.scores, bias=numbers if bool((numbers != 0).any()) else None)
    if not forbids:
        return replace(request, scores=scores)
    mask = Given(pairs_of(may, request))
    whole = isinstance(plain(request.mask), Everything)
    return replace(request, scores=scores, mask=mask if whole else Both(request.mask, mask))


def pairs_of(may: Bool[Tensor, "..."], request: Request) -> Bool[Tensor, "b t s"]:
    """Who may look, without the axis of heads. Where heads differ, whoever may in one."""
    full = may.reshape((1,) * (4 - may.dim()) + tuple(may.shape))
    batch, _, _, _ = full.shape
    return full.any(1).expand(batch, request.queries, request.keys)


def blind_rows(request: Request, values_BHTE: Tensor) -> Blind:
    """What the kernel that ran made of queries that see nothing: looked up in what came out."""
    batch, queries = len(request.q_BHTD), request.queries
    place = Place(queries, request.keys, request.first, request.q_BHTD.device)
    found = intervals(request.mask, place)
    if found is None or not request.keys:
        return "nothing"
    blind_BT = (found.stop_BT <= found.start_BT).expand(batch, queries)
    if not bool(blind_BT.any()):
        return "nothing"
    made = values_BHTE.detach().transpose(1, 2)[blind_BT]
    return "everything" if bool((made.nan_to_num() != 0).any()) else "nothing"
