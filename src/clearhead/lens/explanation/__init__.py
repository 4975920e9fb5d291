"""One attention, step by step: of a built-in example, of matrices in a file, of a model.

explain.py    the one door
steps.py      the steps from q, k, v to the heads side by side, by the definition
story.py      collects what the steps give, and notes, into a trace
matrices.py   matrices in a TOML file, and the walk through them
examples.py   the built-in examples
sites.py      where in a network attention takes place
watched.py    one forward pass of a network, seen at one site
network.py    the walk through what was seen, and the check against what the layer made
"""

from .door import explain as explain
from .examples import EXAMPLES as EXAMPLES
from .matrices import Matrices as Matrices
from .matrices import read_matrices as read_matrices
from .steps import STEPS as STEPS

__all__ = ["EXAMPLES", "STEPS", "Matrices", "explain", "read_matrices"]
