"""Marian's translators (Junczys-Dowmunt et al. 2018): the paper's Transformer, named like BART.

Its waves have all sines first, and every word has a bias.
"""

from typing import Any

from ...attention.positions import Sinusoidal
from ...layers import Logits, Words
from ..build import Architecture
from ..decoder import Decoder
from ..encoder import Encoder
from ..encoder_decoder import EncoderDecoder
from .bart import COPIES, common_weights, embedding_scale, stack, their_settings
from .family import Family, Settings, Weight, first_of, only, want

CLASSES = ("MarianMTModel", "MarianModel")


def read(settings: Settings, name: str) -> EncoderDecoder:
    """What a config.json of Marian's describes."""
    only(settings, normalize_before=False, normalize_embedding=False, add_final_layer_norm=False)
    shared = settings.get("share_encoder_decoder_embeddings", True)
    tied = settings.get("tie_word_embeddings", True)
    source = want(settings, "vocab_size")
    target = source if shared else first_of(settings, "decoder_vocab_size", default=source)
    return EncoderDecoder(
        encoder=Encoder(input=_words(settings, source), stack=stack(settings, "encoder")),
        decoder=Decoder(
            input=_words(settings, target),
            stack=stack(settings, "decoder"),
            output=Logits(vocabulary=target, tied=tied, bias=True)
            if name == "MarianMTModel"
            else None,
        ),
        shared_words=shared and tied,
    )


def _words(settings: Settings, vocabulary: int) -> Words:
    return Words(
        vocabulary=vocabulary,
        width=want(settings, "d_model"),
        scale=embedding_scale(settings),
        positions=Sinusoidal(layout="halves", length=want(settings, "max_position_embeddings")),
        dropout=settings.get("dropout", 0.1),
    )


def write(architecture: Architecture, name: str) -> dict[str, Any]:
    """The config.json of an architecture that `read` could have made."""
    assert isinstance(architecture, EncoderDecoder)
    source, target = architecture.encoder.input, architecture.decoder.input
    assert isinstance(source, Words)
    assert isinstance(target.positions, Sinusoidal)
    return {
        **their_settings(architecture),
        "model_type": "marian",
        "architectures": [name],
        "vocab_size": source.vocabulary,
        "decoder_vocab_size": target.vocabulary,
        "max_position_embeddings": target.positions.length,
        "share_encoder_decoder_embeddings": architecture.shared_words,
    }


def weights(architecture: Architecture, name: str) -> list[Weight]:
    """Names of all weights; a bare MarianModel has no prefix. Waves are worked out, not stored."""
    assert isinstance(architecture, EncoderDecoder)
    return common_weights(architecture, "" if name == "MarianModel" else "model.")


MARIAN = Family(
    name="marian",
    model_types=("marian",),
    architectures=CLASSES,
    read=read,
    write=write,
    weights=weights,
    ignored=(r"(model\.)?(en|de)coder\.embed_positions\.weight", r"(model\.)?shared\.weight"),
    copies=COPIES,
    elsewhere=((r"(en|de)coder\.embed_tokens", "shared"),),
)
