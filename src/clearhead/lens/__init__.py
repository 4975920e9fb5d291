"""Questions to attention, answered as traces; this room never draws.

`explain` walks one attention step by step with real numbers.
"""

from .explanation import EXAMPLES as EXAMPLES
from .explanation import Matrices as Matrices
from .explanation import explain as explain
from .explanation import read_matrices as read_matrices

__all__ = ["EXAMPLES", "Matrices", "explain", "read_matrices"]
