"""How far a step goes, as a share of the most: warm up, then less and less."""

from dataclasses import dataclass
from math import cos, pi, sqrt
from typing import Literal

from ..config import setting


@dataclass(frozen=True, kw_only=True)
class InverseRoot:
    """Up in a straight line, then down with one over the root of the step (the paper's, §5.3)."""

    kind: Literal["inverse_root"] = "inverse_root"
    warmup: int = setting(1000, help="steps on the way up", minimum=1)

    def share(self, step: int, steps: int) -> float:
        """Of the most, at this step, counted from 1."""
        return min(step / self.warmup, sqrt(self.warmup / step))


@dataclass(frozen=True, kw_only=True)
class Cosine:
    """Up in a straight line, then down half a wave to the end of the run."""

    kind: Literal["cosine"] = "cosine"
    warmup: int = setting(100, help="steps on the way up", minimum=1)
    last: float = setting(0.0, help="share that is left at the end", minimum=0, maximum=1)

    def share(self, step: int, steps: int) -> float:
        """Of the most, at this step, counted from 1."""
        if step <= self.warmup:
            return step / self.warmup
        way = min((step - self.warmup) / max(steps - self.warmup, 1), 1.0)
        return self.last + (1 - self.last) * (1 + cos(pi * way)) / 2


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The same at every step."""

    kind: Literal["constant"] = "constant"

    def share(self, step: int, steps: int) -> float:
        """All of it."""
        return 1.0
