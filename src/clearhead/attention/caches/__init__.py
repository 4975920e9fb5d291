"""What a decoder keeps of the past: the keys and values of earlier positions.

`Growing` for a few steps, `Static` for a known longest length, `Rolling` when a window forgets.
Each gives the same values as no cache at all.
"""

from .cache import Cache as Cache
from .cache import Held as Held
from .growing import Growing as Growing
from .rolling import Rolling as Rolling
from .static import Static as Static

__all__ = ["Cache", "Growing", "Held", "Rolling", "Static"]
