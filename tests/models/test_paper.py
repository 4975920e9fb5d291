"""The paper's two models, by the numbers of its table 3."""

import pytest
import torch

from clearhead.attention.positions import Sinusoidal
from clearhead.foundation.errors import ConfigError
from clearhead.models import build
from clearhead.models.formulas import parameters
from clearhead.models.paper import NAMED, transformer, transformer_base, transformer_big


def by_the_paper(vocabulary: int, width: int, inner: int, layers: int) -> int:
    """Weights, biases and norms of section 3, counted by hand; one table of words for all."""
    attention = 4 * (width * width + width)
    feed_forward = width * inner + inner + inner * width + width
    norm = 2 * width
    encoder = attention + feed_forward + 2 * norm
    decoder = 2 * attention + feed_forward + 3 * norm
    return vocabulary * width + layers * (encoder + decoder)


@pytest.mark.parametrize(
    ("made", "width", "inner", "heads", "millions"),
    [(transformer_base, 512, 2048, 8, 63), (transformer_big, 1024, 4096, 16, 214)],
)
def test_a_model_of_the_paper_has_its_sizes(made, width, inner, heads, millions):
    spec = made(37_000)
    with torch.device("meta"):
        network = build(spec)
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == parameters(spec) == by_the_paper(37_000, width, inner, 6)
    assert round(count / 1e6) == millions
    for side in (spec.encoder, spec.decoder):
        layer = side.stack.layer
        assert (side.stack.width, side.stack.layers) == (width, 6)
        assert (layer.heads.heads, layer.heads.head_width) == (heads, 64)
        assert (layer.feed_forward.width, layer.feed_forward.activation) == (inner, "relu")
        assert layer.norm_place == "after"
        assert side.input.scale == width**0.5
        assert side.input.positions == Sinusoidal()


def test_both_are_known_by_name():
    assert NAMED["transformer-base"]() == transformer_base(37_000)
    assert NAMED["transformer-big"]() == transformer_big(37_000)


def test_dropout_is_where_the_paper_has_it():
    """On what each half adds and on the sums of embeddings and positions (section 5.4)."""
    for spec, share in ((transformer_base(), 0.1), (transformer_big(), 0.3)):
        for side in (spec.encoder, spec.decoder):
            assert side.input.dropout == side.stack.layer.dropout == share
            assert side.stack.layer.attention_dropout == side.stack.layer.middle_dropout == 0.0


def test_a_width_that_does_not_divide_is_refused():
    with pytest.raises(
        ConfigError, match=r"width of 30 cannot be cut into 4 heads: give a multiple of 4"
    ):
        transformer(10, width=30, heads=4, layers=1, dropout=0.0)
