"""The summaries on CUDA against the dense float64 definition; without CUDA, interpreted.

Triton decides at its import whether it compiles or interprets, so where there is no CUDA all of
this runs once more in a process of its own. Its interpreter's products of bfloat16 are wrong, so
there float16 stands for both.
"""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise, product

import pytest
import torch
from attention_cases import make_request, whole
from project import ROOT
from torch import Tensor

from clearhead.attention import (
    Attended,
    Causal,
    Mask,
    Padding,
    Request,
    Scores,
    Window,
    reference,
)
from clearhead.attention.masks import grid
from clearhead.lens import Look
from clearhead.lens.flow import products
from clearhead.lens.questions import ask, fused, fused_keys, plain
from clearhead.lens.questions.edges import Edges
from clearhead.lens.questions.launch import TABLE, Tiling
from clearhead.lens.questions.source import Source
from clearhead.lens.questions.summaries import Rows, Summaries

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
runs = pytest.mark.skipif(not (CUDA or INTERPRETED), reason="runs interpreted, see the last test")

SMALL = Tiling(16, 16, 1, 1)
SERVED = [
    "everything",
    "causal",
    "window to both sides",
    "window to the right",
    "padding both",
    "blind rows",
    "blind example",
    "prefix",
    "documents & causal",
    "three heads a group",
    "one query with a cache",
    "more queries than keys",
    "blind queries before the keys",
    "a later start",
    "a later start, packed",
    "narrow values",
    "one token",
    "negative scale",
    "softcap, sinks and window",
    "sinks and blind rows",
]
REFUSED = {
    "longformer": "gaps between",
    "slopes": "no bias",
    "odd widths": "a width of 19",
    "no keys": "nothing to see",
}


def drawn(
    mask: Mask, *, queries: int, keys: int, width: int = 16, dtype: str = "float32"
) -> Request:
    """Two heads that share one key head, their tensors lying the way layers leave them."""
    draw = torch.Generator().manual_seed(1)
    q, k = (torch.randn(2, length, 3, width, generator=draw) for length in (queries, keys))
    q, k = (x.to(DEVICE, getattr(torch, dtype)).transpose(1, 2) for x in (q, k))
    return Request(q_BHTD=q[:, :2], k_BGSD=k[:, 1:2], v_BGSE=k[:, 1:2], mask=mask)


def judged(request: Request) -> Attended:
    return reference.attend(request)


def allowed(request: Request) -> Tensor:
    sizes = {"batch": len(request.q_BHTD), "queries": request.queries, "keys": request.keys}
    found = grid(request.mask, **sizes, first=request.first, device=request.q_BHTD.device)
    return found.expand(len(request.q_BHTD), -1, -1)


def close(found: Tensor, wanted: Tensor, *, largest: float = 1.0) -> None:
    """Float32: a score is a sum of products of about 4 each, and a weight its exponential."""
    assert found.shape == wanted.shape
    assert not found.isnan().any()
    assert (found.double() - wanted).abs().max() <= 2e-5 * max(largest, 1.0)


def answers(source: Source, *, size: int | None, tiling: Tiling) -> Summaries:
    assert fused.refuses(source) is None
    rows = Rows(fused.row_sums(source, tiling=tiling), "recomputed")
    return fused.summaries(source, rows, size=size, tiling=tiling)


def check_summaries(request: Request, found: Summaries, real: Tensor | None = None) -> None:
    weights = judged(request).weights_BHTS
    assert weights is not None
    rows = torch.arange(request.queries)[:, None] + request.keys - request.queries
    back = (rows - torch.arange(request.keys)).to(weights)
    logs = weights.clamp(min=1e-300).log()
    given = weights if real is None else weights * real[:, None, :, None]
    close(found.received_BHS, given.sum(2), largest=request.queries)
    close(found.entropy_BHT, -(weights * logs).sum(-1), largest=10)
    close(found.peak_BHT, weights.amax(-1))
    close(found.mass_BHT, weights.sum(-1))
    close(found.signed_BHT, (weights * back).sum(-1), largest=request.keys)
    close(found.absolute_BHT, (weights * back.abs()).sum(-1), largest=request.keys)
    first = allowed(request).to(torch.uint8).argmax(-1)[:, None, :, None]
    sink = weights.gather(-1, first.expand(-1, weights.shape[1], -1, -1))[..., 0]
    close(found.sink_BHT, sink)


def check_map(request: Request, found: Summaries, size: int, real: Tensor | None = None) -> None:
    weights, may = judged(request).weights_BHTS, allowed(request)
    assert weights is not None
    assert found.blocks is not None
    if real is not None:
        may = may & real[..., None]
    weights = weights * may[:, None]
    edges = [Edges.of(slice(0, n), size).bounds() for n in (request.queries, request.keys)]
    for (row, top), (column, left) in product(*(enumerate(pairwise(each)) for each in edges)):
        cell = (..., slice(*top), slice(*left))
        assert torch.equal(found.blocks.counts[:, row, column], may[cell].sum((-1, -2)))
        close(found.blocks.sums[:, :, row, column], weights[cell].sum((-1, -2)), largest=10)
        close(found.blocks.logs[:, :, row, column].exp(), weights[cell].amax((-1, -2)))


def check_top(source: Source, found: Summaries) -> None:
    """Weights are those of the strongest, the keys have these weights, and nobody has none."""
    assert found.top is not None
    keys, logs = found.top.keys_BHTk.long(), found.top.logs_BHTk
    weights = judged(source.request).weights_BHTS
    assert weights is not None
    seen = source.count_BT[:, None, :, None] > torch.arange(keys.shape[-1], device=DEVICE)
    assert torch.equal(keys >= 0, seen.expand(keys.shape))
    best = weights.topk(keys.shape[-1]).values
    close((logs.exp() * seen), best * seen)
    close((weights.gather(-1, keys.clamp(min=0)) * seen).float(), best * seen)
    chosen = keys.masked_fill(~seen, -1).sort(-1).values
    assert not ((chosen[..., 1:] == chosen[..., :-1]) & (chosen[..., 1:] >= 0)).any()


@runs
@pytest.mark.parametrize("case", ["causal", "three heads a group", "softcap, sinks and window"])
def test_shares_of_rows_are_factors_of_what_they_give(case, monkeypatch):
    monkeypatch.setattr(products, "FEW", 0)
    monkeypatch.setattr(fused, "fitting", lambda source: SMALL)
    monkeypatch.setattr(products, "sweep", None)  # the plain way would end here
    request = make_request(case, device=DEVICE, dtype="float16")
    shares_BT = torch.rand(len(request.q_BHTD), request.queries, device=DEVICE)
    shares_BT[:, 0], shares_BT[:, -1] = 0.0, 1e-12
    found = products.given(Look(Source(site="here", request=request)), shares_BT)
    weights = judged(request).weights_BHTS
    assert weights is not None
    close(found, torch.einsum("bt,bhts->bhs", shares_BT.double(), weights), largest=9)


@runs
@pytest.mark.parametrize("case", SERVED)
def test_every_summary_is_what_the_definition_says(case):
    request = make_request(case, device=DEVICE)
    source = Source(site="here", request=request)
    check_summaries(request, answers(source, size=None, tiling=SMALL))


@runs
@pytest.mark.parametrize("size", [1, 4, 200])
@pytest.mark.parametrize(
    "case", ["causal", "padding both", "a later start", "more queries than keys", "blind example"]
)
def test_a_map_holds_sum_maximum_and_number_of_the_allowed_cells(case, size):
    request = make_request(case, device=DEVICE)
    found = answers(Source(site="here", request=request), size=size, tiling=SMALL)
    check_summaries(request, found)
    check_map(request, found, size)


@runs
@pytest.mark.parametrize("case", ["causal", "softcap", "sinks", "blind rows", "grouped heads"])
def test_the_lse_is_the_log_of_the_denominator(case):
    request = make_request(case, device=DEVICE)
    source = Source(site="here", request=request)
    wanted = judged(request).lse_BHT
    assert wanted is not None
    blind = source.blind_BT[:, None]
    close(
        fused.row_sums(source, tiling=SMALL),
        wanted.masked_fill(blind, 0.0),
        largest=float(wanted.masked_fill(blind, 0.0).abs().max()),
    )


@runs
@pytest.mark.parametrize(
    ("queries", "keys", "size", "tiling"),
    [
        (128, 128, 2, Tiling(32, 64, 2, 1)),  # whole tiles in whole blocks
        (100, 170, 3, Tiling(32, 16, 2, 1)),  # nothing fits
        (40, 170, 170, Tiling(32, 16, 2, 1)),  # a block is less than a tile
        (170, 96, None, Tiling(32, 32, 2, 1)),
    ],
)
@pytest.mark.parametrize(
    "mask", [Causal(), Window(30, 20), Causal() & Padding(starts_B=whole(DEVICE, 3, 70))], ids=str
)
def test_many_tiles_agree_with_the_definition(mask, queries, keys, size, tiling):
    request = drawn(mask, queries=queries, keys=keys)
    found = answers(Source(site="here", request=request), size=size, tiling=tiling)
    check_summaries(request, found)
    if size is not None and size < 10:
        check_map(request, found, size)


@runs
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"] if CUDA else ["float16"])
@pytest.mark.parametrize("width", [48, 64])
def test_sixteen_bits_are_taken_as_they_are(dtype, width):
    request = drawn(Causal(), queries=70, keys=70, width=width, dtype=dtype)
    request = replace(request, scores=Scores(scale=0.2))
    check_summaries(request, answers(Source(site="h", request=request), size=2, tiling=SMALL))


@runs
@pytest.mark.parametrize("top", [1, 3, 8])
@pytest.mark.parametrize("case", ["causal", "three heads a group", "blind rows", "a later start"])
def test_the_strongest_keys_are_those_of_the_definition(case, top):
    request = make_request(case, device=DEVICE)
    source = Source(site="here", request=request)
    check_top(source, fused.summaries(source, ask.recomputed(source), top=top, tiling=SMALL))


@runs
@pytest.mark.parametrize("size", [None, 6, 40])
@pytest.mark.parametrize(
    "mask", [Causal(), Window(60, 20), Causal() & Padding(starts_B=whole(DEVICE, 3, 150))], ids=str
)
def test_most_blocks_need_no_search_and_none_is_missed(mask, size, monkeypatch):
    monkeypatch.setattr(fused, "SHORT", 9)  # 20 blocks, of which a query wants 4
    request = drawn(mask, queries=70, keys=181)
    source = Source(site="here", request=request)
    found = fused.summaries(source, ask.recomputed(source), size=size, top=4, tiling=SMALL)
    check_top(source, found)
    check_summaries(request, found)
    assert (found.blocks is None) == (size is None)


@runs
def test_heads_are_searched_a_few_at_once_where_there_is_little_room(monkeypatch):
    monkeypatch.setattr(fused_keys, "ROOM", 1)
    request = make_request("three heads a group", device=DEVICE)
    source = Source(site="here", request=request)
    found = fused.summaries(source, ask.recomputed(source), size=2, top=2, tiling=SMALL)
    check_top(source, found)
    check_summaries(request, found)
    check_map(request, found, 2)


@runs
def test_a_query_with_one_strong_key_and_many_weak_ones_finds_them_all():
    # All of the strongest are in one block; elsewhere the weights are 0 in float32.
    k = torch.zeros(1, 1, 96, 16, device=DEVICE)
    k[..., 40:48, 0] = torch.arange(8, device=DEVICE) * 10 + 300.0
    q = torch.ones(1, 1, 5, 16, device=DEVICE)
    source = Source(site="here", request=Request(q_BHTD=q, k_BGSD=k, v_BGSE=k))
    top = fused.summaries(source, ask.recomputed(source), top=8, tiling=SMALL).top
    assert top is not None
    assert top.keys_BHTk[0, 0, 2].tolist() == [47, 46, 45, 44, 43, 42, 41, 40]


@runs
def test_the_door_takes_these_kernels_where_they_do_not_refuse(monkeypatch):
    request = make_request("causal", device=DEVICE)
    source = Source(site="here", request=request, lse_BHT=judged(request).lse_BHT)
    monkeypatch.setattr(plain, "summaries", None)
    found, rows = ask.summaries(source, ask.rows_of(source), size=2, top=2)
    assert rows.origin == "announced"
    check_summaries(request, found)
    check_top(source, found)
    check_top(source, replace(found, top=ask.top_keys(source, rows, 2)))


@runs
def test_padded_queries_give_nothing_and_are_on_no_map():
    request = make_request("padding right", device=DEVICE)
    real = whole(DEVICE, *[1] * 5, *[0] * 4, *[1] * 9).view(2, 9).bool()
    source = Source(site="here", request=request, real_BT=real)
    found = answers(source, size=2, tiling=SMALL)
    check_summaries(request, found, real)
    check_map(request, found, 2, real)


@runs
def test_the_lse_that_the_kernel_told_is_used():
    request = make_request("causal", device=DEVICE)
    told = judged(request).lse_BHT
    assert told is not None
    source = Source(site="here", request=request, lse_BHT=told + 0.25)
    found = fused.summaries(source, ask.rows_of(source), tiling=SMALL)
    close(found.mass_BHT, torch.full_like(told, 0.25).neg().exp())


@pytest.mark.skipif(not CUDA, reason="the PTX in it cannot be interpreted")
@pytest.mark.parametrize("size", [None, 4, 8, 5])
@pytest.mark.parametrize("queries", [1024, 1000])
@pytest.mark.parametrize("mask", [Causal(), Window(300, 200)], ids=str)
@pytest.mark.parametrize("tiling", TABLE, ids=str)
def test_what_was_timed_is_right(tiling, mask, queries, size):
    if queries % 2 and tiling.by_hand:
        pytest.skip("odd")
    request = drawn(mask, queries=queries, keys=1024, width=128, dtype="bfloat16")
    request = replace(request, scores=Scores(scale=0.3))
    found = answers(Source(site="here", request=request), size=size, tiling=tiling)
    check_summaries(request, found)
    if size is not None:
        check_map(request, found, size)


@pytest.mark.skipif(find_spec("triton") is None, reason="all is refused without triton")
@pytest.mark.parametrize(("case", "reason"), REFUSED.items())
def test_what_it_cannot_answer_it_refuses(case, reason):
    source = Source(site="here", request=make_request(case))
    assert reason in str(fused.refuses(source))


@pytest.mark.skipif(find_spec("triton") is None, reason="all is refused without triton")
def test_it_refuses_other_precisions_blind_rows_that_weigh_and_a_cpu():
    wide = make_request("causal", dtype="float64")
    assert "torch.float64" in str(fused.refuses(Source(site="here", request=wide)))
    mixed = replace(make_request("causal"), k_BGSD=wide.k_BGSD)
    assert "differ" in str(fused.refuses(Source(site="here", request=mixed)))
    blind = Source(site="here", request=make_request("blind rows"), blind="everything")
    assert "weigh every key" in str(fused.refuses(blind))
    if not INTERPRETED:
        source = Source(site="here", request=make_request("causal"))
        assert "does not run on cpu" in str(fused.refuses(source))


@pytest.mark.skipif(CUDA or INTERPRETED, reason="the others run right here")
@pytest.mark.skipif(find_spec("triton") is None, reason="there is no interpreter without triton")
def test_all_of_the_above_holds_in_the_interpreter():
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
