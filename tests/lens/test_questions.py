"""Every question, on every kind of attention, against the dense float64 definition."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from attention_cases import CASES, DEVICES, make_request, whole
from torch import Tensor

from clearhead.attention import Request, attend, reference, watching
from clearhead.attention.masks import grid
from clearhead.foundation.errors import InputError
from clearhead.lens.look import Look
from clearhead.lens.questions import ask, sweep
from clearhead.lens.questions.cells import exact
from clearhead.lens.questions.source import Source

ASKED = [case for case, made in CASES.items() if made.queries * made.keys]


@pytest.fixture(params=["tiles of the usual size", "tiles of a few pairs"])
def tiles(request, monkeypatch):
    """Small tiles, so that nine tokens make as many of them as nine thousand do."""
    if request.param == "tiles of a few pairs":
        monkeypatch.setattr(sweep, "CPU_LONGEST", 4)
        monkeypatch.setattr(sweep, "GPU_LONGEST", 4)
        monkeypatch.setattr(sweep, "LEAST", 1)
        monkeypatch.setattr(sweep, "CPU_PAIRS", 128)
        monkeypatch.setattr(sweep, "GPU_PAIRS", 128)


def small(case: str) -> bool:
    return CASES[case].queries * CASES[case].keys < 1000


def dense(request: Request) -> Tensor:
    weights = reference.attend(request).weights_BHTS
    assert weights is not None
    return weights


def allowed(request: Request) -> Tensor:
    batch = len(request.q_BHTD)
    return grid(
        request.mask,
        batch=batch,
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=request.q_BHTD.device,
    ).expand(batch, -1, -1)


def close(found: Tensor, wanted: Tensor, *, largest: float = 1.0) -> None:
    """Float32: a score is a sum of products of about 4 each, and a weight its exponential."""
    assert found.shape == wanted.shape
    assert not found.isnan().any()
    assert (found.double() - wanted).abs().max() <= 2e-5 * max(largest, 1.0)


def entropies(weights: Tensor) -> Tensor:
    return -torch.where(weights > 0, weights * weights.clamp(min=1e-300).log(), 0.0).sum(-1)


def ways_back(request: Request) -> Tensor:
    """How many tokens before each query each key stands."""
    rows = torch.arange(request.queries)[:, None] + request.keys - request.queries
    return (rows - torch.arange(request.keys)).to(request.q_BHTD.device).double()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", ASKED)
def test_every_summary_is_what_the_definition_says(case, device, tiles):
    request = make_request(case, device=device)
    if not small(case) and sweep.CPU_LONGEST == 4:
        pytest.skip("as many tiles as pairs: the usual size makes several of these already")
    source, weights = Source(site="here", request=request), dense(request)
    found, rows = ask.summaries(source, ask.rows_of(source))
    back = ways_back(request)
    assert rows.origin == "recomputed"
    close(found.received_BHS, weights.sum(2), largest=request.queries)
    close(found.entropy_BHT, entropies(weights), largest=10)
    close(found.peak_BHT, weights.amax(-1))
    close(found.mass_BHT, weights.sum(-1))
    close(found.signed_BHT, (weights * back).sum(-1), largest=request.keys)
    close(found.absolute_BHT, (weights * back.abs()).sum(-1), largest=request.keys)
    first = allowed(request).to(torch.uint8).argmax(-1)[:, None, :, None]
    sink = weights.gather(-1, first.expand(-1, weights.shape[1], -1, -1))[..., 0]
    close(found.sink_BHT, sink)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", ASKED)
@pytest.mark.parametrize("size", [1, 3, 4, 200])
def test_a_map_holds_mean_maximum_and_number_of_the_allowed_cells(case, size, device, tiles):
    request = make_request(case, device=device)
    if not small(case) and (sweep.CPU_LONGEST == 4 or size == 200):
        pytest.skip("too many blocks for a loop in Python")
    source, weights, may = Source(site="here", request=request), dense(request), allowed(request)
    found, _ = ask.summaries(source, ask.rows_of(source), size=size)
    assert found.blocks is not None
    edges = [blocks(count, size) for count in (request.queries, request.keys)]
    assert found.blocks.counts.shape[1:] == (len(edges[0]), len(edges[1]))
    for (row, top), (column, left) in product(*(enumerate(each) for each in edges)):
        cell = (..., slice(*top), slice(*left))
        here = may[cell]
        assert torch.equal(found.blocks.counts[:, row, column], here.sum((-1, -2)))
        close(found.blocks.sums[:, :, row, column], weights[cell].sum((-1, -2)), largest=10)
        peak = weights[cell].masked_fill(~here[:, None], 0.0).amax((-1, -2))
        close(found.blocks.logs[:, :, row, column].exp(), peak)


def blocks(places: int, size: int) -> list[tuple[int, int]]:
    """Blocks as even as can be, the longer ones first."""
    count = min(size, places)
    lengths = [places // count + (i < places % count) for i in range(count)]
    starts = [sum(lengths[:i]) for i in range(count)]
    return [(start, start + length) for start, length in zip(starts, lengths, strict=True)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", [case for case in ASKED if small(case)])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_the_top_keys_are_the_largest_weights(case, count, device, tiles):
    request = make_request(case, device=device)
    source, weights = Source(site="here", request=request), dense(request)
    found = ask.top_keys(source, ask.rows_of(source), count)
    wanted = weights.topk(min(count, request.keys), -1).values
    close(found.logs_BHTk.exp()[..., : request.keys], wanted)
    number = allowed(request).sum(-1)[:, None].clamp(max=count)
    assert ((found.keys_BHTk >= 0).sum(-1) == number).all()
    held = weights.gather(-1, found.keys_BHTk.clamp(min=0))
    held = held.masked_fill(found.keys_BHTk < 0, 0.0)
    close(found.logs_BHTk.exp(), held)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", [case for case in ASKED if small(case)])
def test_spans_columns_and_cells_are_pieces_of_the_matrix(case, device, tiles):
    request = make_request(case, device=device)
    source, weights = Source(site="here", request=request), dense(request)
    rows = ask.rows_of(source)
    spans = {"first": slice(0, 1), "some": slice(1, min(4, request.keys)), "none": slice(1, 1)}
    found = ask.span_masses(source, rows, spans)
    for number, span in enumerate(spans.values()):
        close(found[..., number], weights[..., span].sum(-1))
    last = request.keys - 1
    close(ask.columns_mass(source, rows, [0, last]), weights[..., 0] + weights[..., last])
    part, columns = slice(request.queries // 2, request.queries), slice(request.keys // 3, last + 1)
    every = slice(0, request.k_BGSD.shape[1])
    found, _ = exact(source, None, rows=part, columns=columns, groups=every)
    close(found, weights[..., part, columns])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("case", ["causal", "grouped heads", "softcap, sinks and window"])
def test_the_lse_a_kernel_told_gives_the_same(case, dtype):
    request, heard = make_request(case, dtype=dtype), []
    with watching(heard.append):
        attend(
            request.q_BHTD,
            request.k_BGSD,
            request.v_BGSE,
            mask=request.mask,
            scores=request.scores,
        )
    told = heard[0].attended.lse_BHT
    assert told is not None
    source = Source(site="here", request=request, lse_BHT=told)
    found, rows = ask.summaries(source, ask.rows_of(source))
    # The kernel that builds its weights rounds every score to 16 bits, and its lse says so.
    rounds = heard[0].attended.kernel == "explicit" and request.q_BHTD.element_size() == 2
    assert rounds or rows.origin == "announced"
    weights = dense(request)
    off = (found.received_BHS - weights.sum(2)).abs().max()
    assert off <= (ask.OFF if rounds else 2e-5) * request.queries


def test_an_lse_that_does_not_add_up_is_worked_out_again():
    request = make_request("causal")
    told = reference.attend(request).lse_BHT
    assert told is not None
    source = Source(site="here", request=request, lse_BHT=told.float() + 0.1)
    found, rows = ask.summaries(source, ask.rows_of(source))
    assert rows.origin == "recomputed"
    close(found.received_BHS, dense(request).sum(2), largest=9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("columns", [slice(0, 9), slice(2, 5)], ids=["every key", "some keys"])
@pytest.mark.parametrize("off", [0.1, -0.1, 200.0, -200.0])
@pytest.mark.parametrize("case", ["causal", "grouped heads", "softcap, sinks and window"])
def test_cells_of_an_lse_that_does_not_add_up_are_made_with_one_that_does(
    case, off, columns, device
):
    request = make_request(case, device=device)
    true_BHT, weights = reference.attend(request).lse_BHT, dense(request)
    assert true_BHT is not None
    columns = slice(columns.start, min(columns.stop, request.keys))
    part, groups = slice(1, 3), slice(0, request.k_BGSD.shape[1])
    for told_BHT, origin in ((true_BHT, "announced"), (true_BHT + off, "recomputed")):
        source = Source(site="here", request=request, lse_BHT=told_BHT.float())
        found, lse = exact(source, None, rows=part, columns=columns, groups=groups)
        assert lse.origin == origin
        close(found, weights[..., part, columns])
        source = replace(source, lse_BHT=told_BHT.clone())
        source.lse_BHT[:, :, 4:] += 7.0  # rows that nobody asks for
        _, lse = exact(source, None, rows=part, columns=columns, groups=groups)
        assert lse.origin == origin


def test_a_look_says_whose_lse_its_cells_are_made_with():
    request = make_request("causal")
    true_BHT, weights = reference.attend(request).lse_BHT, dense(request)
    look = Look(Source(site="here", request=request, lse_BHT=true_BHT.float() + 0.1))
    for _ in range(2):
        found = look.weights(rows=slice(2, 6), columns=slice(0, 4), heads=[1])
        assert found.origin.lse == "recomputed"
        close(found.values, weights[:, [1], 2:6, :4])
        close(look.weights().values.sum(-1), torch.ones_like(true_BHT))
        look.entropy()  # a pass over all rows settles every one


def test_padded_queries_give_nothing_and_are_on_no_map():
    request = make_request("padding right")
    real = whole("cpu", *[1] * 5, *[0] * 4, *[1] * 9).view(2, 9).bool()
    source = Source(site="here", request=request, real_BT=real)
    found, _ = ask.summaries(source, ask.rows_of(source), size=2)
    weights = dense(request) * real[:, None, :, None]
    close(found.received_BHS, weights.sum(2), largest=9)
    may = allowed(request) & real[..., None]
    assert found.blocks is not None
    assert found.blocks.counts[:, 0, 0].tolist() == may[:, :5, :5].sum((1, 2)).tolist()
    close(found.blocks.sums[:, :, 1, 0], weights[:, :, 5:, :5].sum((-1, -2)), largest=9)


def test_a_kernel_that_spreads_blind_rows_is_followed():
    request = make_request("blind rows")
    source = Source(site="here", request=request, blind="everything")
    found, _ = ask.summaries(source, ask.rows_of(source))
    weights = dense(request)
    blind = ~allowed(request).any(-1)
    assert blind.any()
    weights = torch.where(blind[:, None, :, None], 1 / request.keys, weights)
    close(found.received_BHS, weights.sum(2), largest=9)
    close(found.entropy_BHT, entropies(weights), largest=10)
    close(found.mass_BHT, weights.sum(-1))


@pytest.mark.parametrize("which", ["q", "k"])
def test_nan_is_found_where_it_is(which):
    request = make_request("causal")
    field = {"q": "q_BHTD", "k": "k_BGSD"}[which]
    tensor = getattr(request, field).clone()
    tensor[1, 2, 7, 3] = torch.nan
    source = Source(site="decoder.3.self", request=replace(request, **{field: tensor}))
    name = {"q": "query", "k": "key"}[which]
    with pytest.raises(InputError, match=rf"decoder.3.self: {name} 7 of head 2 in example 1"):
        ask.summaries(source, ask.rows_of(source))
