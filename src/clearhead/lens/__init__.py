"""Questions to attention, answered exactly at any length; this room never draws.

`watch` hears what a model's attention does and changes nothing about it; `Look` is one attention
and everything it can be asked; `Patterns` says by name what each head does. `explain` walks one
attention step by step with real numbers. `Flow` follows what a position took through all layers:
by rollout, by `relevance`, by `integrated_gradients`. `ablate` switches heads off, `importance`
says what each head changes about a number, `logit_lens` what each layer would say if it were the
last. `align` says which word of a translation comes from which.
"""

from .ablate import ablate as ablate
from .alignment import Words as Words
from .alignment import align as align
from .alignment import best_heads as best_heads
from .alignment import words_of as words_of
from .explanation import EXAMPLES as EXAMPLES
from .explanation import Matrices as Matrices
from .explanation import explain as explain
from .explanation import read_matrices as read_matrices
from .flow import Flow as Flow
from .flow import integrated_gradients as integrated_gradients
from .flow import relevance as relevance
from .importance import Importance as Importance
from .importance import importance as importance
from .logit_lens import LogitLens as LogitLens
from .logit_lens import logit_lens as logit_lens
from .look import Look as Look
from .patterns import HeadPattern as HeadPattern
from .patterns import Patterns as Patterns
from .questions.norms import Norms as Norms
from .seen import Seen as Seen
from .watch import watch as watch

__all__ = [
    "EXAMPLES",
    "Flow",
    "HeadPattern",
    "Importance",
    "LogitLens",
    "Look",
    "Matrices",
    "Norms",
    "Patterns",
    "Seen",
    "Words",
    "ablate",
    "align",
    "best_heads",
    "explain",
    "importance",
    "integrated_gradients",
    "logit_lens",
    "read_matrices",
    "relevance",
    "watch",
    "words_of",
]
