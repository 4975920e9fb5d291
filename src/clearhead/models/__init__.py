"""Whole networks: three short skeletons over the same block, and the families that fill them in.

`encoder.py`, `decoder.py`, `encoder_decoder.py` are the skeletons; `stack.py` is what they share;
each file in `families/` states what one family chose and how its weights are named elsewhere.
"""

from .build import Architecture as Architecture
from .build import Network as Network
from .build import build as build
from .decoder import Decoder as Decoder
from .decoder import DecoderNetwork as DecoderNetwork
from .decoder import Past as Past
from .encoder import Encoder as Encoder
from .encoder import EncoderNetwork as EncoderNetwork
from .encoder_decoder import EncoderDecoder as EncoderDecoder
from .encoder_decoder import EncoderDecoderNetwork as EncoderDecoderNetwork
from .result import Result as Result
from .stack import Stack as Stack

__all__ = [
    "Architecture",
    "Decoder",
    "DecoderNetwork",
    "Encoder",
    "EncoderDecoder",
    "EncoderDecoderNetwork",
    "EncoderNetwork",
    "Network",
    "Past",
    "Result",
    "Stack",
    "build",
]
