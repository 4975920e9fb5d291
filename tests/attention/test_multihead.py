"""Many heads, against torch's own module and against loops over single numbers."""

import math
from dataclasses import replace

import pytest
import tiny
import torch
from rounding import forward_rounding
from torch import Tensor, nn

from clearhead.attention import (
    Announcement,
    Causal,
    CrossAttention,
    Heads,
    Padding,
    Scene,
    Scores,
    SelfAttention,
    Window,
    reference,
    watching,
)
from clearhead.attention.masks import Everything, Mask, grid
from clearhead.foundation.errors import ConfigError
from clearhead.models import build

WIDTH = tiny.WIDTH
PLAIN = Heads(heads=4, key_value_heads=4, head_width=4)
KINDS = {
    "plain": PLAIN,
    "grouped": replace(PLAIN, key_value_heads=2),
    "one shared head": replace(PLAIN, key_value_heads=1),
    "wide heads without biases": replace(PLAIN, head_width=6, input_bias=False, output_bias=False),
    "scaled": replace(PLAIN, scale=0.9),
    "capped": replace(PLAIN, softcap=0.7),
    "normed": replace(PLAIN, key_value_heads=2, norm_epsilon=0.01),
}
MASKS = {
    "everything": Everything(),
    "causal": Causal(),
    "window and padding": Window(2, 1) & Padding(lengths_B=torch.tensor([5, 2])),
}


def drawn(module: nn.Module) -> nn.Module:
    module.double().eval()
    tiny.redraw(module, seed=0)
    return module


def by_torch(inputs: Tensor, bias: Tensor, output: nn.Linear) -> nn.MultiheadAttention:
    """torch's module with our weights."""
    module = nn.MultiheadAttention(WIDTH, 4, batch_first=True, dtype=torch.float64)
    names = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    weights = (inputs, bias, output.weight, output.bias)
    module.load_state_dict(dict(zip(names, weights, strict=True)))
    return module


@pytest.mark.parametrize("causal", [True, False])
def test_self_attention_is_that_of_torch(causal):
    ours, x = drawn(SelfAttention(WIDTH, PLAIN, site="")), tiny.numbers(1, 2, 6, WIDTH)
    padding = torch.tensor([[False] * 5 + [True], [False] * 3 + [True] * 3])
    forbidden = torch.ones(6, 6).triu(1).bool() if causal else None
    theirs = by_torch(ours.inputs.weight, ours.inputs.bias, ours.output)(
        x, x, x, key_padding_mask=padding, attn_mask=forbidden, need_weights=False
    )[0]
    mask = Padding(lengths_B=torch.tensor([5, 3]))
    tiny.close(ours(x, Scene(mask=Causal() & mask if causal else mask)), theirs)


def test_cross_attention_is_that_of_torch():
    ours = drawn(CrossAttention(WIDTH, PLAIN, site=""))
    x, memory = tiny.numbers(1, 2, 6, WIDTH), tiny.numbers(2, 2, 9, WIDTH)
    inputs = torch.cat([ours.queries.weight, ours.memory.weight])
    bias = torch.cat([ours.queries.bias, ours.memory.bias])
    theirs = by_torch(inputs, bias, ours.output)(
        x,
        memory,
        memory,
        key_padding_mask=torch.arange(9) >= torch.tensor([[9], [4]]),
        need_weights=False,
    )[0]
    mask = Padding(lengths_B=torch.tensor([9, 4]))
    tiny.close(ours(x, ours.remember(memory), mask), theirs)


def heads_of(x_TM: Tensor, linear: nn.Linear, head_width: int) -> list[Tensor]:
    """One projection, a matrix [T, head_width] for every head in it."""
    y = x_TM @ linear.weight.T + (0 if linear.bias is None else linear.bias)
    return list(y.split(head_width, dim=1))


def normed(x: Tensor, norm: nn.RMSNorm | None) -> Tensor:
    if norm is None:
        return x
    size = math.sqrt(sum(float(number) ** 2 for number in x) / len(x) + 0.01)
    return x / size * norm.weight


def weighed(module, q: Tensor, keys: Tensor, seen: Tensor) -> list[float]:
    """The weight of one key after the other, for one query of one head."""
    spec, weights = module.spec, []
    scale = 1 / math.sqrt(spec.head_width) if spec.scale is None else spec.scale
    for s, k in enumerate(keys):
        score = scale * float(normed(q, module.query_norm) @ normed(k, module.key_norm))
        if spec.softcap is not None:
            score = spec.softcap * math.tanh(score / spec.softcap)
        weights.append(math.exp(score) if seen[s] else 0.0)
    total = sum(weights) or 1.0
    return [weight / total for weight in weights]


def in_loops(module, queries: list[Tensor], keys: list[Tensor], values: list[Tensor], allowed):
    """One example, one head, one query, one key at a time."""
    spec, rows = module.spec, []
    for t, seen in enumerate(allowed):
        mixed = []
        for head, of_head in enumerate(queries):
            shared = head * spec.key_value_heads // spec.heads
            weights = weighed(module, of_head[t], keys[shared], seen)
            mixed.append(sum(w * v for w, v in zip(weights, values[shared], strict=True)))
        rows.append(module.output(torch.cat(mixed)))
    return torch.stack(rows)


def pairs(mask: Mask, batch: int, queries: int, keys: int) -> Tensor:
    allowed = grid(mask, batch=batch, queries=queries, keys=keys, device=torch.device("cpu"))
    return allowed.expand(batch, -1, -1)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_self_attention_is_what_loops_make_of_it(kind, mask):
    spec = KINDS[kind]
    module, x = drawn(SelfAttention(WIDTH, spec, site="")), tiny.numbers(1, 2, 5, WIDTH)
    found = module(x, Scene(mask=MASKS[mask]))
    for row, allowed in enumerate(pairs(MASKS[mask], 2, 5, 5)):
        parts = heads_of(x[row], module.inputs, spec.head_width)
        keys_from, values_from = spec.heads, spec.heads + spec.key_value_heads
        wanted = in_loops(
            module, parts[:keys_from], parts[keys_from:values_from], parts[values_from:], allowed
        )
        tiny.close(found[row], wanted)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_cross_attention_is_what_loops_make_of_it(kind):
    spec, mask = KINDS[kind], Padding(lengths_B=torch.tensor([7, 3]))
    module = drawn(CrossAttention(WIDTH, spec, site=""))
    x, memory = tiny.numbers(1, 2, 4, WIDTH), tiny.numbers(2, 2, 7, WIDTH)
    found = module(x, module.remember(memory), mask)
    for row, allowed in enumerate(pairs(mask, 2, 4, 7)):
        queries = heads_of(x[row], module.queries, spec.head_width)
        parts = heads_of(memory[row], module.memory, spec.head_width)
        keys, values = parts[: spec.key_value_heads], parts[spec.key_value_heads :]
        tiny.close(found[row], in_loops(module, queries, keys, values, allowed))


def heard(network: nn.Module, *inputs: Tensor, **named: Tensor) -> list[Announcement]:
    announcements: list[Announcement] = []
    with watching(announcements.append), torch.no_grad():
        network(*inputs, **named)
    return announcements


def test_a_translator_announces_its_sites_in_reading_order():
    network = tiny.made(tiny.TRANSLATORS["encoder-decoder, buckets, grouped"])
    told = heard(network, tiny.ids(1, 2, 5), tiny.ids(2, 2, 4))
    assert [each.site for each in told] == [
        "encoder.0.self",
        "encoder.1.self",
        "decoder.0.self",
        "decoder.0.cross",
        "decoder.1.self",
        "decoder.1.cross",
        "decoder.2.self",
        "decoder.2.cross",
    ]
    assert all(each.module is not None and each.module.site == each.site for each in told)
    blocks = network.decoder.stack.blocks
    assert told[4].module is blocks[1].attention
    assert told[5].module is blocks[1].cross


def test_a_network_alone_announces_its_sites():
    for name in ("encoder, rotary, pooled", "decoder, rotary"):
        side = name.partition(",")[0]
        told = heard(tiny.made(tiny.TEXTS[name]), tiny.ids(1, 2, 5))
        assert [each.site for each in told] == [f"{side}.0.self", f"{side}.1.self"]


@pytest.mark.parametrize("name", tiny.TEXTS)
def test_what_is_announced_reproduces_the_values(name):
    network = tiny.made(tiny.TEXTS[name], dtype=torch.float32)
    lengths = torch.tensor([9, 6])
    if name in tiny.TRANSLATORS:
        texts, named = (tiny.ids(1, 2, 9), tiny.ids(2, 2, 5)), {"source_lengths_B": lengths}
    else:
        texts, named = (tiny.ids(1, 2, 9),), {"lengths_B": lengths}
    for told in heard(network, *texts, **named):
        truth = reference.attend(told.request)
        budget = forward_rounding(told.request)
        assert told.attended.lse_BHT is not None
        assert ((told.attended.values_BHTE - truth.values_BHTE).abs() <= budget.value_BHTE).all()
        sees = truth.lse_BHT.isfinite()  # where nothing is seen it means nothing
        assert ((told.attended.lse_BHT - truth.lse_BHT).abs() <= budget.lse_BHT)[sees].all()


def test_what_is_announced_is_what_goes_on():
    """The output of a block's attention is the announced values, projected."""
    module, x = drawn(SelfAttention(WIDTH, PLAIN, site="here")), tiny.numbers(1, 2, 5, WIDTH)
    told: list[Announcement] = []
    with watching(told.append):
        found = module(x, Scene(mask=Causal()))
    values_BTM = told[0].attended.values_BHTE.transpose(1, 2).reshape(2, 5, WIDTH)
    tiny.close(module.output(values_BTM), found)


def test_scores_are_made_as_the_heads_say():
    spec = replace(PLAIN, scale=0.3, softcap=2.0)
    told: list[Announcement] = []
    with watching(told.append):
        drawn(SelfAttention(WIDTH, spec, site=""))(tiny.numbers(1, 1, 3, WIDTH), Scene())
    assert told[0].request.scores == Scores(scale=0.3, softcap=2.0)


def test_weights_are_dropped_in_training_only():
    layer = replace(tiny.LAYER, attention_dropout=0.4)
    spec = tiny.TRANSLATORS["encoder-decoder, shared words"]
    stack = replace(tiny.PLAIN, layer=layer)
    spec = replace(
        spec,
        encoder=replace(spec.encoder, stack=stack),
        decoder=replace(spec.decoder, stack=stack),
    )
    network, texts = build(spec), (tiny.ids(1, 2, 5), tiny.ids(2, 2, 4))
    assert {told.request.dropout for told in heard(network.train(), *texts)} == {0.4}
    assert {told.request.dropout for told in heard(network.eval(), *texts)} == {0.0}


def test_heads_that_do_not_divide_are_refused_with_those_that_do():
    with pytest.raises(
        ConfigError,
        match=r"6 query heads cannot be shared out over 4 key/value heads: the first must be a "
        r"multiple of the second\. Try 1 or 2 or 3 or 6 key/value heads\.",
    ):
        Heads(heads=6, key_value_heads=4, head_width=4)


@pytest.mark.parametrize("sizes", [(0, 1, 4), (4, 0, 4), (4, 4, 0)])
def test_no_heads_and_no_width_are_refused(sizes):
    heads, shared, width = sizes
    with pytest.raises(ConfigError, match=r"cannot be: each must be 1 or more"):
        Heads(heads=heads, key_value_heads=shared, head_width=width)
