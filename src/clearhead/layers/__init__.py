"""The parts a Transformer is built from, around attention: public, to build your own with.

Words, Patches, Frames   what comes in, as vectors
Block                    attention and feed-forward, each with norm and residual
Logits, Masked, Labels   what goes out, as scores

Each is a frozen spec, and a module built from it.
"""

from .activation import Activation as Activation
from .block import Block as Block
from .block import Layer as Layer
from .feed_forward import FeedForward as FeedForward
from .feed_forward import build_feed_forward as build_feed_forward
from .frames import FrameInput as FrameInput
from .frames import Frames as Frames
from .norm import Norm as Norm
from .norm import build_norm as build_norm
from .outputs import LabelOutput as LabelOutput
from .outputs import Labels as Labels
from .outputs import LogitOutput as LogitOutput
from .outputs import Logits as Logits
from .outputs import Masked as Masked
from .outputs import MaskedOutput as MaskedOutput
from .outputs import Pooled as Pooled
from .outputs import PooledOutput as PooledOutput
from .patches import Patches as Patches
from .patches import PatchInput as PatchInput
from .taught import Taught as Taught
from .taught import TaughtOutput as TaughtOutput
from .words import WordInput as WordInput
from .words import Words as Words

__all__ = [
    "Activation",
    "Block",
    "FeedForward",
    "FrameInput",
    "Frames",
    "LabelOutput",
    "Labels",
    "Layer",
    "LogitOutput",
    "Logits",
    "Masked",
    "MaskedOutput",
    "Norm",
    "PatchInput",
    "Patches",
    "Pooled",
    "PooledOutput",
    "Taught",
    "TaughtOutput",
    "WordInput",
    "Words",
    "build_feed_forward",
    "build_norm",
]
