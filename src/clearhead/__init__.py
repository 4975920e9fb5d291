"""Transformers you can see through: train them, run them, and look inside them.

Names are fetched from their rooms on first use, so importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .attention import Scores as Scores
    from .attention import attend as attend
    from .lens import ablate as ablate
    from .lens import explain as explain
    from .lens import importance as importance
    from .lens import watch as watch
    from .tasks import Model as Model
    from .tasks import load as load
    from .traces import open_trace as open_trace

__version__ = "0.1.0"

HOMES = {
    "Model": ".tasks",
    "Scores": ".attention",
    "ablate": ".lens",
    "attend": ".attention",
    "explain": ".lens",
    "importance": ".lens",
    "load": ".tasks",
    "open_trace": ".traces",
    "watch": ".lens",
}
__all__ = [
    "Model",
    "Scores",
    "ablate",
    "attend",
    "explain",
    "importance",
    "load",
    "open_trace",
    "watch",
]


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"clearhead has no {name!r}. It has: {', '.join(__all__)}.")
    return getattr(import_module(HOMES[name], __name__), name)
