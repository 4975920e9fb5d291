"""What one pass over an attention finds out, whichever way the pass is made."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from .answers import Lse
from .collectors import Blocks, Top


@dataclass(frozen=True)
class Rows:
    """The lse of every row, and where it is from."""

    lse_BHT: Float[Tensor, "b h t"]
    origin: Lse


@dataclass(frozen=True, eq=False)
class Summaries:
    """Every statistic that is one number a query or a key, with a map and the strongest keys."""

    received_BHS: Float[Tensor, "b h s"]
    entropy_BHT: Float[Tensor, "b h t"]
    peak_BHT: Float[Tensor, "b h t"]
    signed_BHT: Float[Tensor, "b h t"]
    absolute_BHT: Float[Tensor, "b h t"]
    mass_BHT: Float[Tensor, "b h t"]
    sink_BHT: Float[Tensor, "b h t"]
    blocks: Blocks | None = None
    top: Top | None = None
