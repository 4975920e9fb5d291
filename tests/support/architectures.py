"""Every architecture that can be described, drawn at random and very small."""

from hypothesis import strategies as st

from clearhead.attention import Heads
from clearhead.attention.positions import Alibi, Buckets, Learned, Rotary, Sinusoidal
from clearhead.layers import (
    FeedForward,
    Frames,
    Labels,
    Layer,
    Logits,
    Masked,
    Norm,
    Patches,
    Pooled,
    Taught,
    Words,
)
from clearhead.models import Architecture, Decoder, Encoder, EncoderDecoder, Stack

ACTIVATIONS = st.sampled_from(["relu", "gelu", "gelu_tanh", "silu", "tanh"])
NORMS = st.builds(Norm, form=st.sampled_from(["layer", "rms"]))
YES_OR_NO = st.booleans()


def sizes(most: int, least: int = 1) -> st.SearchStrategy[int]:
    return st.integers(least, most)


@st.composite
def heads(draw) -> Heads:
    shared = draw(sizes(3))
    return Heads(
        heads=shared * draw(sizes(3)),
        key_value_heads=shared,
        head_width=2 * draw(sizes(3)),
        input_bias=draw(YES_OR_NO),
        output_bias=draw(YES_OR_NO),
        norm_epsilon=draw(st.sampled_from([None, 1e-3])),
    )


def layers() -> st.SearchStrategy[Layer]:
    middle = st.builds(
        FeedForward, width=sizes(9), activation=ACTIVATIONS, gated=YES_OR_NO, bias=YES_OR_NO
    )
    place = st.sampled_from(["before", "after"])
    return st.builds(Layer, heads=heads(), feed_forward=middle, norm=NORMS, norm_place=place)


def stacks(width: int) -> st.SearchStrategy[Stack]:
    buckets = st.builds(Buckets, count=st.sampled_from([4, 8]), furthest=sizes(20, least=9))
    return st.builds(
        Stack,
        width=st.just(width),
        layers=sizes(3, least=0),
        layer=layers(),
        positions=st.sampled_from([None, Rotary(), Alibi()]) | buckets,
        final_norm=YES_OR_NO,
        window=st.none() | sizes(4),
        window_from=sizes(2, least=0),
    )


def words(width: int | None = None, vocabulary: int | None = None) -> st.SearchStrategy[Words]:
    learned = st.builds(Learned, length=sizes(12, least=8), offset=sizes(2, least=0))
    return st.builds(
        Words,
        vocabulary=sizes(9) if vocabulary is None else st.just(vocabulary),
        width=sizes(9) if width is None else st.just(width),
        scale=st.sampled_from([1.0, 3.0]),
        positions=learned | st.sampled_from([None, Sinusoidal()]),
        types=sizes(3, least=0),
        norm=st.none() | NORMS,
    )


@st.composite
def encoders(draw, width: int | None = None) -> Encoder:
    width = draw(sizes(9)) if width is None else width
    pictures = st.builds(
        Patches,
        picture=sizes(6, least=2),
        patch=sizes(2),
        channels=sizes(3),
        specials=sizes(2, least=2),
    )
    sound = st.builds(Frames, bands=sizes(4), length=sizes(6, least=4))
    given = draw(words() | pictures | sound)
    outputs = st.none() | st.builds(
        Labels, count=sizes(4), through=st.none() | ACTIVATIONS, each=YES_OR_NO
    )
    outputs |= st.builds(Pooled, activation=ACTIVATIONS) | st.builds(Taught, count=sizes(4))
    if isinstance(given, Words):
        outputs |= st.builds(
            Masked,
            vocabulary=st.just(given.vocabulary),
            width=st.just(given.width),
            activation=ACTIVATIONS,
            norm=NORMS,
        )
    return Encoder(input=given, stack=draw(stacks(width)), output=draw(outputs))


@st.composite
def decoders(draw, width: int | None = None) -> Decoder:
    width = draw(sizes(9)) if width is None else width
    tied = draw(YES_OR_NO)
    given = draw(words(width if tied else None))
    logits = st.builds(
        Logits,
        vocabulary=st.just(given.vocabulary),
        tied=st.just(tied),
        bias=YES_OR_NO,
        scale=st.sampled_from([1.0, 0.5]),
    )
    labels = st.builds(Labels, count=sizes(4), each=YES_OR_NO)
    return Decoder(input=given, stack=draw(stacks(width)), output=draw(st.none() | logits | labels))


@st.composite
def translators(draw) -> EncoderDecoder:
    width = draw(sizes(9))
    encoder, decoder = draw(encoders(width)), draw(decoders(width))
    shared = draw(YES_OR_NO)
    if shared:
        given = draw(words(decoder.input.width, decoder.input.vocabulary))
        encoder = Encoder(input=given, stack=encoder.stack)
    return EncoderDecoder(encoder=encoder, decoder=decoder, shared_words=shared)


def architectures() -> st.SearchStrategy[Architecture]:
    """Any of them."""
    return encoders() | decoders() | translators()
