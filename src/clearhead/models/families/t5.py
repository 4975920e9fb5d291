"""T5 (Raffel et al. 2020): norm before, RMS, no bias anywhere, distances in buckets of each stack.

Version 1.0 bends by ReLU and scales what is scored with the embeddings; 1.1 (and Flan) gates by
GELU and has its own matrix for the scores.
"""

from typing import Any

from ...attention import Heads
from ...attention.positions import Buckets
from ...foundation.errors import UnknownModelError
from ...layers import FeedForward, Layer, Logits, Norm, Words
from ..build import Architecture
from ..decoder import Decoder
from ..encoder import Encoder
from ..encoder_decoder import EncoderDecoder
from ..stack import Stack
from .family import THEIR_ACTIVATIONS as THEIRS
from .family import Family, Settings, Weight, activation, first_of, joined, same, want

CLASSES = ("T5ForConditionalGeneration", "T5EncoderModel", "T5Model")
ONLY = ("weight",)  # no bias anywhere


def read(settings: Settings, name: str) -> Encoder | EncoderDecoder:
    """What a config.json of T5's describes."""
    width, layers = want(settings, "d_model"), want(settings, "num_layers")
    dropout = settings.get("dropout_rate", 0.1)
    words = Words(vocabulary=want(settings, "vocab_size"), width=width, dropout=dropout)
    encoder = Encoder(input=words, stack=_stack(settings, layers))
    if name == "T5EncoderModel":
        return encoder
    # Newer configs say tied of all, and tell version 1.1 by the scale.
    first = first_of(settings, "scale_decoder_outputs", "tie_word_embeddings", default=True)
    scale = width**-0.5 if first else 1.0
    decoder = Decoder(
        input=words,
        stack=_stack(settings, first_of(settings, "num_decoder_layers", default=layers)),
        output=Logits(vocabulary=words.vocabulary, tied=first, scale=scale)
        if name == "T5ForConditionalGeneration"
        else None,
    )
    return EncoderDecoder(encoder=encoder, decoder=decoder, shared_words=True)


def _stack(settings: Settings, layers: int) -> Stack:
    heads, dropout = want(settings, "num_heads"), settings.get("dropout_rate", 0.1)
    return Stack(
        width=want(settings, "d_model"),
        layers=layers,
        layer=Layer(
            heads=Heads(
                heads=heads,
                key_value_heads=heads,
                head_width=want(settings, "d_kv"),
                input_bias=False,
                output_bias=False,
                scale=1.0,
            ),
            feed_forward=_feed_forward(settings),
            norm=Norm(form="rms", epsilon=settings.get("layer_norm_epsilon", 1e-6)),
            norm_place="before",
            dropout=dropout,
            attention_dropout=dropout,
            middle_dropout=dropout,
        ),
        positions=Buckets(
            count=settings.get("relative_attention_num_buckets", 32),
            furthest=settings.get("relative_attention_max_distance", 128),
        ),
        final_norm=True,
    )


def _feed_forward(settings: Settings) -> FeedForward:
    """The middle as `feed_forward_proj` names it: relu, gated-gelu, gated-silu."""
    form = settings.get("feed_forward_proj", "relu")
    gate, _, bend = form.rpartition("-")
    if gate not in ("", "gated"):
        raise UnknownModelError(
            f"The feed-forward part {form!r} is not known here. Known: an activation such as "
            "'relu', or one behind 'gated-' such as 'gated-gelu'."
        )
    # What T5 calls a gated gelu has always been the tanh formula.
    bend = "gelu_new" if form == "gated-gelu" else bend
    return FeedForward(
        width=want(settings, "d_ff"), activation=activation(bend), gated=bool(gate), bias=False
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    whole = architecture if isinstance(architecture, EncoderDecoder) else None
    encoder = whole.encoder if whole else architecture
    assert isinstance(encoder, Encoder)
    assert isinstance(encoder.input, Words)
    stack, layer = encoder.stack, encoder.stack.layer
    assert isinstance(stack.positions, Buckets)
    form = THEIRS[layer.feed_forward.activation]
    gated = f"gated-{form.removesuffix('_new')}" if layer.feed_forward.gated else form
    return {
        "model_type": "t5",
        "architectures": [name],
        "d_model": stack.width,
        "d_kv": layer.heads.head_width,
        "d_ff": layer.feed_forward.width,
        "vocab_size": encoder.input.vocabulary,
        "num_layers": stack.layers,
        "num_heads": layer.heads.heads,
        "relative_attention_num_buckets": stack.positions.count,
        "relative_attention_max_distance": stack.positions.furthest,
        "feed_forward_proj": gated,
        "layer_norm_epsilon": layer.norm.epsilon,
        "dropout_rate": layer.dropout,
        "is_encoder_decoder": whole is not None,
        **(_their_decoder(whole.decoder) if whole else {}),
    }


def _their_decoder(decoder: Decoder) -> dict[str, Any]:
    found: dict[str, Any] = {"num_decoder_layers": decoder.stack.layers}
    if isinstance(decoder.output, Logits):
        found["tie_word_embeddings"] = decoder.output.tied
        found["scale_decoder_outputs"] = decoder.output.scale != 1.0
    return found


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights. The buckets of a stack are kept in its first block."""
    if isinstance(architecture, Encoder):
        return same("input.words", "shared", ONLY) + _side("", "encoder", architecture.stack)
    assert isinstance(architecture, EncoderDecoder)
    found = [
        *same("encoder.input.words", "shared", ONLY),
        *_side("encoder.", "encoder", architecture.encoder.stack),
        *_side("decoder.", "decoder", architecture.decoder.stack),
    ]
    output = architecture.decoder.output
    if isinstance(output, Logits) and not output.tied:
        found += same("decoder.output", "lm_head", ONLY)
    return found


def _side(ours: str, theirs: str, stack: Stack) -> list[Weight]:
    buckets = f"{theirs}.block.0.layer.0.SelfAttention.relative_attention_bias"
    found = [
        *same(f"{ours}stack.distances", buckets, ONLY),
        *same(f"{ours}stack.final_norm", f"{theirs}.final_layer_norm", ONLY),
    ]
    for layer in range(stack.layers):
        place = f"{theirs}.block.{layer}.layer"
        found += _block(f"{ours}stack.blocks.{layer}", place, stack.layer, theirs == "decoder")
    return found


def _block(ours: str, theirs: str, layer: Layer, reads_memory: bool) -> list[Weight]:
    attention, cross = f"{theirs}.0.SelfAttention", f"{theirs}.1.EncDecAttention"
    last = f"{theirs}.{2 if reads_memory else 1}"
    rows = layer.heads.heads * layer.heads.head_width
    inputs, memory = (tuple(f"{attention}.{part}" for part in "qkv"), (f"{cross}.k", f"{cross}.v"))
    found = [
        *joined(f"{ours}.attention.inputs", inputs, (rows,) * 3, ONLY),
        *same(f"{ours}.attention.output", f"{attention}.o", ONLY),
        *same(f"{ours}.attention_residual.norm", f"{theirs}.0.layer_norm", ONLY),
        *_middle(f"{ours}.feed_forward", f"{last}.DenseReluDense", layer.feed_forward),
        *same(f"{ours}.feed_forward_residual.norm", f"{last}.layer_norm", ONLY),
    ]
    if reads_memory:
        found += [
            *same(f"{ours}.cross.queries", f"{cross}.q", ONLY),
            *joined(f"{ours}.cross.memory", memory, (rows,) * 2, ONLY),
            *same(f"{ours}.cross.output", f"{cross}.o", ONLY),
            *same(f"{ours}.cross_residual.norm", f"{theirs}.1.layer_norm", ONLY),
        ]
    return found


def _middle(ours: str, theirs: str, middle: FeedForward) -> list[Weight]:
    inputs = same(f"{ours}.inputs", f"{theirs}.wi", ONLY)
    if middle.gated:
        gate = (f"{theirs}.wi_0", f"{theirs}.wi_1")
        inputs = joined(f"{ours}.inputs", gate, (middle.width, middle.width), ONLY)
    return [*inputs, *same(f"{ours}.output", f"{theirs}.wo", ONLY)]


SIDES = ("encoder.", "")
TABLES = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")

T5 = Family(
    name="t5",
    model_types=("t5",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    # The first folders had buckets for cross-attention, too, which were never used.
    ignored=(r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",),
    copies=tuple((table, f"{side}input.words.weight") for table in TABLES for side in SIDES),
    elsewhere=((r"^lm_head", "shared"),),
)
