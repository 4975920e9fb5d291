"""What each head changes about a number: against copies of the model that leave it out."""

import logging

import pytest
import tiny
import torch
from projections import columns_of, heads_of, sites_of, without_columns
from published import LLAMA, Published
from torch import nn

from clearhead import ablate, importance, watch
from clearhead.attention.announce import WATCHERS
from clearhead.attention.intervene import CHANGERS
from clearhead.foundation.errors import CannotError, ConfigError, InputError


def network_of(name: str) -> nn.Module:
    return tiny.made((tiny.DECODERS | tiny.TRANSLATORS)[name])


def loss_of(network: nn.Module) -> torch.Tensor:
    """How badly a fixed text is foreseen."""
    ids = tiny.ids(1, 2, 7)
    found = network(ids, tiny.ids(2, 2, 5)) if hasattr(network, "encoder") else network(ids)
    return found.logits_BTV.log_softmax(-1)[..., 3].mean()


@pytest.mark.parametrize("name", ["decoder, rotary", "encoder-decoder, buckets, grouped"])
def test_each_head_is_worth_what_a_copy_without_it_loses(name):
    network = network_of(name)
    found = importance(network, lambda: loss_of(network))
    with torch.no_grad():
        base = loss_of(network).item()
        wanted = {
            (site, head): float(
                loss_of(without_columns(network, columns_of(network, [(site, head)])))
            )
            - base
            for site in sites_of(network)
            for head in range(4)
        }
    assert found.base == base
    assert {(each.site, each.head) for each in found} == set(wanted)
    for head, change in wanted.items():
        assert abs(found[head] - change) < 1e-12
    sizes = [abs(each.change) for each in found.heads]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 1e-4


def test_sites_and_heads_choose_and_settings_are_those_of_switching_off():
    network = network_of("decoder, rotary")
    metric = lambda: loss_of(network)  # noqa: E731 - a metric, as a user writes it
    of_one = importance(network, metric, sites=["decoder.1.self"])
    assert sorted((each.site, each.head) for each in of_one) == [
        ("decoder.1.self", head) for head in range(4)
    ]
    chosen = [("decoder.0.self", 2), ("decoder.1.self", 0)]
    settings = {"by": "mean", "scale": 0.25, "reference": lambda: network(tiny.ids(5, 3, 4))}
    some = importance(network, metric, heads=chosen, **settings)
    for head in chosen:
        with ablate(network, [head], **settings):
            assert some[head] == metric().item() - some.base


def test_a_metric_may_return_a_number_or_a_tensor_of_one():
    network = network_of("decoder, rotary")
    as_number = importance(network, lambda: loss_of(network).item())
    assert importance(network, lambda: loss_of(network)[None]) == as_number


def test_what_is_seen_knows_its_model_and_hears_nothing_of_it():
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 2, 7))
        during = seen.importance(lambda: loss_of(network), sites=["decoder.0.self"])
        network(tiny.ids(1, 2, 5))
    assert during == seen.importance(lambda: loss_of(network), sites=["decoder.0.self"])
    assert during == seen.runs[0].importance(lambda: loss_of(network), sites=["decoder.0.self"])
    assert [run.sites["decoder.0.self"].keys for run in seen.runs] == [7, 5]
    fed = [run.beams.fed for run in seen.keeper.runs]
    assert [[ids.shape[1] for ids in each] for each in fed] == [[7], [5]]


def test_a_search_with_beams_inside_a_metric_moves_nothing_that_was_seen():
    model = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    ids = torch.arange(5, 12)[None]
    settings = {"max_new_tokens": 3, "num_beams": 3, "do_sample": False}

    def metric() -> float:
        return float(model.generate(ids, **settings)[0, -1])

    with watch(model) as seen:
        model.generate(ids, **settings)
        moves = dict(seen.keeper.runs[0].beams.moves)
        returned = seen.keeper.runs[0].returned
        seen.importance(metric, heads=[("decoder.0.self", 1)])
    assert seen.keeper.runs[0].beams.moves == moves
    assert seen.keeper.runs[0].returned is returned
    assert len(seen.runs) == 1


def test_heads_of_transformers_are_counted_by_what_they_ask():
    model = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw().double()
    ids = torch.arange(5, 12)[None]
    found = importance(model, lambda: model(ids).logits.log_softmax(-1)[0, -1, 7])
    assert len(found.heads) == 8  # of 4 query heads a layer; there are 2 key heads
    assert found.heads[0].change != 0


def test_a_change_that_is_no_number_stands_first():
    network = network_of("decoder, rotary")
    calls = iter([1.0, 1.5, float("nan"), -3.0, 1.0])

    def metric() -> float:
        network(tiny.ids(1, 1, 3))
        return next(calls)

    found = importance(network, metric, sites=["decoder.0.self"])
    assert [each.head for each in found] == [1, 2, 0, 3]


def test_an_error_in_the_metric_leaves_the_model_as_it_was():
    network = network_of("decoder, rotary")
    before = loss_of(network)

    def metric() -> torch.Tensor:
        if CHANGERS:
            raise RuntimeError("on purpose")
        return loss_of(network)

    with pytest.raises(RuntimeError, match="on purpose"):
        importance(network, metric)
    assert not CHANGERS
    assert not WATCHERS
    assert torch.equal(loss_of(network), before)


def test_a_model_that_is_training_is_warned_of(caplog):
    network = network_of("decoder, rotary").train()
    logging.getLogger("clearhead").propagate = True
    importance(network, lambda: loss_of(network), heads=[("decoder.0.self", 1)])
    assert "The model is training" in caplog.text


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"heads": [], "sites": []}, ConfigError, "Heads and sites were both given"),
        ({"heads": []}, ConfigError, "No heads were given"),
        ({"sites": []}, InputError, "no head to switch off: the list of sites is empty"),
        ({"sites": ["decoder.9.self"]}, ConfigError, "no attention 'decoder.9.self'"),
        ({"heads": [("decoder.0.self", 4)]}, CannotError, r"heads \[4\] were asked for"),
        ({"by": "meen"}, ConfigError, "by='meen' is no way"),
    ],
)
def test_heads_that_cannot_be_judged(settings, error, message):
    network = network_of("decoder, rotary")
    with pytest.raises(error, match=message):
        importance(network, lambda: loss_of(network), **settings)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda network: None, "returned None and not a number"),
        (lambda network: loss_of(network).expand(2), r"returned a tensor of \[2\] and not a"),
        (lambda network: 1.0, "or the metric ran no attention of this model in this thread"),
    ],
)
def test_metrics_that_cannot_be(metric, message):
    network = network_of("decoder, rotary")
    with pytest.raises(InputError, match=message):
        importance(network, lambda: metric(network))


def test_a_head_that_the_metric_does_not_run_is_refused():
    network = network_of("encoder-decoder, shared words")

    def reads() -> torch.Tensor:
        return network.encoder(tiny.ids(1, 1, 4)).hidden_BTM.sum()

    message = r"does not run decoder.0.cross, .* It runs encoder.0.self, encoder.1.self"
    with pytest.raises(InputError, match=message):
        importance(network, reads, sites=["decoder.0.cross"])
    found = importance(network, reads)
    assert {each.site for each in found} == {"encoder.0.self", "encoder.1.self"}
    with pytest.raises(InputError, match=r"\('decoder.0.cross', 1\) is not among the 8 heads"):
        found["decoder.0.cross", 1]


def test_every_head_has_its_own_way_to_matter():
    network = network_of("decoder, rotary")
    found = importance(network, lambda: loss_of(network), heads=heads_of(network))
    assert len({each.change for each in found}) == len(heads_of(network))
