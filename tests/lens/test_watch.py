"""Watching our own models: what is heard and kept, what is refused, and that nothing stays."""

import subprocess
import sys
import threading
from dataclasses import replace

import pytest
import tiny
import torch
from project import PACKAGE, ROOT
from published import LLAMA, Published
from torch import nn

from clearhead import watch
from clearhead.attention import reference, watching
from clearhead.attention.announce import HEARD_HERE, WATCHERS
from clearhead.attention.kernels.flex import has_compiler
from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.lens.watching import keeper

DEEP = {**tiny.ENCODERS, **tiny.DECODERS}


def network_of(name: str) -> nn.Module:
    return tiny.made({**DEEP, **tiny.TRANSLATORS}[name], dtype=torch.float32)


def run(network: nn.Module, length: int = 7) -> object:
    given = (tiny.ids(1, 2, length),)
    if "EncoderDecoder" in type(network).__name__:
        given = (*given, tiny.ids(2, 2, length - 2))
        return network(*given, source_lengths_B=torch.tensor([length, 4]))
    return network(*given, lengths_B=torch.tensor([length, 4]))


def heard_in(network: nn.Module) -> dict[str, torch.Tensor]:
    """By site, the weights of what was announced, by the definition."""
    told = {}
    with torch.no_grad(), watching(lambda each: told.update({each.site: each.request})):
        run(network)
    return {site: reference.attend(request).weights_BHTS for site, request in told.items()}


@pytest.mark.parametrize("name", [*DEEP, *tiny.TRANSLATORS])
def test_our_models_are_seen_as_they_attend(name):
    network = network_of(name)
    wanted = heard_in(network)
    with torch.no_grad():
        before = run(network)
        with watch(network) as seen:
            during = run(network)
    assert torch.equal(before.hidden_BTM, during.hidden_BTM)
    assert list(seen.sites) == list(wanted)
    for site, weights in wanted.items():
        assert (seen[site].weights().values - weights).abs().max() < 1e-6
        if site.endswith("self") and seen[site].shape[2] == 7:
            assert seen[site].entropy().left_out == ((1, 4), (1, 5), (1, 6))


@pytest.mark.parametrize("name", tiny.DECODERS)
@pytest.mark.parametrize("steps", [(5, 1, 1, 1), (1, 1, 4, 2)])
@pytest.mark.parametrize("keep", ["exact", "summaries"])
def test_decoding_is_one_picture_with_every_cache(name, steps, keep):
    network, ids = network_of(name), tiny.ids(1, 2, sum(steps))
    asked = keep if keep == "exact" else ["received", "entropy", "peak", "distance", "sink"]
    with torch.no_grad():
        with watch(network) as whole:
            network(ids)
        past, at = network.past(), 0
        with watch(network, keep=asked) as seen:
            for step in steps:
                network(ids[:, at : at + step], past=past)
                at += step
    assert len(seen.runs) == 1
    for site in whole.sites:
        assert seen.sites[site].queries == seen.sites[site].keys == 8
        for question in ("received", "entropy", "peak", "sink"):
            found, wanted = (getattr(each[site], question)() for each in (seen, whole))
            assert (found.values - wanted.values).abs().max() < 1e-5, (site, question)
        signed = seen[site].distance().signed_BHT - whole[site].distance().signed_BHT
        assert signed.abs().max() < 1e-4
        if keep == "exact":
            off = seen[site].weights().values - whole[site].weights().values
            assert off.abs().max() < 1e-5


def test_each_forward_pass_is_a_run_of_its_own():
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network) as seen:
        run(network, 7)
        run(network, 9)
    assert [each.sites["decoder.0.self"].keys for each in seen.runs] == [7, 9]
    assert seen.sites["decoder.0.self"].keys == 9
    assert seen.runs[0]["decoder.0.self"].shape == (2, 4, 7, 7)


def test_a_decoder_that_goes_back_keeps_what_it_kept():
    network, ids = network_of("decoder, rotary"), tiny.ids(1, 1, 8)
    with torch.no_grad():
        with watch(network) as whole:
            network(ids)
        past = network.past()
        with watch(network) as seen:
            network(ids[:, :6], past=past)
            for cache in past.caches:  # two guesses were wrong
                held = cache.held
                cache.held = replace(
                    held, k_BGSD=held.k_BGSD[:, :, :4], v_BGSE=held.v_BGSE[:, :, :4]
                )
            network(ids[:, 4:], past=past)
    found, wanted = (each["decoder.1.self"].weights().values for each in (seen, whole))
    assert (found - wanted).abs().max() < 1e-5


def test_only_the_sites_and_heads_asked_for_are_kept():
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network) as all_of_it:
        run(network)
    with torch.no_grad(), watch(network, sites=["decoder.1.self"], heads=[3, 0]) as seen:
        run(network)
    assert list(seen.sites) == ["decoder.0.self", "decoder.1.self"]
    wanted = all_of_it["decoder.1.self"].weights(heads=[3, 0]).values
    assert torch.allclose(seen["decoder.1.self"].weights().values, wanted, atol=1e-6)
    with pytest.raises(CannotError, match=r"decoder.0.self neither queries nor keys were kept"):
        seen["decoder.0.self"]


def test_heads_of_a_biased_attention_keep_their_bias():
    network = network_of("encoder, alibi, narrow words")
    with torch.no_grad(), watch(network) as all_of_it, watch(network, heads=[2]) as seen:
        run(network)
    wanted = all_of_it["encoder.0.self"].weights(heads=[2]).values
    assert (seen["encoder.0.self"].weights().values - wanted).abs().max() < 1e-6


def test_statistics_alone_answer_and_refuse_the_rest_by_name():
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network, keep=["map", "top", "peak"], top=3) as seen:
        run(network)
        kept = list(seen.keeper.runs[0].sites.values())
    with torch.no_grad(), watch(network) as exact:
        run(network)
    assert not any(each.pieces for each in kept)
    look, wanted = seen["decoder.0.self"], exact["decoder.0.self"]
    assert torch.allclose(look.map().mean_BHRC, wanted.map(size=128).mean_BHRC, atol=1e-6)
    assert torch.equal(look.top(2).keys_BHTk, wanted.top(2).keys_BHTk)
    assert torch.allclose(look.peak().values, wanted.peak().values)
    for question in ("entropy", "received", "weights", "spans"):
        with pytest.raises(CannotError, match=rf"map, peak, top alone, so {question} cannot"):
            getattr(look, question)()
    with pytest.raises(CannotError, match="the top 4, where 3 were kept"):
        look.top(4)
    with pytest.raises(CannotError, match="a map of 5 blocks"):
        look.map(size=5)


def test_watches_nest_and_each_keeps_its_own():
    one, two = network_of("decoder, rotary"), network_of("encoder, nothing")
    with torch.no_grad(), watch(one) as of_one, watch(two) as of_two, watch(one) as again:
        run(one)
        run(two)
    assert list(of_one.sites) == list(again.sites) == ["decoder.0.self", "decoder.1.self"]
    assert list(of_two.sites) == ["encoder.0.self", "encoder.1.self"]


def test_a_model_in_another_thread_is_not_heard():
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network) as seen:
        run(network, 7)
        other = threading.Thread(target=lambda: run(network, 9))
        other.start()
        other.join()
    assert seen.sites["decoder.0.self"].keys == 7
    assert len(seen.runs) == 1


@pytest.mark.parametrize("theirs", [False, True])
def test_an_exception_leaves_the_model_as_it_was(theirs):
    network = network_of("decoder, rotary")
    if theirs:
        network = Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw()
    before = dict(vars(network))
    hooks = len(network._forward_pre_hooks)
    with pytest.raises(RuntimeError, match="on purpose"), watch(network):
        raise RuntimeError("on purpose")
    assert not WATCHERS
    assert not HEARD_HERE.get()
    assert vars(network).keys() == before.keys()
    assert len(network._forward_pre_hooks) == hooks


def test_a_model_that_never_ran_is_said_to_have_been_silent():
    with watch(network_of("encoder, nothing")) as seen:
        pass
    with pytest.raises(CannotError, match="Nothing was seen: the model was not run"):
        assert seen.sites


def test_heads_that_are_not_there_are_refused():
    network = network_of("decoder, rotary")
    with (
        watch(network, heads=[4]),
        pytest.raises(CannotError, match=r"has heads 0 to 3 and heads \[4\] were asked for"),
    ):
        run(network)


def test_what_has_no_attention_of_ours_or_theirs_is_refused():
    with pytest.raises(CannotError, match="Linear is built neither of"), watch(nn.Linear(2, 2)):
        raise AssertionError
    with pytest.raises(ConfigError, match="str is nothing that can be watched"), watch("minilm"):
        raise AssertionError


def test_a_model_on_two_devices_is_refused():
    network = network_of("encoder, nothing")
    network.stack.blocks[1].to("meta")
    with pytest.raises(CannotError, match="weights are on cpu and meta"), watch(network):
        raise AssertionError


def test_a_capture_into_a_cuda_graph_is_refused(monkeypatch):
    monkeypatch.setattr(keeper.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(keeper.torch.cuda, "is_current_stream_capturing", lambda: True)
    network = network_of("encoder, nothing")
    with watch(network), pytest.raises(CannotError, match="captured into a CUDA graph"):
        run(network)


def test_a_gradient_flows_through_a_watched_model_as_through_any():
    network, ids = network_of("decoder, rotary"), tiny.ids(1, 1, 5)
    network(ids).logits_BTV.square().sum().backward()
    wanted = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    with watch(network) as seen:
        network(ids).logits_BTV.square().sum().backward()
    for parameter, grad in zip(network.parameters(), wanted, strict=True):
        assert torch.equal(parameter.grad, grad)
    assert not seen["decoder.0.self"].weights().values.requires_grad


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda look: look.weights(rows=slice(3, 99)), "There are 7 queries, 0 to 6, and 3 to 99"),
        (lambda look: look.weights(columns=slice(5, 5)), "There are 7 keys"),
        (lambda look: look.weights(rows=slice(0, 4, 2)), "in steps of 1"),
        (lambda look: look.weights(heads=[1, 4]), "There is no head 4: give numbers from 0 to 3"),
        (lambda look: look.top(8), "has 7 keys and the top 8 were asked for"),
        (lambda look: look.top(0), "the top 0 were asked for"),
        (lambda look: look.map(size=0), "A map of 0 blocks shows nothing"),
        (lambda look: look.spans({"last": (4, 8)}), r"span 'last' is \(4, 8\).* has 7 keys"),
        (lambda look: look.sink(keys=[7]), "There is no key 7: give numbers from 0 to 6"),
    ],
)
def test_questions_that_cannot_be_answered(ask, message):
    network = network_of("decoder, rotary")
    with torch.no_grad(), watch(network) as seen:
        run(network)
    with pytest.raises(InputError, match=message):
        ask(seen["decoder.0.self"])
    with pytest.raises(InputError, match=r"no attention 'decoder.0.sell'. Did you mean 'decoder.0"):
        seen["decoder.0.sell"]


COMPILED = """
import logging, tiny, torch
from clearhead import watch
network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)
ids = tiny.ids(1, 2, 7)
with torch.no_grad():
    compiled = torch.compile(network)
    before = compiled(ids).logits_BTV
    with watch(compiled) as seen:
        during = compiled(ids).logits_BTV
    after = compiled(ids).logits_BTV
    with watch(network) as plain:
        network(ids)
torch.testing.assert_close(before, during, atol=2e-5, rtol=2e-5)
torch.testing.assert_close(before, after, atol=2e-5, rtol=2e-5)
for site in plain.sites:
    off = seen[site].weights().values - plain[site].weights().values
    assert off.abs().max() < 1e-5, site
"""


@pytest.mark.skipif(not has_compiler(), reason="there is no compiler")
def test_a_compiled_model_of_ours_is_watched_and_says_that_it_compiles_again():
    path = f"import sys; sys.path[:0] = {[str(PACKAGE.parent), str(ROOT / 'tests' / 'support')]}"
    ran = subprocess.run(
        [sys.executable, "-c", path + COMPILED], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "compiles once more now, and again when watching ends" in ran.stderr


@pytest.mark.filterwarnings("ignore:`torch.jit")  # torch's own, when its compiler is loaded
def test_a_compiled_model_of_transformers_is_refused():
    compiled = torch.compile(Published("LlamaForCausalLM", "LlamaConfig", LLAMA).draw())
    message = r"Watch the one .* clearhead.watch\(model._orig_mod\)"
    with pytest.raises(CannotError, match=message), watch(compiled):
        raise AssertionError
