"""The front door: queries, keys, values and a rule in; values (and perhaps weights) out."""

from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from ..foundation.errors import ShapeError
from .announce import WATCHERS, Announcement, announce
from .choose import Choice, choose
from .choose import why as why_chosen
from .contract import PLAIN, Attended, Request, Scores, check
from .intervene import CHANGERS, changed
from .masks import Everything, Mask
from .rules import Given

EVERYTHING = Everything()


class Site(NamedTuple):
    """Where in a model an attention takes place, the way the model reads: `decoder.5.cross`."""

    name: str
    module: nn.Module | None = None


NOWHERE = Site("attend")


def attend(  # noqa: PLR0913 - all that attention can be asked, by name
    q_BHTD: Float[Tensor, "b h t d"],
    k_BGSD: Float[Tensor, "b g s d"],
    v_BGSE: Float[Tensor, "b g s e"],
    *,
    mask: Mask | Bool[Tensor, "*b t s"] | None = None,
    scores: Scores = PLAIN,
    dropout: float | None = None,
    kernel: str = "auto",
    first: int = 0,
    wants_weights: bool = False,
    site: Site = NOWHERE,
) -> Attended:
    """Let every query gather values from the keys it may see.

    Args:
        mask: Who may look at whom: a rule, or booleans where True means "may look". Everyone at
            everyone when left out.
        scores: How a score is made from q·k.
        dropout: The share of weights set to zero at random, now. None when left out.
        kernel: `auto`, or the name of the only kernel allowed.
        first: The position of the first key, where earlier ones were forgotten.
        wants_weights: Also return the weights. Restricts the choice to kernels that build them.
        site: Where this takes place, for whoever watches.
    """
    request = asked(
        q_BHTD,
        k_BGSD,
        v_BGSE,
        mask=mask,
        scores=scores,
        dropout=dropout,
        first=first,
        wants_weights=wants_weights,
    )
    attended = choose(request, kernel)(request)
    if WATCHERS or CHANGERS:
        told = Announcement(site=site.name, module=site.module, request=request, attended=attended)
        announce(told)
        attended = changed(told)
    return attended


def why(  # noqa: PLR0913 - the arguments of `attend`
    q_BHTD: Float[Tensor, "b h t d"],
    k_BGSD: Float[Tensor, "b g s d"],
    v_BGSE: Float[Tensor, "b g s e"],
    *,
    mask: Mask | Bool[Tensor, "*b t s"] | None = None,
    scores: Scores = PLAIN,
    dropout: float | None = None,
    kernel: str = "auto",
    first: int = 0,
    wants_weights: bool = False,
) -> Choice:
    """Say which kernel `attend` would take for the same arguments, and why."""
    request = asked(
        q_BHTD,
        k_BGSD,
        v_BGSE,
        mask=mask,
        scores=scores,
        dropout=dropout,
        first=first,
        wants_weights=wants_weights,
    )
    return why_chosen(request, kernel)


def asked(
    q_BHTD: Tensor,
    k_BGSD: Tensor,
    v_BGSE: Tensor,
    *,
    mask: Mask | Tensor | None,
    scores: Scores,
    dropout: float | None,
    first: int = 0,
    wants_weights: bool = False,
) -> Request:
    """The arguments as one checked request."""
    request = Request(
        q_BHTD=q_BHTD,
        k_BGSD=k_BGSD,
        v_BGSE=v_BGSE,
        mask=as_rule(mask),
        scores=scores,
        dropout=dropout or 0.0,
        first=first,
        wants_weights=wants_weights,
        wants_lse=bool(WATCHERS),
    )
    check(request)
    return request


def as_rule(mask: Mask | Tensor | None) -> Mask:
    """A rule as it is, booleans as a rule, nothing as everything."""
    if mask is None:
        return EVERYTHING
    if isinstance(mask, Mask):
        return mask
    if not mask.dtype.is_floating_point and mask.dim() in (2, 3):
        return Given(mask.bool() if mask.dim() == 3 else mask.bool()[None])
    raise ShapeError(
        f"A mask of {mask.dtype} and shape {tuple(mask.shape)} is not a rule about pairs: give "
        "booleans of [queries, keys] or [batch, queries, keys], True for may look. "
        "Numbers to add to the scores go into scores=Scores(bias=…)."
    )
