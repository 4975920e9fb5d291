"""What a position took through all layers, against the whole matrices of eager attention.

The judge builds every matrix from what `transformers` returns and its gradient, and multiplies
them in float64.
"""

from dataclasses import replace

import pytest
import tiny
import torch
from attention_cases import CASES as ATTENTIONS
from attention_cases import make_request
from seen_families import EAGER_ALONE, ONE_SIDED, TWO_SIDED, inputs_of
from torch import Tensor

from clearhead import watch
from clearhead.attention import reference
from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.lens import Look, relevance
from clearhead.lens.flow import products
from clearhead.lens.questions import sweep
from clearhead.lens.questions.source import Source

# Float32: weights of two attentions a layer apart, some ten roundings of each.
NEAR = 5e-6


def drawn(published):
    """The model as its users run it."""
    model = published.draw()
    model.set_attn_implementation("eager" if published.model in EAGER_ALONE else "sdpa")
    return model


def number(found):
    """One number a model says of two examples; the second counts twice."""
    scores = found.logits if hasattr(found, "logits") else found.last_hidden_state
    return scores[0, 4, 3] + 2 * scores[1, 3, 5]


def told(model, inputs):
    """The number, and of each kind of attention its matrices, in the graph."""
    model.set_attn_implementation("eager")
    found = model(**inputs, output_attentions=True)
    kinds = {
        "encoder": getattr(found, "encoder_attentions", None),
        "decoder": getattr(found, "decoder_attentions", None),
        "cross": getattr(found, "cross_attentions", None),
    }
    only = getattr(found, "attentions", None)
    if only is not None:
        kinds["encoder"] = only
    return number(found), {kind: list(layers or ()) for kind, layers in kinds.items()}


def last_real(inputs, name, length):
    mask = inputs.get(name)
    if mask is None or mask.shape[1] != length:
        return [length - 1] * 2
    return [int(row.nonzero().max()) for row in mask]


def mixed(weights):
    """Half itself and half what it attended to, rows made whole."""
    mean = weights.detach().double().mean(1)
    half = mean + torch.eye(*mean.shape[1:], dtype=mean.dtype)
    return half / half.sum(-1, keepdim=True)


@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize("published", ONE_SIDED, ids=str)
def test_rollout_is_a_row_of_the_product_of_all_layers(published, padding):
    model, inputs = drawn(published), inputs_of(published, padding)
    with torch.no_grad(), watch(model) as seen:
        model(**inputs)
    found = seen.rollout(to=-1)
    steps = [mixed(weights) for weights in told(model, inputs)[1]["encoder"]]
    whole = torch.eye(steps[0].shape[1], dtype=torch.float64)
    for step in steps:
        whole = step @ whole
    ends = last_real(inputs, "attention_mask", whole.shape[-1])
    (side,) = found.sides
    assert found.to == tuple(ends)
    wanted = whole[[0, 1], ends]
    assert (found[side] - wanted).abs().max() < NEAR
    assert (found[side].sum(1) - 1).abs().max() < NEAR


@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize("published", TWO_SIDED, ids=str)
def test_rollout_of_a_translator_goes_on_into_the_source(published, padding):
    """All tokens of both sides as one graph: source first, then target."""
    model, inputs = drawn(published), inputs_of(published, padding)
    with torch.no_grad(), watch(model) as seen:
        model(**inputs)
    found = seen.rollout(to=[2, -1])
    _, kinds = told(model, inputs)
    source, target = kinds["cross"][0].shape[-1], kinds["cross"][0].shape[-2]
    whole = torch.eye(source + target, dtype=torch.float64).expand(2, -1, -1)
    for weights in kinds["encoder"]:
        step = torch.eye(source + target, dtype=torch.float64).repeat(2, 1, 1)
        step[:, :source, :source] = mixed(weights)
        whole = step @ whole
    for own, cross in zip(kinds["decoder"], kinds["cross"], strict=True):
        step = torch.eye(source + target, dtype=torch.float64).repeat(2, 1, 1)
        step[:, source:, source:] = mixed(own)
        whole = step @ whole
        step = torch.eye(source + target, dtype=torch.float64).repeat(2, 1, 1)
        step[:, source:] *= 0.5
        step[:, source:, :source] = cross.detach().double().mean(1) / 2
        whole = step @ whole
    assert found.to == (2, target - 1)
    wanted = whole[[0, 1], [source + 2, source + target - 1]]
    assert (found["encoder"] - wanted[:, :source]).abs().max() < NEAR
    assert (found["decoder"] - wanted[:, source:]).abs().max() < NEAR


def test_the_encoder_of_a_translator_can_be_asked_alone():
    model, inputs = drawn(TWO_SIDED[0]), inputs_of(TWO_SIDED[0], "right")
    with torch.no_grad(), watch(model) as seen:
        model.get_encoder()(inputs["input_ids"], inputs["attention_mask"])
    found = seen.rollout(to=1, side="encoder")
    first, second = (mixed(each) for each in told(model, inputs)[1]["encoder"])
    assert (found["encoder"] - (second @ first)[:, 1]).abs().max() < NEAR
    with pytest.raises(CannotError, match=r"decoder.0.self is in the model and was not heard"):
        seen.rollout()


@pytest.mark.parametrize("published", [ONE_SIDED[5], TWO_SIDED[0], TWO_SIDED[2]], ids=str)
def test_rollout_of_a_generation_with_beams_is_that_of_what_was_returned(published):
    model, inputs = drawn(published), inputs_of(published, "left")
    inputs.pop("decoder_input_ids", None)
    settings = {"max_new_tokens": 5, "num_beams": 3, "num_return_sequences": 2, "do_sample": False}
    with torch.no_grad(), watch(model) as seen:
        found = model.generate(**inputs, **settings)
    flow = seen.rollout(to=-1)
    twice = {name: x.repeat_interleave(2, 0) for name, x in inputs.items()}
    for row in range(4):
        one = {name: x[row : row + 1] for name, x in twice.items()}
        stop = flow.to[row] + 1
        if published.reads_two:
            one["decoder_input_ids"] = found[row : row + 1, :stop]
        else:
            starts = 9 - int(one["attention_mask"].sum())
            one = {"input_ids": found[row : row + 1, starts:stop]}
        with torch.no_grad(), watch(model) as again:
            model(**one)
        wanted = again.rollout(to=-1)
        for side in flow.sides:
            had = flow[side][row]
            had = had[len(had) - wanted[side].shape[1] :] if not published.reads_two else had
            size = wanted[side].shape[1]
            assert (had[:size] - wanted[side][0]).abs().max() < NEAR
            assert had[size:].abs().sum() == 0


def rolled(gradient, weights):
    return (gradient.double() * weights.detach().double()).clamp(min=0).mean(1)


def identity(size):
    return torch.eye(size, dtype=torch.float64).repeat(2, 1, 1)


def made_whole(matrix):
    """Chefer et al., eq. 8 and 9."""
    added = matrix - identity(matrix.shape[1])
    sums = added.sum(-1, keepdim=True)
    return torch.where(sums > 0, added / sums, 0.0) + identity(matrix.shape[1])


def graded(model, inputs):
    """The number, and of every attention what the number's gradient makes of it."""
    value, kinds = told(model, inputs)
    flat = [weights for layers in kinds.values() for weights in layers]
    gradients = iter(torch.autograd.grad(value, flat, allow_unused=True))
    return value.item(), {
        kind: [
            torch.zeros(weights[:, 0].shape, dtype=torch.float64)
            if (gradient := next(gradients)) is None
            else rolled(gradient, weights)
            for weights in layers
        ]
        for kind, layers in kinds.items()
    }


@pytest.mark.parametrize("padding", ["right", "left"])
@pytest.mark.parametrize("published", ONE_SIDED, ids=str)
def test_relevance_is_a_row_of_what_all_layers_add_up_to(published, padding):
    model, inputs = drawn(published), inputs_of(published, padding)
    found = relevance(model, lambda: number(model(**inputs)), to=[4, 3])
    value, kinds = graded(model, inputs)
    whole = identity(kinds["encoder"][0].shape[1])
    for weights in kinds["encoder"]:
        whole = whole + weights @ whole
    (side,) = found.sides
    assert abs(found.value - value) < NEAR * max(abs(value), 1.0)
    wanted = whole[[0, 1], [4, 3]]
    assert (found[side] - wanted).abs().max() < NEAR * max(float(wanted.max()), 1.0)
    assert (wanted > 0).sum() > 2


@pytest.mark.parametrize("published", TWO_SIDED, ids=str)
def test_relevance_of_a_translator_is_what_the_paper_says(published):
    model, inputs = drawn(published), inputs_of(published, "right")
    found = relevance(model, lambda: number(model(**inputs)), to=[4, 3])
    _, kinds = graded(model, inputs)
    of_source = identity(kinds["encoder"][0].shape[1])
    for weights in kinds["encoder"]:
        of_source = of_source + weights @ of_source
    target, source = kinds["cross"][0].shape[1:]
    own, read = identity(target), torch.zeros(2, target, source, dtype=torch.float64)
    for weights, cross in zip(kinds["decoder"], kinds["cross"], strict=True):
        own, read = own + weights @ own, read + weights @ read
        read = read + made_whole(own).mT @ cross @ made_whole(of_source)
    places = ([0, 1], [4, 3])
    assert (found["decoder"] - own[places]).abs().max() < NEAR * float(own[places].max())
    assert (found["encoder"] - read[places]).abs().max() < 4 * NEAR * float(read[places].max())
    assert read[places].max() > 1e-6


def test_relevance_does_not_need_weights_that_learn_and_leaves_no_gradient_behind():
    model, inputs = drawn(ONE_SIDED[0]), inputs_of(ONE_SIDED[0], "right")
    wanted = relevance(model, lambda: number(model(**inputs)), to=0)["encoder"]
    assert all(weight.grad is None for weight in model.parameters())
    model.requires_grad_(False)
    found = relevance(model, lambda: number(model(**inputs)), to=0)["encoder"]
    assert torch.equal(found, wanted)
    with torch.no_grad(), watch(model) as seen:
        again = seen.relevance(lambda: number(model(**inputs)), to=0)["encoder"]
    assert torch.equal(again, wanted)
    assert not seen.keeper.runs


@pytest.mark.parametrize("name", [*tiny.ENCODERS, *tiny.DECODERS, *tiny.TRANSLATORS])
def test_our_own_models_flow_too(name):
    """Every kind of them; that the numbers are right, the models of transformers have shown."""
    architectures = tiny.ENCODERS | tiny.DECODERS | tiny.TRANSLATORS
    network = tiny.made(architectures[name])
    given = (tiny.ids(1, 2, 7),) + ((tiny.ids(2, 2, 5),) if name in tiny.TRANSLATORS else ())
    with torch.no_grad(), watch(network) as seen:
        network(*given)
    for side, shares in seen.rollout().sides.items():
        assert shares.shape == (2, 5 if side == "decoder" and len(given) == 2 else 7)
    assert abs(sum(float(each.sum()) for each in seen.rollout().sides.values()) - 2) < NEAR

    def last() -> Tensor:
        return network(*given).hidden_BTM[:, -1, 0].sum()

    found = seen.relevance(last)
    assert set(found.sides) == set(seen.rollout().sides)
    assert all((shares >= 0).all() and shares.sum() > 0 for shares in found.sides.values())


SMALL = [case for case, made in ATTENTIONS.items() if 0 < made.queries * made.keys < 1000]


@pytest.mark.parametrize("case", SMALL)
def test_products_are_those_with_the_whole_matrix(case, monkeypatch):
    """In tiles of a few pairs, with grouped heads, gaps, sinks and whatever else there is."""
    monkeypatch.setattr(sweep, "CPU_LONGEST", 4)
    monkeypatch.setattr(sweep, "LEAST", 1)
    monkeypatch.setattr(sweep, "CPU_PAIRS", 128)
    request = make_request(case)
    source = Source(site="here", request=request)
    look, judged = Look(source), reference.attend(request)
    assert judged.weights_BHTS is not None
    draw = torch.Generator().manual_seed(3)
    batch, heads, queries, keys = source.sizes
    x_BT = torch.rand(batch, queries, generator=draw)
    x_BT[:, 0] = 0.0
    y_BS = torch.rand(batch, keys, generator=draw)
    gradient = torch.randn(judged.values_BHTE.shape, generator=draw)
    v_BHSE = request.v_BGSE.double().repeat_interleave(heads // request.v_BGSE.shape[1], 1)
    weights = judged.weights_BHTS
    whole = (weights * (gradient.double() @ v_BHSE.mT)).clamp(min=0).mean(1)
    # Float32 weights, values and gradients of about 1, added over as many as there are.
    near = 2e-5 * max(queries, keys)
    given = products.given(look, x_BT)
    assert (given - torch.einsum("bt,bhts->bhs", x_BT.double(), weights)).abs().max() < near
    rows = products.through_rows(look, gradient, x_BT)
    assert (rows - torch.einsum("bt,bts->bs", x_BT.double(), whole)).abs().max() < near
    columns = products.through_keys(look, gradient, y_BS)
    assert (columns - torch.einsum("bts,bs->bt", whole, y_BS.double())).abs().max() < near


def test_nothing_shared_out_gives_nothing():
    source = Source(site="here", request=make_request("causal"))
    none = torch.zeros(source.sizes[0], source.sizes[2])
    assert products.given(Look(source), none).abs().sum() == 0


def decoder():
    return tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)


def test_what_cannot_be_followed_is_refused():
    network, ids = decoder(), tiny.ids(1, 2, 9)
    past = network.past()
    with torch.no_grad():
        network(ids[:, :4], past=past)
        with watch(network) as late:
            network(ids[:, 4:], past=past)
        with watch(network, heads=[0, 2]) as some:
            network(ids)
        with watch(network, sites=["decoder.0.self"]) as one:
            network(ids)
        with watch(network) as seen:
            network(ids)
    with pytest.raises(CannotError, match=r"5 queries and 9 keys.*Watch from the first token"):
        late.rollout()
    with pytest.raises(CannotError, match=r"mean of all heads, and only some were watched"):
        some.rollout()
    with pytest.raises(CannotError, match=r"Of decoder.1.self neither queries nor keys were kept"):
        one.rollout()
    with pytest.raises(ConfigError, match=r"no side 'decode' .* Did you mean 'decoder'"):
        seen.rollout(side="decode")
    with pytest.raises(InputError, match=r"no position 9 in example 0.* 0 to 8"):
        seen.rollout(to=9)
    with pytest.raises(InputError, match=r"3 positions were given for 2 examples"):
        seen.rollout(to=[1, 2, 3])
    with pytest.raises(InputError, match=r"no side 'encoder' here.* There is: decoder"):
        seen.rollout()["encoder"]


def test_padding_is_no_position():
    model, inputs = drawn(ONE_SIDED[0]), inputs_of(ONE_SIDED[0], "right")
    with torch.no_grad(), watch(model) as seen:
        model(**inputs)
    with pytest.raises(InputError, match=r"no position 7 in example 1: its tokens stand at 0 to 5"):
        seen.rollout(to=7)


def test_a_layer_without_attention_cannot_be_followed():
    network = decoder()
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 1, 5))
    hybrid = replace(seen, without=("model.layers.3",))
    with pytest.raises(CannotError, match=r"model.layers.3 is no attention of one stack"):
        hybrid.rollout()


def test_targets_that_say_nothing_are_refused():
    network, ids = decoder(), tiny.ids(1, 2, 5)

    def quiet() -> Tensor:
        with torch.no_grad():
            return network(ids).logits_BTV[0, -1, 3]

    def twice() -> Tensor:
        return network(ids).logits_BTV[0, -1, 3] + network(ids).logits_BTV[0, -1, 3]

    with pytest.raises(InputError, match=r"returned 3.0 and not a tensor of one number"):
        relevance(network, lambda: 3.0)
    with pytest.raises(InputError, match=r"returned a tensor of \[2, 5, 23\]"):
        relevance(network, lambda: network(ids).logits_BTV)
    with pytest.raises(CannotError, match=r"has no gradient: .*torch.no_grad"):
        relevance(network, quiet)
    with pytest.raises(CannotError, match=r"ran the model several times"):
        relevance(network, twice)
    model, inputs = drawn(TWO_SIDED[0]), inputs_of(TWO_SIDED[0], "right")
    with pytest.raises(CannotError, match=r"decoder.0.self did not run in the target"):
        relevance(model, lambda: model.get_encoder()(inputs["input_ids"])[0][0, 1, 2])
    elsewhere = torch.ones((), requires_grad=True)
    with pytest.raises(CannotError, match=r"ran the model not at all"):
        relevance(network, lambda: elsewhere * 2)
