"""Induction heads grow where text repeats, and the lens finds them: in a tiny model, in a real one.

Each random sequence is read twice. What comes next in the second half can only be known by looking
back at what followed the same token in the first (Elhage et al. 2021, Olsson et al. 2022).
"""

import pytest
import torch
from fetched import fetched
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from clearhead import ablate, load, watch
from clearhead.attention import Heads
from clearhead.attention.positions import Alibi
from clearhead.layers import FeedForward, Layer, Logits, Norm, Words
from clearhead.lens import Patterns
from clearhead.models import Decoder, Stack, build

VOCABULARY, WIDTH, STEPS = 64, 32, 700
SHORTEST, LONGEST = 12, 20  # of one half, drawn anew each step, so that no fixed distance helps
UNSEEN = 24  # longer than any half that was trained on


@pytest.fixture(autouse=True)
def one_thread():
    """A tiny model is slower on two threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def twice(count: int, length: int, draw: torch.Generator) -> Tensor:
    """Sequences of tokens of which no two are the same, each followed by itself."""
    halves = [torch.randperm(VOCABULARY, generator=draw)[:length] for _ in range(count)]
    return torch.stack(halves).repeat(1, 2)


def two_layers() -> nn.Module:
    layer = Layer(
        heads=Heads(heads=4, key_value_heads=4, head_width=WIDTH // 4),
        feed_forward=FeedForward(width=WIDTH, activation="gelu"),
        norm=Norm(),
        norm_place="before",
    )
    stack = Stack(width=WIDTH, layers=2, layer=layer, positions=Alibi(), final_norm=True)
    words = Words(vocabulary=VOCABULARY, width=WIDTH)
    torch.manual_seed(2)
    return build(Decoder(input=words, stack=stack, output=Logits(vocabulary=VOCABULARY)))


def train(network: nn.Module) -> None:
    draw = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=0.01, betas=(0.9, 0.98), fused=True)
    for _ in range(STEPS):
        length = int(torch.randint(SHORTEST, LONGEST + 1, (1,), generator=draw))
        ids = twice(16, length, draw)
        logits = network(ids).logits_BTV[:, length:-1]
        loss = cross_entropy(logits.flatten(0, 1), ids[:, length + 1 :].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def patterns_of(network: nn.Module, ids: Tensor) -> Patterns:
    with torch.no_grad(), watch(network) as seen:
        network(ids)
    return seen.patterns()


def best(patterns: Patterns) -> float:
    return max(head.scores["induction"] or 0.0 for head in patterns)


def test_a_model_that_learns_to_repeat_grows_an_induction_head():
    network = two_layers()
    ids = twice(8, UNSEEN, torch.Generator().manual_seed(2))
    before = patterns_of(network, ids)
    train(network)
    after = patterns_of(network, ids)
    # A head that looks everywhere alike gives one key of about forty a fortieth.
    assert best(before) < 0.1
    assert not before.named("induction")
    assert best(after) > 0.5
    # It needs a layer below that tells each token what stood before it.
    assert {head.site for head in after.named("induction")} == {"decoder.1.self"}
    once = twice(8, UNSEEN, torch.Generator().manual_seed(3))[:, :UNSEEN]
    assert patterns_of(network, once)[0].scores["induction"] is None


@pytest.fixture(scope="module")
def smollm2() -> nn.Module:
    return load(fetched("smollm2")).network


@pytest.mark.weights
def test_a_real_model_has_induction_heads(smollm2):
    half = torch.randint(1000, 40000, (2, 50), generator=torch.Generator().manual_seed(0))
    found = patterns_of(smollm2, half.repeat(1, 2)).named("induction")
    assert len(found) >= 4
    assert found[0].score is not None
    assert found[0].score > 0.8
    layers = {int(head.site.split(".")[1]) for head in found}
    assert (
        min(layers) > 0
    )  # never in the first layer: there is nothing below to tell what was before
    random_order = torch.randint(1000, 40000, (2, 100), generator=torch.Generator().manual_seed(1))
    assert not patterns_of(smollm2, random_order).named("induction")


@pytest.mark.weights
def test_induction_heads_switched_off_cost_more_than_as_many_others(smollm2):
    draw = torch.Generator().manual_seed(4)
    half = torch.randint(1000, 40000, (1, 60), generator=draw)
    ids = half.repeat(1, 2)

    def loss() -> float:
        """Of the second half, which only the first can tell."""
        with torch.no_grad():
            logits = smollm2(ids).logits_BTV[0, 60:-1]
        return float(cross_entropy(logits, ids[0, 61:]))

    heads = patterns_of(smollm2, ids)
    induction = [(head.site, head.head) for head in heads.named("induction")]
    # The others are of the same layers, so that depth does not decide.
    layers = {site for site, _ in induction}
    others = [
        (head.site, head.head) for head in heads if head.site in layers and head.name != "induction"
    ]
    whole = loss()
    costs = []
    for _ in range(3):
        picked = torch.randperm(len(others), generator=draw)[: len(induction)].tolist()
        with ablate(smollm2, [others[number] for number in picked]):
            costs.append(loss() - whole)
    with ablate(smollm2, induction):
        cost = loss() - whole
    assert cost > 2 * max(costs)
