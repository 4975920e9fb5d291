"""How large a model is and what it costs, worked out from its spec alone.

Every formula is tested against the built network: parameters against a count, FLOPs against
torch's own counter, cache bytes against a cache that was filled.
"""

from ..attention.positions import Buckets, Learned
from ..layers import Frames, Labels, Logits, Masked, Norm, Patches, Pooled, Taught, Words
from .build import Architecture
from .decoder import Decoder
from .encoder import Encoder
from .encoder_decoder import EncoderDecoder
from .stack import Stack

Output = Logits | Masked | Labels | Taught | Pooled | None


def parameters(architecture: Architecture) -> int:
    """How many numbers the network learns; a shared table counts once."""
    if isinstance(architecture, EncoderDecoder):
        shared = _words_table(architecture.decoder.input) if architecture.shared_words else 0
        both = _of_side(architecture.encoder, both_sides=True) + _of_side(
            architecture.decoder, reads_memory=True
        )
        return both - shared
    return _of_side(architecture, both_sides=isinstance(architecture, Encoder))


def _of_side(
    side: Encoder | Decoder, *, both_sides: bool = False, reads_memory: bool = False
) -> int:
    width = side.stack.width
    return (
        _of_input(side.input, width)
        + side.stack.layers * block_parameters(side.stack, reads_memory=reads_memory)
        + (_of_norm(side.stack.layer.norm, width) if side.stack.final_norm else 0)
        + (
            side.stack.positions.count * side.stack.layer.heads.heads
            if isinstance(side.stack.positions, Buckets)
            else 0
        )
        + _of_output(side.output, width)
    )


def block_parameters(stack: Stack, *, reads_memory: bool = False) -> int:
    """How many numbers one block learns."""
    layer, width = stack.layer, stack.width
    heads = layer.heads
    query = heads.heads * heads.head_width
    shared = 2 * heads.key_value_heads * heads.head_width
    attention = _linear(width, query + shared, heads.input_bias)
    attention += _linear(query, width, heads.output_bias)
    attention += 2 * heads.head_width if heads.norm_epsilon is not None else 0
    inner = layer.feed_forward.width
    feed_forward = _linear(width, inner * (1 + layer.feed_forward.gated), layer.feed_forward.bias)
    feed_forward += _linear(inner, width, layer.feed_forward.bias)
    attentions = 2 if reads_memory else 1
    norms = (attentions + 1) * _of_norm(layer.norm, width)
    return attentions * attention + feed_forward + norms


def _linear(inputs: int, outputs: int, bias: bool) -> int:
    return inputs * outputs + (outputs if bias else 0)


def _of_norm(norm: Norm, width: int) -> int:
    return width if norm.form == "rms" else 2 * width


def _words_table(words: Words) -> int:
    return words.vocabulary * words.width


def _of_input(spec: Words | Patches | Frames, width: int) -> int:
    if isinstance(spec, Patches):
        squares = _linear(spec.channels * spec.patch**2, width, True)
        return squares + (spec.specials + spec.tokens) * width
    if isinstance(spec, Frames):
        return (
            _linear(3 * spec.bands, width, True)
            + _linear(3 * width, width, True)
            + (spec.length * width)
        )
    positions = spec.positions
    learned = positions.length + positions.offset if isinstance(positions, Learned) else 0
    found = _words_table(spec) + (learned + spec.types) * spec.width
    found += _of_norm(spec.norm, spec.width) if spec.norm else 0
    return found + (_linear(spec.width, width, True) if spec.width != width else 0)


def _of_output(spec: Output, width: int) -> int:
    if isinstance(spec, Logits):
        table = 0 if spec.tied else spec.vocabulary * width
        return table + (spec.vocabulary if spec.bias else 0)
    if isinstance(spec, Masked):
        return _linear(width, spec.width, True) + _of_norm(spec.norm, spec.width) + spec.vocabulary
    if isinstance(spec, Labels):
        through = _linear(width, width, True) if spec.through else 0
        return through + _linear(width, spec.count, True)
    if isinstance(spec, Taught):
        return 2 * _linear(width, spec.count, True)
    if isinstance(spec, Pooled):
        return _linear(width, width, True)
    return 0


def block_flops(stack: Stack, *, queries: int, keys: int) -> int:
    """Multiplications and additions of one block's products, for `queries` tokens of one example.

    Attention is counted over all pairs, as torch's counter does, whatever the mask forbids.
    """
    heads, width = stack.layer.heads, stack.width
    query = heads.heads * heads.head_width
    shared = 2 * heads.key_value_heads * heads.head_width
    inner = stack.layer.feed_forward.width
    products = width * (query + shared) + query * width
    products += width * inner * (1 + stack.layer.feed_forward.gated) + inner * width
    return 2 * queries * products + 4 * queries * keys * query


def flops_per_token(architecture: Architecture, *, length: int) -> int:
    """Multiplications and additions to read one more token at the end of `length` others.

    For an encoder: a token's share of reading `length` tokens at once. For an encoder-decoder:
    one more target token, the source being `length` tokens long and already encoded. What is done
    once for the whole is left out: pooling it, cutting a picture or sound into tokens.
    """
    side = architecture.decoder if isinstance(architecture, EncoderDecoder) else architecture
    stack, width = side.stack, side.stack.width
    total = stack.layers * block_flops(stack, queries=1, keys=length)
    if isinstance(architecture, EncoderDecoder):
        query = stack.layer.heads.heads * stack.layer.heads.head_width
        total += stack.layers * (4 * width * query + 4 * length * query)
    if isinstance(side.input, Words) and side.input.width != width:
        total += 2 * side.input.width * width
    return total + _output_flops(side.output, width)


def _output_flops(spec: Output, width: int) -> int:
    """Of the scores of one token."""
    if isinstance(spec, Logits):
        return 2 * width * spec.vocabulary
    if isinstance(spec, Masked):
        return 2 * spec.width * (width + spec.vocabulary)
    if isinstance(spec, Labels) and spec.each:
        return 2 * width * (spec.count + (width if spec.through else 0))
    return 0


def cache_bytes_per_token(architecture: Architecture, *, bytes_a_number: int = 4) -> int:
    """What a decoder keeps of every token it has passed; 0 for an encoder, which keeps nothing."""
    if isinstance(architecture, Encoder):
        return 0
    side = architecture.decoder if isinstance(architecture, EncoderDecoder) else architecture
    heads = side.stack.layer.heads
    return 2 * side.stack.layers * heads.key_value_heads * heads.head_width * bytes_a_number
