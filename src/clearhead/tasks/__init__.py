"""What the numbers mean: `Model` joins a network with its vocabulary, and `load` finds one."""

from .batch import Batch as Batch
from .load import load as load
from .model import Model as Model

__all__ = ["Batch", "Model", "load"]
