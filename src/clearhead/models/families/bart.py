"""BART (Lewis et al. 2020): the paper's encoder-decoder, with learned positions and one norm more.

That norm stands before the first block of each side. Marian's folders are named alike, so
`marian.py` uses most of this.
"""

import math
from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
from ...layers import FeedForward, Layer, Logits, Norm, Words
from ..build import Architecture
from ..decoder import Decoder
from ..encoder import Encoder
from ..encoder_decoder import EncoderDecoder
from ..stack import Stack
from .family import THEIR_ACTIVATIONS as THEIRS
from .family import Family, Settings, Weight, activation, joined, only, same, want

CLASSES = ("BartForConditionalGeneration", "BartModel")
SIDES = ("encoder", "decoder")
OFFSET = 2  # rows of the table of positions that nobody uses
NORM = Norm(epsilon=1e-5)  # no setting: torch's default


def read(settings: Settings, name: str) -> EncoderDecoder:
    """What a config.json of BART's describes."""
    only(settings, normalize_before=False, normalize_embedding=True, add_final_layer_norm=False)
    words = Words(
        vocabulary=want(settings, "vocab_size"),
        width=want(settings, "d_model"),
        scale=embedding_scale(settings),
        positions=Learned(length=want(settings, "max_position_embeddings"), offset=OFFSET),
        norm=NORM,
        dropout=settings.get("dropout", 0.1),
    )
    tied = settings.get("tie_word_embeddings", True)
    return EncoderDecoder(
        encoder=Encoder(input=words, stack=stack(settings, "encoder")),
        decoder=Decoder(
            input=words,
            stack=stack(settings, "decoder"),
            output=Logits(vocabulary=words.vocabulary, tied=tied, bias=True)
            if name == "BartForConditionalGeneration"
            else None,
        ),
        shared_words=tied,
    )


def embedding_scale(settings: Settings) -> float:
    """What embeddings are multiplied with."""
    return math.sqrt(want(settings, "d_model")) if settings.get("scale_embedding", False) else 1.0


def stack(settings: Settings, side: str) -> Stack:
    """The stack of one side."""
    width, heads = want(settings, "d_model"), want(settings, f"{side}_attention_heads")
    return Stack(
        width=width,
        layers=want(settings, f"{side}_layers"),
        layer=Layer(
            heads=Heads(heads=heads, key_value_heads=heads, head_width=width // heads),
            feed_forward=FeedForward(
                width=want(settings, f"{side}_ffn_dim"),
                activation=activation(settings.get("activation_function", "gelu")),
            ),
            norm=NORM,
            norm_place="after",
            dropout=settings.get("dropout", 0.1),
            attention_dropout=settings.get("attention_dropout", 0.0),
            middle_dropout=settings.get("activation_dropout", 0.0),
        ),
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, EncoderDecoder)
    positions = architecture.decoder.input.positions
    assert isinstance(positions, Learned)
    return {
        "model_type": "bart",
        "architectures": [name],
        "max_position_embeddings": positions.length,
        **their_settings(architecture),
    }


def their_settings(architecture: EncoderDecoder) -> dict[str, Any]:
    """The settings BART and Marian share."""
    words, layer = architecture.decoder.input, architecture.decoder.stack.layer
    output, tied = architecture.decoder.output, architecture.shared_words
    found = {
        "d_model": words.width,
        "vocab_size": words.vocabulary,
        "scale_embedding": words.scale != 1.0,
        "tie_word_embeddings": output.tied if isinstance(output, Logits) else tied,
        "activation_function": THEIRS[layer.feed_forward.activation],
        "dropout": layer.dropout,
        "attention_dropout": layer.attention_dropout,
        "activation_dropout": layer.middle_dropout,
        "is_encoder_decoder": True,
    }
    for side, stack in _stacks(architecture):
        found[f"{side}_layers"] = stack.layers
        found[f"{side}_attention_heads"] = stack.layer.heads.heads
        found[f"{side}_ffn_dim"] = stack.layer.feed_forward.width
    return found


def _stacks(architecture: EncoderDecoder) -> list[tuple[str, Stack]]:
    return [("encoder", architecture.encoder.stack), ("decoder", architecture.decoder.stack)]


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare BartModel has no prefix."""
    assert isinstance(architecture, EncoderDecoder)
    prefix = "" if name == "BartModel" else "model."
    found = common_weights(architecture, prefix)
    for side in SIDES:
        table = f"{prefix}{side}.embed_positions.weight"
        found.append(Weight(f"{side}.input.positions.weight", (table,)))
        found += same(f"{side}.input.norm", f"{prefix}{side}.layernorm_embedding")
    return found


def common_weights(architecture: EncoderDecoder, prefix: str) -> list[Weight]:
    """The weights BART and Marian share: words, blocks, and scores of words."""
    found = _words(architecture.shared_words, prefix)
    for side, stack in _stacks(architecture):
        for layer in range(stack.layers):
            ours, theirs = f"{side}.stack.blocks.{layer}", f"{prefix}{side}.layers.{layer}"
            found += _block(ours, theirs, stack.width, reads_memory=side == "decoder")
    output = architecture.decoder.output
    if isinstance(output, Logits):
        found.append(Weight("decoder.output.bias", ("final_logits_bias",), row=True))
        if not output.tied:
            found.append(Weight("decoder.output.weight", ("lm_head.weight",)))
    return found


def _words(shared: bool, prefix: str) -> list[Weight]:
    if shared:
        return [Weight("encoder.input.words.weight", (f"{prefix}shared.weight",))]
    return [
        Weight(f"{side}.input.words.weight", (f"{prefix}{side}.embed_tokens.weight",))
        for side in SIDES
    ]


def _block(ours: str, theirs: str, width: int, *, reads_memory: bool) -> list[Weight]:
    found = [
        *_projections(f"{ours}.attention.inputs", f"{theirs}.self_attn", "qkv", width),
        *same(f"{ours}.attention.output", f"{theirs}.self_attn.out_proj"),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.self_attn_layer_norm"),
        *same(f"{ours}.feed_forward.inputs", f"{theirs}.fc1"),
        *same(f"{ours}.feed_forward.output", f"{theirs}.fc2"),
        *same(f"{ours}.feed_forward_residual.norm", f"{theirs}.final_layer_norm"),
    ]
    if reads_memory:
        found += [
            *same(f"{ours}.cross.queries", f"{theirs}.encoder_attn.q_proj"),
            *_projections(f"{ours}.cross.memory", f"{theirs}.encoder_attn", "kv", width),
            *same(f"{ours}.cross.output", f"{theirs}.encoder_attn.out_proj"),
            *same(f"{ours}.cross_residual.norm", f"{theirs}.encoder_attn_layer_norm"),
        ]
    return found


def _projections(ours: str, theirs: str, parts: str, width: int) -> list[Weight]:
    return joined(ours, tuple(f"{theirs}.{part}_proj" for part in parts), (width,) * len(parts))


# Tied tables, as older folders store them a second time.
COPIES = (
    ("lm_head.weight", "encoder.input.words.weight"),
    *(
        (f"{prefix}{side}.embed_tokens.weight", "encoder.input.words.weight")
        for prefix in ("", "model.")
        for side in SIDES
    ),
)

BART = Family(
    name="bart",
    model_types=("bart",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r"(model\.)?shared\.weight", r"(model\.)?(en|de)coder\.version"),
    copies=COPIES,
    # Without tying, older folders still had one table for both sides.
    elsewhere=((r"(en|de)coder\.embed_tokens", "shared"),),
)
