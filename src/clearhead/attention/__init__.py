"""Attention: the one mechanism this project is about.

Read `reference.py` first: it says what attention is. `contract.py` says what a kernel must accept
and return; each file in `kernels/` is one way to compute it; `choose.py` picks one and says why.
`masks.py` and `rules.py` say who may look at whom, `bias.py` and `positions/` where tokens stand,
`multihead.py` wraps projections around it, `announce.py` tells whoever watches, `follow.py` where
rows of a batch went, and `intervene.py` lets others change what is handed on.
"""

from .announce import Announcement as Announcement
from .announce import unheard as unheard
from .announce import watching as watching
from .attend import Site as Site
from .attend import attend as attend
from .attend import why as why
from .bias import Bias as Bias
from .contract import Attended as Attended
from .contract import Kernel as Kernel
from .contract import Request as Request
from .contract import Scores as Scores
from .follow import following as following
from .follow import tell_moved as tell_moved
from .follow import tell_returned as tell_returned
from .intervene import changing as changing
from .masks import Everything as Everything
from .masks import Mask as Mask
from .multihead import CrossAttention as CrossAttention
from .multihead import Heads as Heads
from .multihead import Scene as Scene
from .multihead import SelfAttention as SelfAttention
from .rules import Blocks as Blocks
from .rules import Causal as Causal
from .rules import Documents as Documents
from .rules import Given as Given
from .rules import Global as Global
from .rules import Padding as Padding
from .rules import Prefix as Prefix
from .rules import Window as Window

__all__ = [
    "Announcement",
    "Attended",
    "Bias",
    "Blocks",
    "Causal",
    "CrossAttention",
    "Documents",
    "Everything",
    "Given",
    "Global",
    "Heads",
    "Kernel",
    "Mask",
    "Padding",
    "Prefix",
    "Request",
    "Scene",
    "Scores",
    "SelfAttention",
    "Site",
    "Window",
    "attend",
    "changing",
    "following",
    "tell_moved",
    "tell_returned",
    "unheard",
    "watching",
    "why",
]
