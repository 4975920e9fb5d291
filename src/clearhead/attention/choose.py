"""Pick a kernel, and be able to say why."""

from dataclasses import dataclass

from ..foundation.errors import NoKernelError, nearest
from .contract import Kernel, Request
from .kernels import KERNELS

SPARSE = 0.25  # a rule that allows fewer pairs than this is worth skipping tiles for
LONG = 1024  # below this many keys there are too few tiles to skip
WORTH_COMPILING = 256  # fewer queries (a step of generation, say) never earn a compiled kernel back


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The kernel taken, and why: what it was preferred for, and what the ones before it refused."""

    kernel: Kernel
    reason: str


def choose(request: Request, kernel: str = "auto") -> Kernel:
    """Return the kernel asked for, or the first of the preferred order that does not refuse."""
    if kernel != "auto":
        return named(request, kernel)
    for name in order(request):
        if KERNELS[name].refuses(request) is None:
            return KERNELS[name]
    raise NoKernelError(_nobody(request))


def order(request: Request) -> tuple[str, ...]:
    """Which kernels to try, best first."""
    cuda, compiles = request.q_BHTD.is_cuda, request.queries >= WORTH_COMPILING
    best: tuple[str, ...]
    if is_sparse(request):
        best = ("varlen", "flex", "blocks", "sdpa") if cuda else ("blocks", "sdpa")
    else:
        best = ("varlen", "sdpa", "flex") if cuda else ("sdpa",)
    return (*(name for name in best if compiles or name != "flex"), "explicit")


def is_sparse(request: Request) -> bool:
    """Whether the rule forbids so much that skipping tiles pays."""
    if request.keys < LONG:
        return False
    return request.mask.density(request.queries, request.keys) < SPARSE


def named(request: Request, name: str) -> Kernel:
    """Return the kernel of this name, or say why it cannot be."""
    if name not in KERNELS:
        raise NoKernelError(
            f"There is no attention kernel {name!r}.{nearest(name, KERNELS)} "
            f"There are: auto, {', '.join(KERNELS)}."
        )
    reason = KERNELS[name].refuses(request)
    if reason is not None:
        raise NoKernelError(
            f"The {name} kernel cannot serve this request: {reason}. "
            "Use kernel='auto', or ask for less."
        )
    return KERNELS[name]


def why(request: Request, kernel: str = "auto") -> Choice:
    """Choose like `choose`, and say why."""
    taken = choose(request, kernel)
    if kernel != "auto":
        return Choice(kernel=taken, reason=f"{taken.name}: it was asked for by name.")
    tried = order(request)
    refusals = [
        f"{name} was passed over: {KERNELS[name].refuses(request)}."
        for name in tried[: tried.index(taken.name)]
    ]
    kind = request.mask.kind(request.queries, request.keys)
    share = request.mask.density(request.queries, request.keys)
    what = f"the mask is {kind}" if kind else f"the mask allows at most {share:.0%} of all pairs"
    order_text = " → ".join(tried)
    lines = [f"{taken.name}: {what}, so the order is {order_text}.", *refusals]
    return Choice(kernel=taken, reason=" ".join(lines))


def _nobody(request: Request) -> str:
    refusals = [f"  {name}: {KERNELS[name].refuses(request)}" for name in order(request)]
    return (
        "No attention kernel can serve this request:\n"
        + "\n".join(refusals)
        + "\nAsk for less (for example wants_weights=False)."
    )
