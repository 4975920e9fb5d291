"""The definition itself, against numbers worked by hand and a loop in plain Python."""

import math

import pytest
import torch
from attention_cases import CASES, make_request

from clearhead.attention import Request, Scores, reference
from clearhead.attention.bias import bias_grid
from clearhead.attention.masks import grid


def by_loop(request: Request) -> tuple[list[list[float]], list[list[float]], list[float]]:
    """Values, weights and lse of every row (example, head, query in turn), one number at a time."""
    q, k, v = (x.double().tolist() for x in (request.q_BHTD, request.k_BGSD, request.v_BGSE))
    queries, keys, scores = request.queries, request.keys, request.scores
    end, cpu = request.first + keys, torch.device("cpu")
    allowed = grid(
        request.mask, batch=len(q), queries=queries, keys=keys, first=request.first, device=cpu
    ).expand(len(q), queries, keys)
    bias = torch.zeros(1)
    if scores.bias is not None:
        bias = bias_grid(
            scores.bias,
            heads=len(q[0]),
            rows_T=torch.arange(end - queries, end),
            columns_S=torch.arange(request.first, end),
        )
    bias = bias.expand(len(q), len(q[0]), queries, keys).tolist()
    group = len(q[0]) // len(k[0])
    scale = len(q[0][0][0]) ** -0.5 if scores.scale is None else scores.scale

    def score(b: int, h: int, t: int, s: int) -> float:
        found = scale * sum(x * y for x, y in zip(q[b][h][t], k[b][h // group][s], strict=True))
        if scores.softcap is not None:
            found = scores.softcap * math.tanh(found / scores.softcap)
        return found + bias[b][h][t][s]

    values, weights, lse = [], [], []
    for b, h, t in torch.cartesian_prod(*map(torch.arange, request.q_BHTD.shape[:3])).tolist():
        seen = {s: math.exp(score(b, h, t, s)) for s in range(keys) if allowed[b, t, s]}
        sink = 0.0 if scores.sinks is None else math.exp(scores.sinks[h].item())
        total = sum(seen.values()) + sink
        row = [seen.get(s, 0.0) / total if seen else 0.0 for s in range(keys)]
        columns = zip(*v[b][h // group], strict=True)
        weights.append(row)
        values.append([sum(w * x for w, x in zip(row, column, strict=True)) for column in columns])
        lse.append(math.log(total) if total else -math.inf)
    return values, weights, lse


@pytest.mark.parametrize(
    "case",
    [
        "everything",
        "blind rows",
        "three heads a group",
        "a later start",
        "narrow values",
        "more queries than keys",
        "softcap, sinks and window",
        "softcap, bias and scale",
        "sinks and blind rows",
        "buckets, prefix, across",
        "causal slopes, grouped, cached, later",
    ],
)
def test_the_definition_is_what_a_loop_in_plain_python_finds(case):
    assert case in CASES
    request = make_request(case, dtype="float64")
    values, weights, lse = by_loop(request)
    found = reference.attend(request)
    assert found.weights_BHTS is not None
    assert found.lse_BHT is not None
    assert found.values_BHTE.flatten(0, 2).tolist() == [
        pytest.approx(row, rel=1e-12, abs=1e-14) for row in values
    ]
    assert found.weights_BHTS.flatten(0, 2).tolist() == [
        pytest.approx(row, rel=1e-12, abs=1e-14) for row in weights
    ]
    assert found.lse_BHT.flatten().tolist() == pytest.approx(lse, rel=1e-12, abs=1e-14)


def test_a_row_worked_by_hand():
    """Scores 0, ln 2 and ln 3 weigh 1/6, 2/6 and 3/6."""
    request = Request(
        q_BHTD=torch.ones(1, 1, 1, 1),
        k_BGSD=torch.tensor([1.0, 2.0, 3.0]).log().reshape(1, 1, 3, 1),
        v_BGSE=torch.tensor([[6.0, 0.0], [0.0, 6.0], [12.0, 12.0]]).reshape(1, 1, 3, 2),
    )
    found = reference.attend(request)
    assert found.weights_BHTS is not None
    assert found.lse_BHT is not None
    assert found.weights_BHTS.flatten().tolist() == pytest.approx([1 / 6, 2 / 6, 3 / 6])
    assert found.values_BHTE.flatten().tolist() == pytest.approx([7.0, 8.0])
    assert found.lse_BHT.item() == pytest.approx(math.log(6))


def test_a_sink_takes_its_share_and_gives_nothing():
    request = Request(
        q_BHTD=torch.zeros(1, 1, 1, 2),
        k_BGSD=torch.zeros(1, 1, 3, 2),
        v_BGSE=torch.ones(1, 1, 3, 1),
        scores=Scores(sinks=torch.zeros(1)),
    )
    assert reference.attend(request).values_BHTE.item() == pytest.approx(3 / 4)


def test_one_request_is_computed_in_double_precision_whatever_it_came_in():
    found = reference.attend(make_request("sinks", dtype="bfloat16"))
    assert found.values_BHTE.dtype == torch.float64
    assert found.kernel == "reference"
