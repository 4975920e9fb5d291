"""Questions to attention, answered exactly at any length; this room never draws.

`watch` hears what a model's attention does and changes nothing about it; `Look` is one attention
and everything it can be asked; `Patterns` says by name what each head does. `explain` walks one
attention step by step with real numbers. `ablate` switches heads off, `importance` says what each
head changes about a number, `logit_lens` what each layer would say if it were the last.
"""

from .ablate import ablate as ablate
from .explanation import EXAMPLES as EXAMPLES
from .explanation import Matrices as Matrices
from .explanation import explain as explain
from .explanation import read_matrices as read_matrices
from .importance import Importance as Importance
from .importance import importance as importance
from .logit_lens import LogitLens as LogitLens
from .logit_lens import logit_lens as logit_lens
from .look import Look as Look
from .patterns import HeadPattern as HeadPattern
from .patterns import Patterns as Patterns
from .seen import Seen as Seen
from .watch import watch as watch

__all__ = [
    "EXAMPLES",
    "HeadPattern",
    "Importance",
    "LogitLens",
    "Look",
    "Matrices",
    "Patterns",
    "Seen",
    "ablate",
    "explain",
    "importance",
    "logit_lens",
    "read_matrices",
    "watch",
]
