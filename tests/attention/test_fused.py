"""Calling torch's fused kernel ourselves gives the same bits, and the lse it would have dropped.

The operators are torch's private ones, so every test names the torch it ran on.
"""

from dataclasses import dataclass, replace

import pytest
import torch
from attention_cases import DEVICES, FLOATS
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from clearhead.attention.fused import Call, run

# In 16 bits torch's CPU kernel takes a quick exp, a polynomial of degree three that may be off by
# this share (pytorch#151441, `fexp_u20`: the constant term of its polynomial, times ln 2, twice).
QUICK_EXP = 1.5e-4

every_device = pytest.mark.parametrize("device", DEVICES)
every_dtype = pytest.mark.parametrize("dtype", FLOATS)


@dataclass(frozen=True, kw_only=True)
class Shape:
    batch: int = 2
    heads: int = 4
    groups: int = 4
    queries: int = 17
    keys: int = 17
    width: int = 32
    causal: bool = False
    masked: tuple[int, int, int, int] | None = None  # the shape of an added mask
    scale: float = 0.2
    strided: bool = False  # heads cut out of one projection, as a model has them


SHAPES = {
    "plain": Shape(),
    "causal": Shape(causal=True),
    "masked": Shape(masked=(2, 4, 17, 17)),
    "masked alike for all": Shape(masked=(1, 1, 17, 17)),
    "masked alike for all heads": Shape(masked=(2, 1, 17, 17)),
    "masked across": Shape(queries=5, masked=(1, 4, 5, 17)),
    "grouped": Shape(groups=2),
    "grouped, causal": Shape(groups=1, causal=True),
    "grouped, masked": Shape(groups=2, masked=(2, 1, 17, 17)),
    "across": Shape(queries=5),
    "one query": Shape(queries=1),
    "one pair": Shape(batch=1, queries=1, keys=1),
    "odd width": Shape(width=19),
    "odd width, causal, grouped": Shape(width=21, groups=2, causal=True),
    "odd width, masked": Shape(width=19, masked=(2, 4, 17, 17)),
    "narrow": Shape(width=4),
    "long": Shape(batch=1, heads=2, groups=2, queries=700, keys=700, causal=True),
    "cut from one projection": Shape(strided=True, causal=True),
    "cut from one projection, masked": Shape(strided=True, masked=(2, 1, 17, 17)),
    "unusual scale": Shape(scale=1.3),
}


def shapes(*names: str):
    return pytest.mark.parametrize(
        "shape", names, ids=lambda name: f"{name}, torch {torch.__version__}"
    )


every_shape = shapes(*SHAPES)


def made(shape: Shape, *, dtype: str, device: str, trains: bool = False) -> Call:
    draw = torch.Generator().manual_seed(0)

    def normal(*sizes: int) -> Tensor:
        drawn = torch.randn(sizes, generator=draw, dtype=torch.float64)
        return drawn.to(device=device, dtype=FLOATS[dtype]).requires_grad_(trains)

    def heads(count: int, length: int) -> Tensor:
        if shape.strided:
            return normal(shape.batch, length, 3 * count, shape.width)[:, :, :count].transpose(1, 2)
        return normal(shape.batch, count, length, shape.width)

    mask = None
    if shape.masked:
        mask = normal(*shape.masked).detach()
        mask[..., 3] = -torch.inf
        mask = mask.index_fill(-2, torch.tensor([1], device=device), -torch.inf)  # a blind row
    return Call(
        q_BHTD=heads(shape.heads, shape.queries),
        k_BGSD=heads(shape.groups, shape.keys),
        v_BGSE=heads(shape.groups, shape.keys),
        mask=mask,
        causal=shape.causal,
        scale=shape.scale,
        dropout=0.0,
    )


def by_torch(call: Call) -> Tensor:
    return scaled_dot_product_attention(
        call.q_BHTD,
        call.k_BGSD,
        call.v_BGSE,
        attn_mask=call.mask,
        dropout_p=call.dropout,
        is_causal=call.causal,
        scale=call.scale,
        enable_gqa=call.grouped,
    )


def exact_lse(call: Call) -> Tensor:
    group = call.q_BHTD.shape[1] // call.k_BGSD.shape[1]
    k_BHSD = call.k_BGSD.double().repeat_interleave(group, dim=1)
    scores_BHTS = call.scale * call.q_BHTD.double() @ k_BHSD.mT
    if call.mask is not None:
        scores_BHTS = scores_BHTS + call.mask.double()
    if call.causal:
        later = torch.ones(scores_BHTS.shape[-2:], device=k_BHSD.device).triu(1).bool()
        scores_BHTS = scores_BHTS.masked_fill(later, -torch.inf)
    return scores_BHTS.logsumexp(-1)


@every_device
@every_dtype
@every_shape
def test_the_values_are_the_same_bits(shape, dtype, device):
    call = made(SHAPES[shape], dtype=dtype, device=device)
    assert torch.equal(run(call).values_BHTE, by_torch(call))


@every_device
@every_dtype
@every_shape
def test_the_gradients_are_the_same_bits(shape, dtype, device):
    call = made(SHAPES[shape], dtype=dtype, device=device, trains=True)
    inputs = (call.q_BHTD, call.k_BGSD, call.v_BGSE)
    upstream = torch.randn_like(by_torch(call))
    ours = torch.autograd.grad(run(call).values_BHTE, inputs, upstream)
    theirs = torch.autograd.grad(by_torch(call), inputs, upstream)
    for found, wanted in zip(ours, theirs, strict=True):
        assert found.isfinite().all()
        if device == "cpu":  # on CUDA the order of additions may differ from run to run
            assert torch.equal(found, wanted)
        else:
            torch.testing.assert_close(found, wanted)


@every_device
@every_dtype
@every_shape
def test_the_lse_is_the_log_of_each_rows_denominator(shape, dtype, device):
    call = made(SHAPES[shape], dtype=dtype, device=device)
    found, exact = run(call), exact_lse(call)
    if found.lse_BHT is None:
        assert found.backend == "math"
        return
    assert found.lse_BHT.shape == exact.shape
    seeing = exact.isfinite()
    # A score is a sum of `width` products, kept in float32 at least.
    wide = torch.promote_types(FLOATS[dtype], torch.float32)
    largest = call.q_BHTD.norm(dim=-1).max() * call.k_BGSD.norm(dim=-1).max() * call.scale
    steps = call.q_BHTD.shape[-1] + call.k_BGSD.shape[2] + 8
    budget = steps * torch.finfo(wide).eps * max(1.0, largest.item())
    if device == "cpu" and dtype in ("bfloat16", "float16"):
        budget += QUICK_EXP
    assert (found.lse_BHT.double() - exact)[seeing].abs().max() <= budget


@every_dtype
@every_shape
def test_on_a_cpu_torch_runs_flash_and_so_do_we(shape, dtype):
    found = run(made(SHAPES[shape], dtype=dtype, device="cpu"))
    assert found.backend == "flash"
    assert found.lse_BHT is not None


@shapes("masked", "masked across", "grouped, masked")
def test_where_torch_takes_its_plain_path_we_say_so_and_have_no_lse(shape):
    call = made(SHAPES[shape], dtype="float32", device="cpu")
    assert call.mask is not None
    for plain in (
        replace(call, mask=call.mask.nan_to_num(neginf=-9.0).requires_grad_()),
        replace(call, dropout=0.5),
    ):
        torch.manual_seed(3)
        found = run(plain)
        torch.manual_seed(3)
        assert torch.equal(found.values_BHTE, by_torch(plain))
        assert found.backend == "math"
        assert found.lse_BHT is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="these kernels are CUDA's")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@shapes("plain", "causal", "masked", "narrow")
def test_on_cuda_there_is_an_lse_with_and_without_a_mask(shape, dtype):
    found = run(made(SHAPES[shape], dtype=dtype, device="cuda"))
    assert found.backend in ("flash", "efficient", "cudnn")
    assert found.lse_BHT is not None
