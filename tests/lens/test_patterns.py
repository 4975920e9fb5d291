"""What heads are called: hand-made heads, and every score against a loop over dense weights."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from attention_cases import CASES, make_request
from torch import Tensor

from clearhead.attention import (
    Causal,
    Everything,
    Mask,
    Padding,
    Request,
    Scores,
    Window,
    reference,
)
from clearhead.attention.masks import grid
from clearhead.foundation.errors import ConfigError
from clearhead.lens import Look
from clearhead.lens.patterns import PATTERNS, found, scored
from clearhead.lens.patterns.named import name_of
from clearhead.lens.questions.source import Source

# A weight is off by 2e-5 at most (test_questions), an entropy by ten times that over ln 2.
CLOSE = 3e-4
OF_ONE_TEXT = {"previous", "next", "self", "local", "induction", "duplicate"}


@dataclass(frozen=True)
class Text:
    """One example, as the loop needs it."""

    weights_HTS: Tensor
    sees: list[list[bool]]
    real: list[bool]
    ids: list[int]

    @property
    def queries(self) -> list[int]:
        return [t for t, real in enumerate(self.real) if real and sum(self.sees[t]) >= 2]

    def own(self, t: int) -> int:
        return len(self.ids) - len(self.sees) + t

    def first(self, t: int) -> int:
        return self.sees[t].index(True)


def wanted_keys(text: Text, name: str, t: int) -> list[int]:
    """The keys that make the pattern for one query; none where it cannot show it."""
    own, ids = text.own(t), text.ids
    before = [s for s in range(max(own, 0)) if ids[s] == ids[own]]
    keys: list[int] = []
    if name == "local":
        keys = [own + step for step in range(-scored.NEAR, scored.NEAR + 1)]
    elif name in ("previous", "self", "next"):
        keys = [own + ("previous", "self", "next").index(name) - 1]
    elif name == "duplicate":
        near = [s for s in before if s >= text.first(t)]
        keys = [] if len(near) > scored.REPEATS else before
    elif name == "induction" and before and text.sees[t][before[-1]]:
        keys = [before[-1] + 1] if before[-1] + 1 < own else []
    keys = [s for s in keys if 0 <= s < len(ids) and text.sees[t][s]]
    return keys if sum(text.sees[t]) >= 2 * len(keys) else []


def on_keys(texts: list[Text], head: int, name: str) -> float | None:
    told = [
        sum(float(text.weights_HTS[head, t, s]) for s in keys)
        for text in texts
        for t in text.queries
        if (keys := wanted_keys(text, name, t))
    ]
    return sum(told) / len(told) if len(told) >= scored.FEWEST else None


def on_first(texts: list[Text], head: int, start: int, *, cross: bool) -> float | None:
    told = []
    for text in texts:
        for t in text.queries:
            beside = [u for u in (t - 1, t + 1) if 0 <= u < len(text.real) and text.real[u]]
            firsts = [text.first(u) if True in text.sees[u] else 0 for u in beside]
            first = text.first(t)
            if cross or first + start == 0 or first in firsts:
                told.append(float(text.weights_HTS[head, t, first]))
    return sum(told) / len(told) if len(told) >= scored.FEWEST else None


def on_one_key(texts: list[Text], head: int) -> float | None:
    total = count = 0.0
    for text in texts:
        shares = [0.0]
        for s in range(len(text.ids)):
            seers = [t for t in text.queries if text.sees[t][s]]
            if seers and 2 * len(seers) >= len(text.queries):
                got = sum(float(text.weights_HTS[head, t, s]) for t in seers)
                shares.append(got / len(seers))
        total, count = total + len(text.queries) * max(shares), count + len(text.queries)
    return total / count if count >= scored.FEWEST else None


def evenness(texts: list[Text], head: int) -> float | None:
    told = []
    for text in texts:
        for t in text.queries:
            row = [float(weight) for weight in text.weights_HTS[head, t]]
            row = [weight / sum(row) for weight in row]
            entropy = -sum(weight * math.log(weight) for weight in row if weight > 0)
            told.append(entropy / math.log(sum(text.sees[t])))
    return sum(told) / len(told) if len(told) >= scored.FEWEST else None


def along_the_diagonal(texts: list[Text], head: int) -> float | None:
    off = middle = count = 0.0
    for text in texts:
        for number, t in enumerate(text.queries):
            if len(text.queries) == 1:
                continue
            along = number / (len(text.queries) - 1)
            row = [float(weight) for weight in text.weights_HTS[head, t]]
            place = sum(s * weight for s, weight in enumerate(row)) / sum(row)
            off += abs((place - text.first(t)) / (sum(text.sees[t]) - 1) - along)
            middle, count = middle + abs(0.5 - along), count + 1
    return max(1 - off / middle, 0.0) if count >= scored.FEWEST else None


def by_loop(texts: list[Text], head: int, start: int, *, cross: bool) -> dict[str, float | None]:
    """Every score of one head, from dense weights, one query after the other."""
    return {
        **{name: None if cross else on_keys(texts, head, name) for name in OF_ONE_TEXT},
        "first": on_first(texts, head, start, cross=cross),
        "stripe": on_one_key(texts, head),
        "broad": evenness(texts, head),
        "diagonal": along_the_diagonal(texts, head) if cross else None,
    }


def texts_of(request: Request, ids_BS: Tensor, real_BT: Tensor | None) -> list[Text]:
    batch = len(request.q_BHTD)
    weights = reference.attend(request).weights_BHTS
    assert weights is not None
    sees = grid(
        request.mask,
        batch=batch,
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=request.q_BHTD.device,
    ).expand(batch, -1, -1)
    real = torch.ones(batch, request.queries, dtype=torch.bool) if real_BT is None else real_BT
    return [
        Text(weights[b], sees[b].tolist(), real[b].tolist(), ids_BS[b].tolist())
        for b in range(batch)
    ]


def agree(request: Request, ids_BS: Tensor, real_BT: Tensor | None, site: str) -> int:
    """Compare every score with the loop; how many there were."""
    source = Source(site=site, request=request, real_BT=real_BT)
    told = scored.scored(Look(source), ids_BS)
    texts, compared = texts_of(request, ids_BS, real_BT), 0
    for head in range(source.sizes[1]):
        cross = site.endswith("cross") or request.queries > request.keys
        wanted = by_loop(texts, head, request.first, cross=cross)
        assert wanted.keys() == told.keys()
        for name, score in wanted.items():
            got = told[name]
            assert isinstance(got, str) == (score is None), (name, got, score)
            if score is not None:
                assert abs(float(got[head]) - score) < CLOSE, (name, head)
                compared += 1
    return compared


BLIND = "blind batch"  # nobody sees more than nothing
SMALL = [
    case
    for case, made in CASES.items()
    if 9 <= made.queries * made.keys < 1000 and case not in (BLIND, "window of itself")
]
REAL = {"padding right": (0, 5), "padding left": (4, 9), "blind rows": (3, 9)}


def ids_for(request: Request, kinds: int = 3) -> Tensor:
    draw = torch.Generator().manual_seed(7)
    return torch.randint(kinds, (len(request.q_BHTD), request.keys), generator=draw)


def real_for(case: str) -> Tensor | None:
    if case not in REAL:
        return None
    real_BT = torch.ones(2, 9, dtype=torch.bool)
    real_BT[0] = False
    real_BT[0, slice(*REAL[case])] = True
    return real_BT


@pytest.mark.parametrize(("repeats", "fewest"), [(8, 4), (2, 1)])
@pytest.mark.parametrize("case", SMALL)
def test_every_score_is_what_a_loop_over_dense_weights_finds(case, repeats, fewest, monkeypatch):
    monkeypatch.setattr(scored, "REPEATS", repeats)
    monkeypatch.setattr(scored, "FEWEST", fewest)
    request = make_request(case)
    compared = agree(request, ids_for(request), real_for(case), "encoder.0.self")
    assert compared > 0 or request.queries < fewest


@pytest.mark.parametrize("case", ["everything", "padding right", "given across", "sinks"])
def test_every_score_of_cross_attention_is_what_a_loop_finds(case):
    request = make_request(case)
    assert agree(request, ids_for(request), None, "decoder.0.cross") > 0


def test_blind_queries_a_kernel_spreads_are_in_no_score():
    request = make_request("blind rows")
    texts = texts_of(request, ids_for(request), None)
    spread = Source(site="decoder.0.self", request=request, blind="everything")
    told = scored.scored(Look(spread), None)
    for head in range(4):
        wanted = on_one_key(texts, head)
        assert abs(float(told["stripe"][head]) - wanted) < CLOSE
        assert abs(float(told["broad"][head]) - evenness(texts, head)) < CLOSE


def test_what_nobody_can_show_is_not_judged_and_says_why():
    request = make_request("window of itself")
    told = scored.scored(Look(Source(site="encoder.0.self", request=request)), None)
    assert all(isinstance(score, str) for score in told.values())
    assert told["self"] == "0 of its queries can show it, and 4 are the fewest to go by"
    assert told["induction"].startswith("the ids of its keys are not known")


TOKENS = 24
PERIOD = 10
IDS = [3 + t % PERIOD for t in range(TOKENS)]
SURE = 9.0  # what a hand-made head adds to the score of the key it looks at

Looks = Callable[[int, int], bool]
HEADS: dict[str, Looks] = {
    "previous": lambda t, s: s == t - 1,
    "self": lambda t, s: s == t,
    "first": lambda t, s: s == 0,
    "induction": lambda t, s: s == t - PERIOD + 1 or (t < PERIOD and s == 0),
    "duplicate": lambda t, s: (s < t and (t - s) % PERIOD == 0) or (t < PERIOD and s == 0),
    "stripe": lambda t, s: s == 6,
    "local": lambda t, s: s in (t - 1, t, t - 2),
    "broad": lambda t, s: True,
    "mixed": lambda t, s: s in (t // 2, t - 5),
}
BOTH_WAYS = {
    "next": lambda t, s: s == t + 1,
    "local": lambda t, s: abs(t - s) <= 2,
    "previous": lambda t, s: s == t - 1,
    "broad": lambda t, s: True,
}
ACROSS = {
    "diagonal": lambda t, s: s == round(t * 13 / (TOKENS - 1)),
    "first": lambda t, s: s == 0,
    "stripe": lambda t, s: s == 13,
    "broad": lambda t, s: True,
}


def made(
    heads: dict[str, Looks],
    mask: Mask,
    *,
    queries: int = TOKENS,
    keys: int = TOKENS,
    start: int = 0,
) -> Request:
    """One head each, two to a key head: key `s` is the unit vector `s`, a query its own scores.

    Args:
        start: How many padded tokens stand before the text.
    """
    count = len(heads) + len(heads) % 2
    scores = torch.zeros(1, count, keys if queries <= keys else queries, keys)
    for head, looks in enumerate(heads.values()):
        for t in range(start, scores.shape[2]):
            for s in range(start, keys):
                scores[0, head, t, s] = SURE * looks(t - start, s - start)
    k = torch.eye(keys).expand(1, count // 2, keys, keys)
    q = scores[:, :, scores.shape[2] - queries :]
    return Request(q_BHTD=q, k_BGSD=k, v_BGSE=k, mask=mask, scores=Scores(scale=1.0))


def names(request: Request, site: str, ids: list[int], real_BT: Tensor | None = None) -> list[str]:
    look = Look(Source(site=site, request=request, real_BT=real_BT))
    return [head.name for head in found.found([(look, torch.tensor([ids]))])]


def test_hand_made_heads_are_called_what_they_are():
    told = names(made(HEADS, Causal()), "decoder.0.self", IDS)
    assert told[: len(HEADS)] == list(HEADS)
    told = names(made(BOTH_WAYS, Everything()), "encoder.0.self", IDS)
    assert told == list(BOTH_WAYS)
    told = names(made(ACROSS, Everything(), keys=14), "decoder.0.cross", IDS[:14])
    assert told == list(ACROSS)


def test_hand_made_heads_are_known_behind_padding_and_behind_a_cache():
    padded = made(
        HEADS, Causal() & Padding(starts_B=torch.tensor([5])), keys=29, queries=29, start=5
    )
    real_BT = torch.arange(29)[None] >= 5
    told = names(
        padded, "decoder.0.self", [3, 3, 4, 5, 5, *IDS], real_BT
    )  # padding looks like text
    assert told[: len(HEADS)] == list(HEADS)
    assert names(made(HEADS, Causal(), queries=9), "decoder.0.self", IDS)[: len(HEADS)] == list(
        HEADS
    )


def test_padding_is_no_earlier_place_of_a_token():
    mask = Causal() & Padding(starts_B=torch.tensor([5]))
    request = made({"mixed": lambda t, s: False}, mask, keys=12, queries=12, start=5)
    real_BT = torch.arange(12)[None] >= 5
    look = Look(Source(site="decoder.0.self", request=request, real_BT=real_BT))
    told = scored.scored(look, torch.tensor([[5, 6, 7, 8, 9, 5, 6, 7, 8, 9, 10, 11]]))
    assert told["induction"] == told["duplicate"]
    assert told["induction"].startswith("0 of its queries can show it")


def test_a_windows_edge_is_no_first_token():
    request = made({"edge": lambda t, s: s == max(t - 6, 0)}, Window(6, 0))
    source = Source(site="decoder.0.self", request=request)
    on_edge = float(Look(source).summaries.sink_BHT[0, 0, 1:].mean())
    assert on_edge > 0.98
    seen = [t for t in range(1, TOKENS) if t <= 6]  # who may see the first token at all
    told = scored.scored(Look(source), None)["first"]
    wanted = reference.attend(request).weights_BHTS[0, 0, seen, 0].mean()
    assert abs(float(told[0]) - float(wanted)) < CLOSE
    late = replace(request, q_BHTD=request.q_BHTD[:, :, 7:])
    told = scored.scored(Look(replace(source, request=late)), None)["first"]
    assert told == "0 of its queries can show it, and 4 are the fewest to go by"


def test_a_name_needs_enough_and_says_more_before_less():
    none = dict.fromkeys((pattern.name for pattern in PATTERNS), None)
    for number, pattern in enumerate(PATTERNS):
        scores = {**none, pattern.name: pattern.enough}
        scores |= {weaker.name: 1.0 for weaker in PATTERNS[number + 1 :]}
        assert name_of(scores) == (pattern.name, pattern.enough)
    almost = {pattern.name: pattern.enough - 1e-6 for pattern in PATTERNS}
    assert name_of(almost) == name_of(none) == ("mixed", None)


def test_the_answer_is_a_list_and_a_table_that_says_what_is_missing():
    look = Look(Source(site="decoder.0.self", request=made(HEADS, Causal())))
    told = found.found([(look, None)])
    assert len(told) == 10
    assert told[0].name == "previous"
    assert told[0].score == told[0].scores["previous"]
    assert told[0].scores["induction"] is None
    assert [head.head for head in told.named("first")] == [2]
    unsure = {"unsure": lambda t, s: s == 0 or (s == 1 and t % 4 == 0), "sure": HEADS["first"]}
    look = Look(Source(site="decoder.1.self", request=made(unsure, Causal())))
    assert [head.head for head in found.found([(look, None)]).named("first")] == [1, 0]
    assert told.of("decoder.0.self") == list(told)
    lines = str(told).splitlines()
    assert lines[0].split() == ["site", "head", "name", *(each.name for each in PATTERNS)]
    assert lines[1].split()[:5] == ["decoder.0.self", "0", "previous", "1.00", "–"]
    assert "– induction: the ids of its keys are not known; patterns(ids=…) takes them" in str(told)
    with pytest.raises(ConfigError, match=r"no pattern 'indction'. Did you mean 'induction'"):
        told.named("indction")
    with pytest.raises(ConfigError, match=r"no attention 'decoder.0.slef' here. Did you mean 'dec"):
        told.of("decoder.0.slef")
    with pytest.raises(ConfigError, match=r"no attention 'decoder.0.self' here. There are: none"):
        found.found([]).of("decoder.0.self")
