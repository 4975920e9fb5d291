"""How attention learns where tokens stand. One file a way; `bias.py` has the rules scores use.

Added to the tokens: `sinusoidal`, `learned`. Turned into q and k: `rotary`. Added to scores:
`alibi`, `buckets`.
"""

from .alibi import Alibi as Alibi
from .buckets import Buckets as Buckets
from .learned import Learned as Learned
from .rotary import Linear as Linear
from .rotary import Llama3 as Llama3
from .rotary import Rotary as Rotary
from .rotary import Turn as Turn
from .sinusoidal import Sinusoidal as Sinusoidal

__all__ = ["Alibi", "Buckets", "Learned", "Linear", "Llama3", "Rotary", "Sinusoidal", "Turn"]
