"""The steps from q, k and v to the heads side by side, in float64, by the definition."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...attention import Attended, Request, reference
from ...attention.multihead import joined
from ...attention.score_grids import additions, allowed_pairs

STEPS = (
    "embeddings",
    "positions",
    "inputs",
    "q",
    "k",
    "v",
    "scores",
    "scaled",
    "masked",
    "weights",
    "mixed",
    "joined",
    "output",
)


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One head of one example, from scores to its mixed values; and all heads joined.

    `exact` is what the definition says for every head and example.
    """

    q_TD: Float[Tensor, "t d"]
    k_SD: Float[Tensor, "s d"]
    v_SE: Float[Tensor, "s e"]
    scores_TS: Float[Tensor, "t s"]
    scaled_TS: Float[Tensor, "t s"]
    masked_TS: Float[Tensor, "t s"]
    weights_TS: Float[Tensor, "t s"]
    mixed_TE: Float[Tensor, "t e"]
    joined_TM: Float[Tensor, "t he"]
    exact: Attended


def walk(request: Request, head: int) -> Walk:
    """Take the first example of `request` apart, at this query head."""
    exact = reference.attend(request)
    assert exact.weights_BHTS is not None
    group = group_of(request, head)
    q_TD = request.q_BHTD[0, head].double()
    k_SD, v_SE = request.k_BGSD[0, group].double(), request.v_BGSE[0, group].double()

    scores_TS = q_TD @ k_SD.T
    scaled_TS = request.scale * scores_TS
    if request.scores.softcap is not None:
        scaled_TS = request.scores.softcap * torch.tanh(scaled_TS / request.scores.softcap)
    added_BHTS = additions(request)
    if added_BHTS is not None:
        everywhere = added_BHTS.expand(*request.q_BHTD.shape[:3], request.keys)
        scaled_TS = scaled_TS + everywhere[0, head].double()
    allowed_TS = allowed_pairs(request)[0]
    return Walk(
        q_TD=q_TD,
        k_SD=k_SD,
        v_SE=v_SE,
        scores_TS=scores_TS,
        scaled_TS=scaled_TS,
        masked_TS=scaled_TS.masked_fill(~allowed_TS, -torch.inf),
        weights_TS=exact.weights_BHTS[0, head],
        mixed_TE=exact.values_BHTE[0, head],
        joined_TM=joined(exact.values_BHTE)[0],
        exact=exact,
    )


def group_of(request: Request, head: int) -> int:
    """The key/value head this query head reads."""
    return head // (request.q_BHTD.shape[1] // request.k_BGSD.shape[1])
