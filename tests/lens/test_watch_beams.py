"""Statistics follow what `generate` returned, as queries and keys do that were kept whole."""

import pytest
import torch
from published import LLAMA, SEQ2SEQ, T5, Published
from seen_families import STARTS, inputs_of

from clearhead import watch
from clearhead.foundation.errors import CannotError

MISTRAL = LLAMA | {"sliding_window": 3}
WRITERS = [
    Published("LlamaForCausalLM", "LlamaConfig", LLAMA),
    Published("MistralForCausalLM", "MistralConfig", MISTRAL, "with a window"),
    Published("T5ForConditionalGeneration", "T5Config", T5 | STARTS),
    Published("MarianMTModel", "MarianConfig", SEQ2SEQ | STARTS),
]
NUMBERS = ("received", "entropy", "peak", "distance", "sink", "top")
ENDS = list(range(0, 40, 3))  # every third token ends a text, so that some end early


def generated(published, beams, **settings):
    """The same generation, watched with everything and with statistics alone."""
    model, inputs = published.draw(), inputs_of(published, "left")
    inputs.pop("decoder_input_ids", None)
    asked = {"max_new_tokens": 6, "num_beams": beams, "do_sample": False, "pad_token_id": 1}
    found = []
    for keep in ({"keep": "exact"}, {"keep": NUMBERS, "top": 2}):
        with watch(model, **keep) as seen:
            model.generate(**inputs, **asked, **settings)
        found.append(seen)
    return found


def real_queries(look):
    real_BT = torch.ones(look.shape[0], look.shape[2], dtype=torch.bool)
    for example, query in look.entropy().left_out:
        real_BT[example, query] = False
    return real_BT[:, None]


def same(found, wanted):
    """Numbers of some twenty keys in float32; a distance is up to twenty times as large."""
    for site in wanted.sites:
        look, exact = found[site], wanted[site]
        assert look.shape == exact.shape, site
        assert look.entropy().left_out == exact.entropy().left_out, site
        real = real_queries(exact)
        pairs = [
            (getattr(look, name)().values, getattr(exact, name)().values)
            for name in ("entropy", "peak", "sink")
        ]
        if not site.endswith("cross"):
            near, far = look.distance(), exact.distance()
            pairs.append((near.signed_BHT, far.signed_BHT))
            pairs.append((near.absolute_BHT, far.absolute_BHT))
        strongest, wished = look.top(2), exact.top(2)
        pairs.append((strongest.mass_left_out, wished.mass_left_out))
        for one, other in pairs:
            assert ((one - other) * real).abs().max() < 2e-5, site
        off = strongest.keys_BHTk != wished.keys_BHTk
        assert not (off & real[..., None]).any(), site
        assert (look.received().values - exact.received().values).abs().max() < 2e-5, site


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("published", WRITERS, ids=str)
def test_statistics_of_a_generation_are_those_of_what_it_returned(published, beams):
    exact, summed = generated(published, beams)
    same(summed, exact)


@pytest.mark.parametrize("published", WRITERS, ids=str)
def test_queries_behind_the_end_of_a_hypothesis_are_left_out(published):
    exact, summed = generated(published, 3, num_return_sequences=3, eos_token_id=ENDS)
    site = list(exact.sites)[-1]
    ended = {query for _, query in exact[site].entropy().left_out if query > 0}
    assert ended & set(range(exact[site].shape[2] - 2, exact[site].shape[2]))
    same(summed, exact)


def test_what_steps_cannot_tell_of_the_whole_is_refused():
    _, summed = generated(WRITERS[2], 3)
    with pytest.raises(CannotError, match="so the distance in cross-attention over several dec"):
        summed["decoder.0.cross"].distance()
    model, inputs = WRITERS[0].draw(), inputs_of(WRITERS[0], "left")
    with watch(model, keep="summaries") as seen:
        model.generate(**inputs, max_new_tokens=3, num_beams=3, do_sample=False, pad_token_id=1)
    with pytest.raises(CannotError, match="so a map of a region, or of several decoding steps,"):
        seen["decoder.0.self"].map()


def test_a_map_of_the_only_step_is_that_of_the_returned_rows():
    model, inputs = WRITERS[0].draw(), inputs_of(WRITERS[0], "left")
    settings = {"max_new_tokens": 1, "num_beams": 3, "do_sample": False, "pad_token_id": 1}
    maps = []
    for keep in ("exact", "summaries"):
        with watch(model, keep=keep) as seen:
            model.generate(**inputs, **settings)
        maps.append(seen["decoder.1.self"].map(size=128))
    exact, summed = maps
    assert summed.mean_BHRC.shape == exact.mean_BHRC.shape
    assert (summed.mean_BHRC - exact.mean_BHRC).abs().max() < 1e-6
    assert torch.equal(summed.count_BRC, exact.count_BRC)
