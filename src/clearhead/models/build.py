"""From what a network is made of to the network."""

from .decoder import Decoder, DecoderNetwork
from .encoder import Encoder, EncoderNetwork
from .encoder_decoder import EncoderDecoder, EncoderDecoderNetwork

Architecture = Encoder | Decoder | EncoderDecoder
Network = EncoderNetwork | DecoderNetwork | EncoderDecoderNetwork


def build(architecture: Architecture) -> Network:
    """The network, with fresh weights."""
    if isinstance(architecture, Encoder):
        return EncoderNetwork(architecture)
    if isinstance(architecture, Decoder):
        return DecoderNetwork(architecture)
    return EncoderDecoderNetwork(architecture)
