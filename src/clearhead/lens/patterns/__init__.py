"""What each head does, by name: every head scored for every pattern, from single weights.

named.py      the patterns, when a head is called by one, and the answer
scored.py     how much a head shows each pattern, in O(n) memory
repeats.py    where a token came up before
"""

from .named import PATTERNS as PATTERNS
from .named import HeadPattern as HeadPattern
from .named import Pattern as Pattern
from .named import Patterns as Patterns

__all__ = ["PATTERNS", "HeadPattern", "Pattern", "Patterns"]
