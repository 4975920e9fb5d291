"""Everything a run is: what is learned, from what, how large, how long."""

from dataclasses import dataclass
from typing import Literal

from ..config import setting
from ..data import Corpus
from ..models.sized import Shape
from ..tasks.translation import Translation
from .schedule import Constant, Cosine, InverseRoot


@dataclass(frozen=True, kw_only=True)
class Data:
    """What is learned from, and what is held back to measure by."""

    train: Corpus = setting(help="what is learned from")
    valid: Corpus | None = setting(None, help="what is measured by while learning")
    longest: int = setting(512, help="examples with more tokens are left out, counted", minimum=1)


@dataclass(frozen=True, kw_only=True)
class Train:
    """How it is learned."""

    steps: int = setting(help="how often the weights change", minimum=1)
    tokens: int = setting(4096, help="of a batch, padding included", minimum=1)
    batches: int = setting(1, help="whose gradients are added up in one step", minimum=1)
    rate: float = setting(5e-4, help="how far a step goes at most", above=0)
    schedule: InverseRoot | Cosine | Constant = setting(InverseRoot(), help="how that changes")
    decay: float = setting(0.01, help="of matrices towards 0", minimum=0)
    betas: tuple[float, float] = setting((0.9, 0.98), help="of AdamW", minimum=0, below=1)
    clip: float = setting(1.0, help="longest gradient; 0 for any length", minimum=0)
    precision: Literal["float32", "bfloat16"] = setting("float32", help="of products")
    save_every: int = setting(500, help="steps between checkpoints", minimum=1)
    valid_every: int = setting(500, help="steps between looks at what was held back", minimum=1)
    valid_rows: int = setting(200, help="how many of them are answered, for a score", minimum=1)
    keep: int = setting(2, help="checkpoints that stay, beside the best model", minimum=1)
    skip: int = setting(10, help="steps in a row that may fail (NaN) before it stops", minimum=0)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run, whole: the same settings and the same files give the same weights."""

    into: str = setting(
        help="the folder everything is written to; run again, it goes on from there"
    )
    seed: int = setting(0, help="of everything that is drawn", minimum=0)
    device: str = setting("auto", help="cpu, cuda, mps; auto takes the best there is")
    task: Translation = setting(help="what is learned")
    model: Shape = setting(Shape(), help="how large it is")
    data: Data
    train: Train
