"""Families whose attention cannot be overheard are refused by name, from a list that is true."""

import re
from pathlib import Path

import pytest
import torch
import transformers
from published import Published
from torch import nn

from clearhead import watch
from clearhead.foundation.errors import CannotError
from clearhead.lens.watching.foreign_sites import OUTSIDE, TABLE

FOLDERS = Path(transformers.__file__).parent / "models"
SMALL = {"vocab_size": 40, "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2}
NARROW = {"n_embd": 16, "n_head": 4, "n_layer": 2, "rotary_dim": 4}
REFUSED = [
    Published("FalconForCausalLM", "FalconConfig", SMALL),
    Published("BloomForCausalLM", "BloomConfig", SMALL | {"n_head": 4, "n_layer": 2}),
    Published("MptForCausalLM", "MptConfig", {"d_model": 16, "n_heads": 4, "n_layers": 2}),
    Published("GPTJForCausalLM", "GPTJConfig", NARROW),
    Published("DebertaModel", "DebertaConfig", SMALL),
    Published("DebertaV2Model", "DebertaV2Config", SMALL),
    Published("LongformerModel", "LongformerConfig", SMALL | {"attention_window": [4, 4]}),
    Published("XLNetModel", "XLNetConfig", {"d_model": 16, "n_head": 4, "n_layer": 2}),
]


@pytest.mark.parametrize("published", REFUSED, ids=str)
def test_a_family_past_the_table_is_refused_by_name(published):
    config = getattr(transformers, published.config)(**published.settings)
    model = getattr(transformers, published.model)(config)
    with (
        pytest.raises(CannotError, match=rf"^{published.model} does not take its attention from"),
        watch(model),
    ):
        pass


def test_every_family_on_the_list_really_asks_no_table():
    for family in OUTSIDE:
        folder = FOLDERS / {"openai-gpt": "openai"}.get(family, family.replace("-", "_"))
        sources = list(folder.glob("modeling_*.py"))
        assert sources, f"transformers has no family {family!r} any more: take it off the list"
        for source in sources:
            assert TABLE not in source.read_text(), f"{family} can be watched now"


def test_the_list_is_about_a_quarter_of_all_that_attend():
    """A family that leaves the table is refused too, listed or not: it has no attention to find."""
    attend = asked = 0
    for source in FOLDERS.glob("*/modeling_*.py"):
        text = source.read_text()
        attend += bool(re.search(r"softmax\(|scaled_dot_product_attention", text))
        asked += TABLE in text
    assert asked > attend / 2


def test_layers_without_attention_are_listed():
    class Mixer(nn.Module):
        def forward(self, x, **_):
            return x

    config = transformers.LlamaConfig(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.mixer = Mixer()

        def forward(self, hidden_states, **kwargs):
            return self.mixer(hidden_states)

    model.model.layers[1] = Layer()
    with torch.no_grad(), watch(model) as seen:
        model(torch.arange(6)[None])
    assert list(seen.sites) == ["decoder.0.self", "decoder.2.self"]
    assert seen.without == ("model.layers.1",)
    with pytest.raises(CannotError, match=r"^model.layers.1 is no attention of one stack"):
        seen.rollout()
