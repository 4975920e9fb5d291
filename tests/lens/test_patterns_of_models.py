"""Patterns of watched models: which ids their keys have, whatever way they went in."""

import json

import pytest
import tiny
import torch
from published import BERT, GPT2, LLAMA, SEQ2SEQ, T5, Published
from torch import Tensor
from typer.testing import CliRunner

from clearhead import open_trace, watch
from clearhead.cli.main import app
from clearhead.foundation.errors import CannotError, ConfigError, InputError, ShapeError

DECODER = "decoder, rotary"
TRANSLATOR = next(iter(tiny.TRANSLATORS))


def decoder():
    return tiny.made(tiny.DECODERS[DECODER], dtype=torch.float32)


def translator():
    return tiny.made(tiny.TRANSLATORS[TRANSLATOR], dtype=torch.float32)


def same(found: Tensor | None, wanted: Tensor) -> bool:
    return found is not None and torch.equal(found, wanted)


def test_ids_of_our_models_are_those_they_were_fed():
    ids, source, target = (tiny.ids(seed, 2, length) for seed, length in ((1, 9), (2, 7), (3, 5)))
    network = decoder()
    with torch.no_grad(), watch(network) as seen:
        network(ids)
        network(source)
    assert same(seen.runs[0].ids("decoder.1.self"), ids)
    assert same(seen.ids("decoder.1.self"), source)
    network = translator()
    with torch.no_grad(), watch(network) as seen:
        network(source, target)
    assert same(seen.ids("encoder.0.self"), source)
    assert same(seen.ids("decoder.0.self"), target)
    assert seen.ids("decoder.0.cross") is None
    assert not network.encoder._forward_pre_hooks
    assert not network.decoder._forward_pre_hooks


def test_ids_of_decoding_steps_are_joined_on_both_sides():
    source, target = tiny.ids(2, 2, 7), tiny.ids(3, 2, 6)
    network = translator()
    with torch.no_grad(), watch(network) as seen:
        memory_BSM = network.encoder(source).hidden_BTM
        past = network.past()
        for part in target.split([3, 1, 2], dim=1):
            network.decoder(part, past=past, memory_BSM=memory_BSM)
    assert same(seen.ids("encoder.1.self"), source)
    assert same(seen.ids("decoder.1.self"), target)


def test_what_was_fed_before_watching_began_is_not_known():
    network, ids = decoder(), tiny.ids(1, 1, 9)
    past = network.past()
    with torch.no_grad():
        network(ids[:, :4], past=past)
        with watch(network) as seen:
            network(ids[:, 4:], past=past)
    assert seen.ids("decoder.0.self") is None
    told = seen.patterns()
    assert told.unjudged["decoder.0.self"]["induction"].startswith("the ids of its keys are not")
    assert told[0].scores["previous"] is not None
    assert told[0].scores["induction"] is None


STARTS = {"decoder_start_token_id": 0, "num_decoder_layers": 2, "forced_eos_token_id": None}
WRITERS = [
    Published("GPT2LMHeadModel", "GPT2Config", GPT2),
    Published("LlamaForCausalLM", "LlamaConfig", LLAMA),
    Published("T5ForConditionalGeneration", "T5Config", T5 | STARTS),
    Published("MarianMTModel", "MarianConfig", SEQ2SEQ | STARTS),
]


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("published", WRITERS, ids=str)
def test_ids_of_a_generation_are_those_it_returned(published, beams):
    model = published.draw()
    ids = torch.randint(5, 40, (2, 6), generator=torch.Generator().manual_seed(1))
    settings = {"max_new_tokens": 6, "num_beams": beams, "do_sample": False}
    with watch(model) as seen:
        found = model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
    site = next(site for site in seen.sites if site.startswith("decoder") and "self" in site)
    told, real = seen.ids(site), torch.ones_like(found[:, :-1], dtype=torch.bool)
    for example, query in seen[site].received().left_out:
        real[example, query] = False
    assert told is not None
    assert torch.equal(told[real], found[:, :-1][real])
    if published.reads_two:
        assert same(seen.ids("encoder.0.self"), ids)


def test_ids_of_models_of_transformers_in_one_pass():
    bart = Published("BartForConditionalGeneration", "BartConfig", SEQ2SEQ | STARTS).draw()
    ids = torch.randint(5, 40, (2, 6), generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), watch(bart) as seen:  # what the decoder reads is made of the labels
        bart(input_ids=ids, labels=ids.flip(1))
    assert same(seen.ids("encoder.0.self"), ids)
    started = torch.cat([torch.zeros(2, 1, dtype=torch.long), ids.flip(1)[:, :-1]], 1)
    assert same(seen.ids("decoder.0.self"), started)
    bert = Published("BertModel", "BertConfig", BERT).draw()
    with torch.no_grad(), watch(bert) as seen:
        bert(ids)
        bert(inputs_embeds=bert.get_input_embeddings()(ids))
    assert same(seen.runs[0].ids("encoder.0.self"), ids)
    assert seen.ids("encoder.0.self") is None


def repeated(length: int = 9) -> Tensor:
    half = tiny.ids(1, 2, length)
    return torch.cat([half, half], 1)


def test_ids_can_be_given_and_are_what_was_fed():
    network, ids = decoder(), repeated()
    with torch.no_grad(), watch(network) as seen:
        network(ids)
    fed = seen.patterns()
    assert list(fed) == list(seen.patterns(ids=ids))
    assert list(fed) == list(seen.patterns(ids=ids.tolist()))
    others = seen.patterns(ids=torch.arange(36).view(2, 18))
    assert others.unjudged["decoder.0.self"]["induction"].startswith("0 of its queries")
    with pytest.raises(ShapeError, match=r"Ids of \(2, 17\) do not fit decoder.0.self, .* 18 keys"):
        seen.patterns(ids=ids[:, 1:])
    with pytest.raises(ConfigError, match=r"no side 'encodr' to give ids for. Did you mean 'enc"):
        seen.patterns(ids={"encodr": ids})


def test_ids_of_a_model_with_two_sides_are_given_by_side():
    network, source, target = translator(), repeated(5), repeated(4)
    with torch.no_grad(), watch(network) as seen:
        network(source, target)
    fed = seen.patterns()
    assert list(fed) == list(seen.patterns(ids={"encoder": source, "decoder": target}))
    assert list(fed) == list(seen.patterns(ids={"encoder": source}))
    with pytest.raises(
        ConfigError, match=r"given once and this model has two sides: give ids=\{'e"
    ):
        seen.patterns(ids=source)
    cross = fed.unjudged["decoder.0.cross"]
    assert set(cross) == {"previous", "next", "self", "local", "induction", "duplicate"}
    assert cross["induction"].startswith("in cross-attention a query and a key stand in")
    assert fed.of("decoder.0.cross")[0].scores["diagonal"] is not None
    assert fed.of("encoder.0.self")[0].scores["induction"] is not None


def test_heads_keep_their_numbers_and_sites_can_be_chosen():
    network, ids = decoder(), repeated()
    with torch.no_grad(), watch(network) as whole, watch(network, heads=[3, 1]) as some:
        network(ids)
    with torch.no_grad(), watch(network, sites=["decoder.1.self"]) as one:
        network(ids)
    by_head = {(head.site, head.head): head for head in whole.patterns()}
    assert [head.head for head in some.patterns().of("decoder.0.self")] == [3, 1]
    for head in [*some.patterns(), *one.patterns(), *whole.patterns(sites=["decoder.0.self"])]:
        wanted = by_head[head.site, head.head]
        assert head.name == wanted.name
        assert head.scores == pytest.approx(wanted.scores, abs=1e-5)
    assert {head.site for head in one.patterns()} == {"decoder.1.self"}
    assert len(whole.patterns(sites=[], ids=ids)) == 0
    with pytest.raises(InputError, match=r"no attention 'decoder.0.sell'. Did you mean 'decoder"):
        whole.patterns(sites=["decoder.0.sell"])
    with pytest.raises(CannotError, match=r"decoder.0.self neither queries nor keys were kept"):
        one.patterns(sites=["decoder.0.self"])


def test_patterns_need_queries_and_keys():
    network = decoder()
    with torch.no_grad(), watch(network, keep="summaries") as seen:
        network(repeated())
    message = "Of decoder.0.self only statistics were kept.* Watch with keep='exact'"
    with pytest.raises(CannotError, match=message):
        seen.patterns()


def test_a_trace_and_the_terminal_say_what_heads_are_called(tmp_path):
    network = decoder()
    with torch.no_grad(), watch(network) as seen:
        network(repeated())
    seen.save(tmp_path / "run.trace")
    told = seen.patterns().of("decoder.1.self")
    facts = open_trace(tmp_path / "run.trace").about["sites"]["decoder.1.self"]
    assert facts["names"] == [[head.name, head.score] for head in told]
    assert facts["scores"]["induction"] == [head.scores["induction"] for head in told]
    assert facts["scores"]["diagonal"] == [None] * 4
    assert facts["unjudged"]["diagonal"].startswith("only in cross-attention")
    ran = CliRunner().invoke(app, ["see", str(tmp_path / "run.trace"), "--json"])
    heads = json.loads(ran.stdout)["heads"]
    assert [head["name"] for head in heads[4:]] == [head.name for head in told]
