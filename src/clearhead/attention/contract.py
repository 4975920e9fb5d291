"""What every attention kernel accepts, returns and promises."""

import math
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from ..foundation.errors import ConfigError, ShapeError
from .bias import Bias
from .masks import Everything, Mask


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How a score is made from q·k: times `scale`, bent by `softcap`, plus `bias`.

    Args:
        scale: Multiplies q·k. `1 / sqrt(D)` when left out.
        softcap: Bends scores into (-softcap, softcap) by `softcap * tanh(score / softcap)`.
        bias: Added to the score of every pair: a rule, or a tensor that stretches to [B, H, T, S].
        sinks: One score a head that takes its share of the softmax and gives no value.
    """

    scale: float | None = None
    softcap: float | None = None
    bias: Bias | Tensor | None = None
    sinks: Float[Tensor, " h"] | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not math.isfinite(self.scale):
            raise ConfigError(
                f"A scale of {self.scale} makes no scores: it must be a finite number. "
                "Leave it out for 1/√width."
            )
        if self.softcap is not None and not 0 < self.softcap < math.inf:
            raise ConfigError(
                f"A softcap of {self.softcap} bends nothing: it must be above 0 and finite. "
                "Leave it out for no cap."
            )


PLAIN = Scores()


@dataclass(frozen=True, kw_only=True)
class Request:
    """One attention computation, before anyone has decided how to do it.

    Query `t` stands at position `first + S - T + t`, key `s` at `first + s`: the last query is
    aligned with the last key, as a cache needs.
    """

    q_BHTD: Float[Tensor, "b h t d"]
    k_BGSD: Float[Tensor, "b g s d"]
    v_BGSE: Float[Tensor, "b g s e"]
    mask: Mask = field(default_factory=Everything)
    scores: Scores = PLAIN
    dropout: float = 0.0
    first: int = 0
    wants_weights: bool = False
    wants_lse: bool = False

    @property
    def scale(self) -> float:
        """What q·k is multiplied with."""
        if self.scores.scale is None:
            return math.pow(self.q_BHTD.shape[-1], -0.5)
        return self.scores.scale

    @property
    def queries(self) -> int:
        """How many queries there are (T)."""
        return self.q_BHTD.shape[2]

    @property
    def keys(self) -> int:
        """How many keys there are (S)."""
        return self.k_BGSD.shape[2]

    @property
    def needs_gradient(self) -> bool:
        """Whether anything that goes in will be asked for its gradient."""
        inputs = (self.q_BHTD, self.k_BGSD, self.v_BGSE, self.scores.bias, self.scores.sinks)
        return any(_trains(tensor) for tensor in inputs)


def _trains(value: object) -> bool:
    if isinstance(value, Bias):
        return any(_trains(part) for part in vars(value).values())
    return isinstance(value, Tensor) and value.requires_grad


@dataclass(frozen=True, kw_only=True)
class Attended:
    """The result of a request, and which kernel made it.

    `weights_BHTS` is there exactly when it was asked for. `lse_BHT`, the log of each softmax's
    denominator, is there when it was asked for and the kernel has it; it means nothing on a row
    that sees nothing.
    """

    values_BHTE: Float[Tensor, "b h t e"]
    kernel: str
    weights_BHTS: Float[Tensor, "b h t s"] | None = None
    lse_BHT: Float[Tensor, "b h t"] | None = None


@runtime_checkable
class Kernel(Protocol):
    """A way to compute attention that agrees with `reference.attend` up to rounding.

    Promises every kernel keeps, each one a conformance test: a query that may see nothing yields
    zeros; gradients flow to q, k and v, or a request that needs them is refused; inputs are not
    changed; weights are shown or refused, never dropped.
    """

    name: str

    def refuses(self, request: Request) -> str | None:
        """Return why this kernel cannot serve `request`, or None if it can."""

    def __call__(self, request: Request) -> Attended: ...


def refusal(*reasons: tuple[bool, str]) -> str | None:
    """The first reason that holds, or None when none does."""
    return next((reason for holds, reason in reasons if holds), None)


def check(request: Request) -> None:
    """Refuse sizes that do not fit together, saying which and what would."""
    q_BHTD, k_BGSD, v_BGSE = request.q_BHTD, request.k_BGSD, request.v_BGSE
    if any(x.dim() != 4 for x in (q_BHTD, k_BGSD, v_BGSE)):
        raise ShapeError(
            f"Queries {tuple(q_BHTD.shape)}, keys {tuple(k_BGSD.shape)} and values "
            f"{tuple(v_BGSE.shape)} need four axes each: [batch, heads, length, width]. "
            "Give one that is missing a size of 1, with unsqueeze."
        )
    heads, groups = q_BHTD.shape[1], k_BGSD.shape[1]
    if min(heads, groups) < 1:
        raise ShapeError(
            f"There are {heads} query heads and {groups} key/value heads: give at least one of "
            "each. Check the order [batch, heads, length, width]."
        )
    if heads % groups:
        fewer, more = heads - heads % groups or groups, heads - heads % groups + groups
        choice = f"{more}" if fewer == more else f"{fewer} or {more}"
        raise ShapeError(
            f"{heads} query heads cannot be shared out over {groups} key/value heads: "
            f"the first must be a multiple of the second. Try {choice} heads."
        )
    if q_BHTD.shape[-1] != k_BGSD.shape[-1]:
        raise ShapeError(
            f"Queries are {q_BHTD.shape[-1]} wide and keys {k_BGSD.shape[-1]}: a dot product needs "
            "the same width. Project both to one head width."
        )
    if k_BGSD.shape[:3] != v_BGSE.shape[:3] or q_BHTD.shape[0] != k_BGSD.shape[0]:
        raise ShapeError(
            f"Queries {tuple(q_BHTD.shape)}, keys {tuple(k_BGSD.shape)} and values "
            f"{tuple(v_BGSE.shape)} do not belong together: all three need the same batch, keys "
            "and values the same heads and length. Check the order [batch, heads, length, width]."
        )
    if not 0.0 <= request.dropout < 1.0:
        raise ConfigError(
            f"A dropout of {request.dropout} is out of range: it must be at least 0 and below 1."
        )
    request.mask.check(q_BHTD.shape[0], request.queries, request.keys, request.first)
    bias, sinks = request.scores.bias, request.scores.sinks
    if isinstance(bias, Tensor):
        _check_bias(request, bias)
    elif bias is not None:
        bias.check(heads)
    if sinks is not None and sinks.shape != (heads,):
        raise ShapeError(
            f"Sinks of {tuple(sinks.shape)} do not fit {heads} query heads: give one score a head."
        )


def _check_bias(request: Request, bias: Tensor) -> None:
    wanted = (*request.q_BHTD.shape[:3], request.keys)
    if not bias.dtype.is_floating_point:
        raise ShapeError(
            f"A bias of {bias.dtype} is nothing to add to a score: give floating-point numbers. "
            "Booleans that say who may look go into mask=…."
        )
    if bias.dim() > 4 or any(
        size not in (1, want)
        for size, want in zip(reversed(bias.shape), reversed(wanted), strict=False)
    ):
        raise ShapeError(
            f"A bias of {tuple(bias.shape)} does not stretch to the scores {wanted}: each of its "
            "sizes must be 1 or the same. Give it as [batch, heads, queries, keys]."
        )
