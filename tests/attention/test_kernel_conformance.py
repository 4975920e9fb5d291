"""Every kernel, on every kind of request, against the one definition: it agrees or it refuses."""

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
from attention_cases import CASES, DEVICES, doubled, leaves, make_request
from rounding import backward_rounding, forward_rounding
from torch import Tensor
from torch.nn.attention import flex_attention as flex_module

from clearhead.attention import Documents, Kernel, Request, reference
from clearhead.attention.kernels import KERNELS
from clearhead.attention.kernels.flex import Flex
from clearhead.attention.masks import Both, grid

FLOATS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
EVERY_FLOAT = FLOATS | {"float64": torch.float64}


def flex_step_by_step(*args, **kwargs):
    """FlexAttention without its compiler, which would take seconds for every case."""
    with patch.object(flex_module, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True):
        return flex_module.flex_attention(*args, **kwargs)


JUDGED: dict[str, Kernel] = KERNELS | {"flex": Flex(run=lambda: flex_step_by_step)}

# What a kernel cannot do, in the words of `asks`. It must refuse that, and nothing else.
CANNOT = {
    "explicit": set(),
    "sdpa": {"weights", "softcap", "sinks"},
    "blocks": {"weights", "softcap", "sinks", "other value width"},
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
        "cpu",
        "float32",
        "float64",
        "other value width",
        "ragged width",
        "several examples",
        "not packed",
        "packed across & causal",
        "part of the documents",
        "no pairs",
    },
}

every_kernel = pytest.mark.parametrize("name", CANNOT)
every_case = pytest.mark.parametrize("case", CASES)
every_device = pytest.mark.parametrize("device", DEVICES)


def asks(request: Request) -> set[str]:
    """What this request asks for, as far as any kernel could mind."""
    q, v, scores = request.q_BHTD, request.v_BGSE, request.scores
    device, packs = q.device.type, packed(request)
    told = {
        "weights": request.wants_weights,
        "dropout": request.dropout > 0,
        "softcap": scores.softcap is not None,
        "bias": scores.bias is not None,
        "sinks": scores.sinks is not None,
        "sinks on cpu": scores.sinks is not None and device == "cpu",
        "gradient on cpu": request.needs_gradient and device == "cpu",
        "cpu": device == "cpu",
        str(q.dtype).removeprefix("torch."): True,
        "narrow heads": min(q.shape[-1], v.shape[-1]) < 16,
        "other value width": q.shape[-1] != v.shape[-1],
        "ragged width": q.shape[-1] % 8 != 0,
        "several examples": len(q) != 1,
        "not packed": packs is None,
        "part of the documents": packs is not None and sum(packs[0]) != request.queries,
        "packed across & causal": False,
        "no pairs": request.queries * request.keys == 0,
    }
    return {what for what, so in told.items() if so}


def packed(request: Request) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    mask = request.mask
    if isinstance(mask, Both):
        mask = mask.second if isinstance(mask.second, Documents) else mask.first
    return mask.lengths if isinstance(mask, Documents) else None


def serving(name: str, request: Request) -> Kernel:
    """The kernel of this name, or a skip when it rightly refuses (the next test minds that)."""
    if JUDGED[name].refuses(request):
        pytest.skip(f"{name} refuses: {JUDGED[name].refuses(request)}")
    return JUDGED[name]


def upstream_for(request: Request) -> Tensor:
    """A gradient of the values, the same for every kernel."""
    draw = torch.Generator().manual_seed(1)
    shape = (*request.q_BHTD.shape[:3], request.v_BGSE.shape[-1])
    drawn = torch.randn(shape, generator=draw, dtype=torch.float64)
    return drawn.to(request.q_BHTD)


def seeing_rows(request: Request) -> Tensor:
    """The rows (of every example) that may see some key."""
    allowed = grid(
        request.mask,
        batch=len(request.q_BHTD),
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=request.q_BHTD.device,
    )
    return allowed.any(-1).expand(len(request.q_BHTD), -1)


def assert_within(found: Tensor, truth: Tensor, budget: Tensor) -> None:
    assert found.shape == truth.shape
    assert found.isfinite().all()
    over = (found.double() - truth).abs() - budget
    assert not over.numel() or over.max() <= 0, f"off by {over.max():.2e} more than rounding can be"


@every_device
@every_case
@every_kernel
@pytest.mark.parametrize("dtype", EVERY_FLOAT)
@pytest.mark.parametrize("trains", [False, True], ids=["infers", "trains"])
def test_a_kernel_refuses_what_it_cannot_do_and_nothing_else(name, case, dtype, device, trains):
    request = make_request(case, dtype=EVERY_FLOAT[dtype], device=device, trains=trains)
    reason = JUDGED[name].refuses(request)
    assert (reason is not None) == bool(CANNOT[name] & asks(request)), reason


@every_device
@every_case
@every_kernel
@pytest.mark.parametrize("dtype", EVERY_FLOAT)
def test_values_match_the_definition(name, case, dtype, device):
    request = make_request(case, dtype=EVERY_FLOAT[dtype], device=device)
    kernel = serving(name, request)
    truth = reference.attend(doubled(request)[0]).values_BHTE.detach()
    attended = kernel(request)
    assert attended.values_BHTE.dtype == request.q_BHTD.dtype
    assert attended.kernel == name
    assert_within(attended.values_BHTE, truth, forward_rounding(request).value_BHTE)


@every_device
@every_case
@every_kernel
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_match_the_definition(name, case, dtype, device):
    request = make_request(case, dtype=FLOATS[dtype], device=device, trains=True)
    kernel, given = serving(name, request), leaves(request)
    if dtype == "bfloat16":  # a bias is learned in float32
        given = {leaf: given[leaf] for leaf in "qkv"}
    exact, exact_leaves = doubled(request)
    upstream = upstream_for(request)
    truth = torch.autograd.grad(
        reference.attend(exact).values_BHTE,
        [exact_leaves[leaf] for leaf in given],
        upstream.double(),
    )
    found = torch.autograd.grad(kernel(request).values_BHTE, list(given.values()), upstream)
    budgets = backward_rounding(request, upstream)
    for leaf, ours, theirs in zip(given, found, truth, strict=True):
        assert_within(ours, theirs, budgets[leaf])


@every_device
@every_case
@every_kernel
@pytest.mark.parametrize("dtype", EVERY_FLOAT)
def test_lse_is_the_log_of_the_denominator_wherever_something_is_seen(name, case, dtype, device):
    request = replace(make_request(case, dtype=EVERY_FLOAT[dtype], device=device), wants_lse=True)
    attended = serving(name, request)(request)
    truth = reference.attend(doubled(request)[0]).lse_BHT
    assert truth is not None
    assert_within(
        attended.values_BHTE,
        reference.attend(doubled(request)[0]).values_BHTE.detach(),
        forward_rounding(request).value_BHTE,
    )
    if attended.lse_BHT is None:
        assert name in MAY_LACK_LSE
        return
    rows_BHT = seeing_rows(request)[:, None].expand(truth.shape)
    assert_within(
        attended.lse_BHT[rows_BHT],
        truth.detach()[rows_BHT],
        forward_rounding(request).lse_BHT[rows_BHT],
    )


# sdpa and blocks lose it to torch's plain path, flex to the CPU; never the one that shows all.
MAY_LACK_LSE = {"sdpa", "blocks", "flex"}


@every_device
@every_kernel
@pytest.mark.parametrize(
    "case", ["blind rows", "blind example", "blind batch", "sinks and blind rows"]
)
def test_a_query_that_may_see_nothing_yields_zeros(name, case, device):
    request = make_request(case, device=device)
    values = serving(name, request)(request).values_BHTE
    blind_BT = ~seeing_rows(request)
    assert blind_BT.any()
    assert (values.transpose(1, 2)[blind_BT] == 0).all()


@every_device
@every_kernel
@every_case
def test_weights_are_shown_or_refused_never_dropped(name, case, device):
    request = replace(make_request(case, device=device), wants_weights=True)
    weights = serving(name, request)(request).weights_BHTS
    assert weights is not None
    truth = reference.attend(doubled(request)[0]).weights_BHTS
    assert truth is not None
    budget = truth * forward_rounding(request).weight_BHTS
    assert_within(weights, truth.detach(), budget.detach())
    if request.scores.sinks is None:
        sums = weights.sum(-1)[seeing_rows(request)[:, None].expand(weights.shape[:3])]
        torch.testing.assert_close(sums, torch.ones_like(sums))


@every_device
@every_kernel
def test_weights_are_built_only_when_asked_for(name, device):
    request = make_request("causal", device=device)
    assert serving(name, request)(request).weights_BHTS is None
    assert serving(name, request)(request).lse_BHT is None


@every_device
@every_kernel
@every_case
def test_inputs_are_left_as_they_were(name, case, device):
    request = replace(make_request(case, device=device), wants_lse=True)
    before = {leaf: tensor.clone() for leaf, tensor in leaves(request).items()}
    serving(name, request)(request)
    for leaf, tensor in leaves(request).items():
        assert torch.equal(tensor, before[leaf])


@every_device
@every_kernel
def test_every_kernel_serves_something_on_the_device_it_is_for(name, device):
    if name == "varlen" and device == "cpu":
        assert "CUDA" in str(JUDGED[name].refuses(make_request("packed documents")))
        return
    request = make_request("packed documents", dtype=torch.bfloat16, device=device)
    assert JUDGED[name].refuses(request) is None
