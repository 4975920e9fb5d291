"""How long what heads take is, against the projection applied vector by vector in float64."""

from dataclasses import replace

import pytest
import tiny
import torch
from seen_families import EAGER_ALONE, ONE_SIDED, TWO_SIDED, inputs_of
from torch import Tensor, nn

from clearhead import watch
from clearhead.foundation.errors import CannotError, InputError
from clearhead.lens import Look
from clearhead.lens.questions import norms

# Where each family keeps the projection behind attention, from the module that attends.
THEIRS = {
    "BertModel": ("..output.dense", 4),
    "DistilBertModel": ("out_lin", 4),
    "ElectraModel": ("..output.dense", 4),
    "ViTModel": ("o_proj", 4),
    "GPT2LMHeadModel": ("c_proj", 4),
    "LlamaForCausalLM": ("o_proj", 4),
    "MistralForCausalLM": ("o_proj", 4),
    "Qwen3ForCausalLM": ("o_proj", 4),
    "OPTForCausalLM": ("out_proj", 4),
    "GPTNeoXForCausalLM": ("dense", 4),
    "Gemma2ForCausalLM": ("o_proj", 4),
    "GptOssForCausalLM": ("o_proj", 4),
    "MarianMTModel": ("out_proj", 2),
    "BartForConditionalGeneration": ("out_proj", 2),
    "T5ForConditionalGeneration": ("o", 4),
    "WhisperForConditionalGeneration": ("out_proj", 2),
}


def behind(model: nn.Module, attends: nn.Module, place: str) -> nn.Module:
    path = next(path for path, part in model.named_modules() if part is attends)
    while place.startswith(".."):
        path, place = path.rpartition(".")[0], place[2:]
    return model.get_submodule(f"{path}.{place}")


def vectors(projection: nn.Module, v_BGSE: Tensor, heads: int) -> Tensor:
    """What each head alone would hand on for each key, [batch, head, key, model]."""
    wide, (batch, groups, keys, width) = projection.double(), v_BGSE.shape
    zero = wide(torch.zeros(heads * width, dtype=torch.float64))
    found = []
    for head in range(heads):
        given = torch.zeros(batch, keys, heads * width, dtype=torch.float64)
        given[..., head * width : (head + 1) * width] = v_BGSE[:, head * groups // heads]
        found.append(wide(given) - zero)
    return torch.stack(found, 1).detach()


def near(found: Tensor, wanted: Tensor) -> None:
    """Float32: products of some twenty numbers."""
    assert found.shape == wanted.shape
    assert (found - wanted).abs().max() < 1e-5 * max(float(wanted.max()), 1.0)


@pytest.mark.parametrize("published", [*ONE_SIDED, *TWO_SIDED], ids=str)
def test_lengths_are_of_weighted_vectors_behind_the_projection(published, monkeypatch):
    monkeypatch.setattr(norms, "AT_ONCE", 500)
    model, inputs = published.draw(), inputs_of(published, "left")
    alone = published.model in EAGER_ALONE
    model.set_attn_implementation("eager" if alone else "sdpa")
    with torch.no_grad(), watch(model) as seen:
        model(**inputs)
    place, heads = THEIRS[published.model]
    site = list(seen.sites)[-1]
    found, source = seen[site].norms(), seen.source(site)
    taken = vectors(behind(model, seen.modules[site], place), source.request.v_BGSE, heads)
    near(found.vectors_BHS, taken.norm(dim=-1))
    weights = seen[site].weights().values.double()
    rows, columns = slice(1, 4), slice(2, 5)
    cells = weights[:, :, rows, columns, None] * taken[:, :, None, columns]
    near(found.weights(rows, columns, heads=[1, 0]).values, cells.norm(dim=-1)[:, [1, 0]])
    near(found.together(rows, columns).values, cells.sum(1).norm(dim=-1))
    received = seen[site].received().values * taken.norm(dim=-1)
    near(found.received().values, received)
    assert found.together().axes == ("batch", "query", "key")


@pytest.mark.parametrize("name", ["decoder, rotary", *tiny.TRANSLATORS])
def test_our_own_models_have_lengths_of_chosen_heads_too(name):
    network = tiny.made((tiny.DECODERS | tiny.TRANSLATORS)[name], dtype=torch.float32)
    given = (tiny.ids(1, 2, 7),) + ((tiny.ids(2, 2, 5),) if name in tiny.TRANSLATORS else ())
    with torch.no_grad(), watch(network) as seen:
        network(*given)
    with torch.no_grad(), watch(network, heads=[3, 1]) as some:
        network(*given)
    for site in seen.sites:
        whole = seen[site].norms().vectors_BHS
        request = seen.source(site).request
        width, count = request.v_BGSE.shape[-1], request.q_BHTD.shape[1]
        weight = seen.modules[site].output.weight.detach()
        for head in range(count):
            part = weight[:, head * width : (head + 1) * width]
            v_BSE = request.v_BGSE[:, head * request.v_BGSE.shape[1] // count]
            near(whole[:, head], (v_BSE @ part.T).norm(dim=-1).double())
        near(some[site].norms().vectors_BHS, whole[:, [3, 1]].double())


def test_lengths_need_a_model_and_values():
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 1, 5))
    with torch.no_grad(), watch(network, keep="summaries") as summed:
        network(tiny.ids(1, 1, 5))
    with pytest.raises(CannotError, match=r"projection of decoder.0.self is not known here"):
        Look(seen.source("decoder.0.self")).norms()
    with pytest.raises(CannotError, match=r"alone, so norms cannot be answered"):
        summed["decoder.0.self"].norms()
    with pytest.raises(InputError, match=r"no head 7: give numbers from 0 to 3"):
        seen["decoder.0.self"].norms().weights(heads=7)


def test_the_projection_goes_where_the_values_were_kept():
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 1, 5))
    look = seen["decoder.0.self"]
    request = look.source.request
    elsewhere = replace(request, q_BHTD=request.q_BHTD.to("meta"), v_BGSE=request.v_BGSE.to("meta"))
    moved = replace(look, source=replace(look.source, request=elsewhere)).norms()
    assert moved.projection_HEM.device == moved.source.device == torch.device("meta")
    assert moved.vectors_BHS.shape == (1, 4, 5)


def test_a_projection_nobody_knows_is_refused():
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)
    network.stack.blocks[0].attention.output = nn.Sequential(
        network.stack.blocks[0].attention.output
    )
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 1, 5))
    with pytest.raises(CannotError, match=r"SelfAttention has no output projection that is known"):
        seen["decoder.0.self"].norms().received()
