"""Every kernel, on every kind of request, against the one definition: it agrees or it refuses."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from unittest.mock import patch

import pytest
import torch
from attention_cases import CASES, DEVICES, FLOATS, doubled, leaves, make_request
from rounding import Rounding, backward_rounding, forward_rounding
from torch import Tensor
from torch.nn.attention import flex_attention as flex_module

from clearhead.attention import Attended, Causal, Documents, Kernel, Request, reference
from clearhead.attention.kernels import KERNELS
from clearhead.attention.kernels.flex import Flex
from clearhead.attention.masks import Both, grid


def flex_step_by_step(q, k, v, **settings):
    """FlexAttention without its compiler, which would take seconds for every case."""
    trains = torch.is_grad_enabled() and q.requires_grad
    if trains:  # only on CUDA; then it passes through the compiler's front half, which counts
        torch._dynamo.reset()
    with patch.object(flex_module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", not trains):
        return flex_module.flex_attention(q, k, v, **settings)


JUDGED: dict[str, Kernel] = KERNELS | {"flex": Flex(run=lambda: flex_step_by_step)}

# What a kernel cannot do, in the words of `asks`. It must refuse that, and nothing else.
CANNOT = {
    "explicit": set(),
    "sdpa": {"weights", "softcap", "sinks", "scale below 0"},
    "blocks": {
        "weights",
        "softcap",
        "sinks",
        "scale below 0",
        "other value width",
        "no pairs",
    },
    "flex": {
        "weights",
        "dropout",
        "float64",
        "narrow heads",
        "gradient on cpu",
        "sinks on cpu",
        "no pairs",
    },
    "varlen": {
        "weights",
        "dropout",
        "softcap",
        "bias",
        "sinks",
        "scale below 0",
        "cpu",
        "float32",
        "float64",
        "other value width",
        "ragged width",
        "several examples",
        "not packed",
        "not all of the documents",
    },
}


@dataclass(frozen=True)
class Asked:
    """One kernel, one case, on one device, in one precision."""

    name: str
    case: str
    dtype: str
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.name}-{self.case}-{self.dtype}-{self.device}"

    def request(self, *, trains: bool = False) -> Request:
        return make_request(self.case, dtype=self.dtype, device=self.device, trains=trains)

    def attend(self, request: Request) -> Attended:
        return JUDGED[self.name](request)


def asks(asked: Asked, *, trains: bool = False, weights: bool = False, dropout: bool = False):
    """What this asks for, as far as any kernel could mind."""
    case, device = CASES[asked.case], asked.device
    scores = case.scores(torch.Generator())
    packs = packed(asked.case)
    told = {
        "weights": weights,
        "dropout": dropout,
        "softcap": scores.softcap is not None,
        "bias": scores.bias is not None,
        "sinks": scores.sinks is not None,
        "sinks on cpu": scores.sinks is not None and device == "cpu",
        "scale below 0": scores.scale is not None and scores.scale < 0,
        "gradient on cpu": trains and device == "cpu",
        "cpu": device == "cpu",
        asked.dtype: True,
        "narrow heads": min(case.width, case.value_width) < 16,
        "other value width": case.width != case.value_width,
        "ragged width": case.width % 8 != 0,
        "several examples": case.batch != 1,
        "not packed": packs is None,
        "not all of the documents": packs is not None and packs != (case.queries, case.keys),
        "no pairs": case.queries * case.keys == 0,
    }
    return {what for what, so in told.items() if so}


@cache
def packed(case: str) -> tuple[int, int] | None:
    """How many queries and keys a mask of packed documents (perhaps & causal) covers."""
    mask = CASES[case].mask("cpu")
    if isinstance(mask, Both):
        parts = (mask.first, mask.second)
        mask = next((part for part in parts if isinstance(part, Documents)), mask)
        if not any(isinstance(part, Causal) for part in parts):
            return None
    if not isinstance(mask, Documents) or mask.lengths is None:
        return None
    rows, columns = mask.lengths
    return sum(rows), sum(columns)


def served(*dtypes: str, trains: bool = False, weights: bool = False) -> list[object]:
    """Every kernel with every case it must serve."""
    every = [Asked(*one) for one in product(CANNOT, CASES, dtypes, DEVICES)]
    return [
        pytest.param(asked, id=str(asked))
        for asked in every
        if not CANNOT[asked.name] & asks(asked, trains=trains, weights=weights)
    ]


@cache
def truth(case: str, dtype: str, device: str) -> tuple[Attended, Rounding]:
    """What the definition says, and how far rounding may go from it."""
    request = make_request(case, dtype=dtype, device=device)
    with torch.no_grad():
        return reference.attend(doubled(request)[0]), forward_rounding(request)


def true(asked: Asked) -> tuple[Attended, Rounding]:
    return truth(asked.case, asked.dtype, asked.device)


def upstream_for(request: Request) -> Tensor:
    """A gradient of the values, the same for every kernel."""
    draw = torch.Generator().manual_seed(1)
    shape = (*request.q_BHTD.shape[:3], request.v_BGSE.shape[-1])
    return torch.randn(shape, generator=draw, dtype=torch.float64).to(request.q_BHTD)


@cache
def true_gradients(case: str, dtype: str, device: str) -> dict[str, tuple[Tensor, float]]:
    """The gradient of every leaf, and how long its error may be."""
    request = make_request(case, dtype=dtype, device=device)
    exact, wide = doubled(request)
    upstream = upstream_for(request)
    found = torch.autograd.grad(
        reference.attend(exact).values_BHTE, list(wide.values()), upstream.double()
    )
    budgets = backward_rounding(request, upstream)
    return {leaf: (grad, budgets[leaf]) for leaf, grad in zip(wide, found, strict=True)}


def seeing(request: Request) -> Tensor:
    """Which rows of which examples may see some key, [B, T]."""
    allowed_BTS = grid(
        request.mask,
        batch=len(request.q_BHTD),
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=request.q_BHTD.device,
    )
    return allowed_BTS.any(-1).expand(len(request.q_BHTD), -1)


def assert_within(found: Tensor, exact: Tensor, budget: Tensor) -> None:
    assert found.shape == exact.shape
    assert found.isfinite().all()
    over = (found.double() - exact).abs() - budget
    assert not over.numel() or over.max() <= 0, f"off by {over.max():.2e} more than rounding can be"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CANNOT)
def test_a_kernel_refuses_what_it_cannot_do_and_nothing_else(name, case, device):
    for dtype in FLOATS if case == "causal" else ("float32", "bfloat16"):
        for trains in (False, True):
            asked = Asked(name, case, dtype, device)
            request = asked.request(trains=trains)
            for weights, dropout in ((False, 0.0), (True, 0.0), (False, 0.1)):
                reason = JUDGED[name].refuses(
                    replace(request, wants_weights=weights, dropout=dropout)
                )
                cannot = CANNOT[name] & asks(
                    asked, trains=trains, weights=weights, dropout=dropout > 0
                )
                assert (reason is not None) == bool(cannot), (reason, cannot)


@pytest.mark.parametrize("asked", served(*FLOATS))
def test_values_match_the_definition(asked):
    request = asked.request()
    exact, rounding = true(asked)
    attended = asked.attend(request)
    assert attended.values_BHTE.dtype == request.q_BHTD.dtype
    assert attended.kernel == asked.name
    assert attended.weights_BHTS is None
    assert attended.lse_BHT is None
    assert_within(attended.values_BHTE, exact.values_BHTE, rounding.value_BHTE)
    blind_BT = ~seeing(request)  # a query that may see nothing yields zeros, not nearly so
    assert (attended.values_BHTE.transpose(1, 2)[blind_BT] == 0).all()


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning")
@pytest.mark.parametrize("asked", served("float32", "bfloat16", trains=True))
def test_gradients_match_the_definition(asked):
    request = asked.request(trains=True)
    given = leaves(request)
    if asked.dtype == "bfloat16":  # a bias is learned in float32
        given = {leaf: given[leaf] for leaf in "qkv"}
    values = asked.attend(request).values_BHTE
    found = torch.autograd.grad(values, list(given.values()), upstream_for(request))
    exact = true_gradients(asked.case, asked.dtype, asked.device)
    for leaf, ours in zip(given, found, strict=True):
        theirs, budget = exact[leaf]
        assert ours.shape == theirs.shape
        error = (ours.double() - theirs).norm()
        assert error <= budget, f"{leaf} is off by {error:.2e}, rounding explains {budget:.2e}"


# Where torch takes its plain path it keeps no lse, and compiled for a CPU flex has none.
LACKS_LSE = {
    Asked("sdpa", case, dtype)
    for case in ("no queries", "no keys")
    for dtype in ("float32", "bfloat16")
}


@pytest.mark.parametrize("asked", served("float32", "bfloat16"))
def test_lse_is_the_log_of_the_denominator_wherever_something_is_seen(asked):
    request = replace(asked.request(), wants_lse=True)
    exact, rounding = true(asked)
    attended = asked.attend(request)
    assert_within(attended.values_BHTE, exact.values_BHTE, rounding.value_BHTE)
    assert attended.kernel.split(":")[0] == asked.name
    if attended.lse_BHT is None:
        plain = asked.device == "cuda" and attended.kernel in ("sdpa:math", "blocks")
        assert plain or asked in LACKS_LSE or (asked.name, asked.device) == ("flex", "cpu")
        return
    assert exact.lse_BHT is not None
    rows_BHT = seeing(request)[:, None].expand(exact.lse_BHT.shape)
    assert_within(attended.lse_BHT[rows_BHT], exact.lse_BHT[rows_BHT], rounding.lse_BHT[rows_BHT])


@pytest.mark.parametrize("asked", served("float32", "bfloat16", weights=True))
def test_weights_are_shown_as_they_are_when_asked_for(asked):
    request = replace(asked.request(), wants_weights=True)
    exact, rounding = true(asked)
    weights = asked.attend(request).weights_BHTS
    assert weights is not None
    assert exact.weights_BHTS is not None
    assert_within(weights, exact.weights_BHTS, exact.weights_BHTS * rounding.weight_BHTS)


@pytest.mark.parametrize("device", DEVICES)
def test_weights_of_a_row_sum_to_one_less_the_share_of_its_sink(device):
    for case in CASES:
        request = replace(make_request(case, device=device), wants_weights=True)
        attended = KERNELS["explicit"](replace(request, wants_lse=True))
        assert attended.weights_BHTS is not None
        assert attended.lse_BHT is not None
        left_BHT = torch.ones_like(attended.lse_BHT)
        if request.scores.sinks is not None:
            left_BHT = 1 - (request.scores.sinks[:, None] - attended.lse_BHT).exp()
        sums_BHT = torch.where(seeing(request)[:, None], left_BHT, 0.0)
        torch.testing.assert_close(attended.weights_BHTS.sum(-1), sums_BHT)


@pytest.mark.parametrize("asked", served("float32"))
def test_inputs_are_left_as_they_were(asked):
    request = replace(asked.request(), wants_lse=True)
    before = {leaf: tensor.clone() for leaf, tensor in leaves(request).items()}
    asked.attend(request)
    for leaf, tensor in leaves(request).items():
        assert torch.equal(tensor, before[leaf])


def test_a_kernel_for_cuda_says_so_on_a_cpu():
    request = make_request("packed documents", dtype="bfloat16")
    assert KERNELS["varlen"].refuses(request) == "it runs on CUDA only"


@pytest.mark.parametrize(
    ("case", "leaf"),
    [
        ("causal", "q"),
        ("causal", "k"),
        ("causal", "v"),
        ("bias for every head", "bias"),
        ("slopes", "slopes"),
        ("buckets to both sides", "table"),
        ("sinks", "sinks"),
    ],
)
def test_a_gradient_is_asked_for_as_soon_as_anything_that_goes_in_trains(case, leaf):
    request = make_request(case)
    assert not request.needs_gradient
    leaves(request)[leaf].requires_grad_()
    assert request.needs_gradient
    with torch.no_grad():
        assert "gradient" not in str(KERNELS["flex"].refuses(request))
    reason = str(KERNELS["flex"].refuses(request))
    assert "it has no gradient" in reason
