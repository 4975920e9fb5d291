"""Real models, watched: their own eager attention is the judge."""

import pytest
import torch
from fetched import fetched
from transformers import AutoModel, AutoTokenizer, LlamaConfig, LlamaForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from clearhead import load, watch

pytestmark = pytest.mark.weights

NEAR = 2e-5  # float32 through twelve, or thirty, layers of real weights
TEXTS = ["I went to the bank to apply for a loan.", "We fished from the shore."]


def check(seen, weights, real_BT):
    """Every statistic of every head against the matrices of eager attention."""
    for site, matrix in zip(seen.sites, weights, strict=True):
        look, found_BHTS = seen[site], matrix.double() * real_BT[:, None, :, None]
        off = (look.weights().values - found_BHTS) * real_BT[:, None, :, None]
        assert off.abs().max() < NEAR, site
        assert (look.received().values - found_BHTS.sum(2)).abs().max() < 10 * NEAR, site
        entropy = -torch.where(found_BHTS > 0, found_BHTS * found_BHTS.log(), 0.0).sum(-1)
        off = (look.entropy().values - entropy) * real_BT[:, None]
        assert off.abs().max() < 10 * NEAR, site
        off = (look.peak().values - found_BHTS.amax(-1)) * real_BT[:, None]
        assert off.abs().max() < NEAR, site


def test_minilm_of_transformers_stays_as_it_is_and_is_seen():
    folder = fetched("minilm")
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        before = model(**inputs).last_hidden_state
        with watch(model) as seen:
            during = model(**inputs).last_hidden_state
        model.set_attn_implementation("eager")
        weights = model(**inputs, output_attentions=True).attentions
    assert torch.equal(before, during)
    check(seen, weights, inputs["attention_mask"].bool())


def test_our_minilm_is_seen_as_theirs():
    folder = fetched("minilm")
    theirs = AutoModel.from_pretrained(folder, attn_implementation="eager")
    model = load(str(folder), device="cpu")
    ids = torch.tensor([model.vocabulary().encode(TEXTS[0]).ids])
    with torch.no_grad():
        before = model.network(ids).hidden_BTM
        with watch(model) as seen:
            assert torch.equal(before, model.network(ids).hidden_BTM)
        weights = theirs(ids, output_attentions=True).attentions
    check(seen, weights, torch.ones_like(ids, dtype=torch.bool))


def test_smollm2_is_seen_by_ours_and_by_theirs_while_it_writes():
    path = fetched("smollm2")
    model = load(str(path), device="cpu")
    config = LlamaConfig(**load_gguf_checkpoint(str(path))["config"])
    with torch.device("meta"):
        empty = LlamaForCausalLM(config)
    tensors = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=empty)["tensors"]
    theirs = LlamaForCausalLM(config).eval()
    theirs.load_state_dict(tensors, strict=False)
    ids = torch.tensor([model.vocabulary().encode("The capital of France is").ids])
    settings = {"max_new_tokens": 4, "num_beams": 2, "do_sample": False, "pad_token_id": 2}
    with torch.no_grad():
        before = theirs.generate(ids, **settings)
        with watch(theirs) as written:
            found = theirs.generate(ids, **settings)
        with watch(model) as seen:
            model.network(found[:, :-1])
        theirs.set_attn_implementation("eager")
        weights = theirs(found[:, :-1], output_attentions=True).attentions
    assert torch.equal(before, found)
    real_BT = torch.ones_like(found[:, :-1], dtype=torch.bool)
    check(written, weights, real_BT)
    check(seen, weights, real_BT)
