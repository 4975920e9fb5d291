"""Whisper (Radford et al. 2022): sound in, text out. Norm before, keys without a bias.

Its encoder reads a spectrogram through two convolutions and keeps a table of waves as weights.
"""

from typing import Any

from ...attention import Heads
from ...attention.positions import Learned
from ...layers import FeedForward, Frames, Layer, Logits, Norm, Words
from ..build import Architecture
from ..decoder import Decoder
from ..encoder import Encoder
from ..encoder_decoder import EncoderDecoder
from ..stack import Stack
from .family import THEIR_ACTIVATIONS, Family, Settings, Weight, activation, same, want

CLASSES = ("WhisperForConditionalGeneration", "WhisperModel")


def read(settings: Settings, name: str) -> EncoderDecoder:
    """What a config.json of Whisper's describes."""
    vocabulary, dropout = want(settings, "vocab_size"), settings.get("dropout", 0.0)
    width = want(settings, "d_model")
    return EncoderDecoder(
        encoder=Encoder(
            input=Frames(
                bands=want(settings, "num_mel_bins"),
                length=want(settings, "max_source_positions"),
                dropout=dropout,
            ),
            stack=_stack(settings, "encoder"),
        ),
        decoder=Decoder(
            input=Words(
                vocabulary=vocabulary,
                width=width,
                positions=Learned(length=want(settings, "max_target_positions")),
                dropout=dropout,
            ),
            stack=_stack(settings, "decoder"),
            output=Logits(vocabulary=vocabulary, tied=settings.get("tie_word_embeddings", True))
            if name == "WhisperForConditionalGeneration"
            else None,
        ),
    )


def _stack(settings: Settings, side: str) -> Stack:
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
            norm=Norm(epsilon=1e-5),  # no setting: torch's default
            norm_place="before",
            dropout=settings.get("dropout", 0.0),
            attention_dropout=settings.get("attention_dropout", 0.0),
            middle_dropout=settings.get("activation_dropout", 0.0),
        ),
        final_norm=True,
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, EncoderDecoder)
    frames, words = architecture.encoder.input, architecture.decoder.input
    assert isinstance(frames, Frames)
    assert isinstance(words.positions, Learned)
    layer, output = architecture.decoder.stack.layer, architecture.decoder.output
    settings: dict[str, Any] = {
        "model_type": "whisper",
        "architectures": [name],
        "vocab_size": words.vocabulary,
        "d_model": words.width,
        "num_mel_bins": frames.bands,
        "max_source_positions": frames.length,
        "max_target_positions": words.positions.length,
        "activation_function": THEIR_ACTIVATIONS[layer.feed_forward.activation],
        "dropout": layer.dropout,
        "attention_dropout": layer.attention_dropout,
        "activation_dropout": layer.middle_dropout,
        "tie_word_embeddings": not isinstance(output, Logits) or output.tied,
    }
    for side, stack in _stacks(architecture):
        settings[f"{side}_layers"] = stack.layers
        settings[f"{side}_attention_heads"] = stack.layer.heads.heads
        settings[f"{side}_ffn_dim"] = stack.layer.feed_forward.width
    return settings


def _stacks(architecture: EncoderDecoder) -> list[tuple[str, Stack]]:
    return [("encoder", architecture.encoder.stack), ("decoder", architecture.decoder.stack)]


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare WhisperModel has no prefix."""
    assert isinstance(architecture, EncoderDecoder)
    prefix = "" if name == "WhisperModel" else "model."
    encoder, decoder = f"{prefix}encoder", f"{prefix}decoder"
    found = [
        *same("encoder.input.near", f"{encoder}.conv1"),
        *same("encoder.input.halve", f"{encoder}.conv2"),
        Weight("encoder.input.positions", (f"{encoder}.embed_positions.weight",)),
        Weight("decoder.input.words.weight", (f"{decoder}.embed_tokens.weight",)),
        Weight("decoder.input.positions.weight", (f"{decoder}.embed_positions.weight",)),
    ]
    for side, stack in _stacks(architecture):
        found += same(f"{side}.stack.final_norm", f"{prefix}{side}.layer_norm")
        for layer in range(stack.layers):
            ours, theirs = f"{side}.stack.blocks.{layer}", f"{prefix}{side}.layers.{layer}"
            found += _block(ours, theirs, stack.width, reads_memory=side == "decoder")
    output = architecture.decoder.output
    if isinstance(output, Logits) and not output.tied:
        found.append(Weight("decoder.output.weight", ("proj_out.weight",)))
    return found


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
    """Queries, keys and values as one; keys have no bias there.

    A bias of the keys adds the same to all scores of a query, which the softmax takes away again:
    dropping ours on the way out changes nothing.
    """
    sizes = (width,) * len(parts)
    biases = tuple(None if part == "k" else f"{theirs}.{part}_proj.bias" for part in parts)
    return [
        Weight(f"{ours}.weight", tuple(f"{theirs}.{part}_proj.weight" for part in parts), sizes),
        Weight(f"{ours}.bias", biases, sizes),
    ]


WHISPER = Family(
    name="whisper",
    model_types=("whisper",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    copies=(("proj_out.weight", "decoder.input.words.weight"),),
)
