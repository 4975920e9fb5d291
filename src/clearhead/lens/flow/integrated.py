r"""Integrated gradients over the embeddings (Sundararajan et al. 2017): attention plays no part.

$$ a = (x - x_0) \cdot \int_0^1 \nabla F(x_0 + \alpha (x - x_0))\, d\alpha, \qquad
   \sum a = F(x) - F(x_0) $$

A second opinion on what attention seems to say. The integral is a Gauss-Legendre sum.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ...attention import unheard
from ...foundation.errors import CannotError, InputError
from ...foundation.log import log
from ...layers import FrameInput, PatchInput, WordInput
from ...models import EncoderDecoderNetwork
from ..ablate import able
from ..importance import number_of
from ..watching.attach import attached, is_foreign
from .answer import Flow
from .run_once import Target, number_with_gradient

MUCH = 0.05  # of the change: what may be left unexplained before it is said


def integrated_gradients(
    model: object, target: Target, *, steps: int = 32, baseline: int | None = None
) -> Flow:
    """How much each input token changes a number, on the way from no text to the text.

    The target runs 2 + `steps` times. What all tokens have together is the number's whole change,
    but for `gap`, which more steps make smaller.

    Args:
        model: What `clearhead.load` returns, a network of ours, or a model of transformers.
        target: Runs the model once and returns a number that has a gradient: one logit, say.
        baseline: The id that stands everywhere where there is no text; zeros when left out.
    """
    if steps < 1:
        raise InputError(f"{steps} steps are no way to go: give 1 or more.")
    way = Way(embeddings_of(able(model)), baseline)
    with way.hooked(), unheard(), torch.inference_mode(mode=False):
        with torch.no_grad():
            ends = [number_of(partial(way.run, target, share)) for share in (1.0, 0.0)]
        nodes, weights = np.polynomial.legendre.leggauss(steps)
        sums: list[Tensor] = []
        for node, weight in zip(nodes, weights, strict=True):
            with torch.enable_grad():
                value = number_with_gradient(way.run(target, (float(node) + 1) / 2))
            found = torch.autograd.grad(value, way.points, allow_unused=True)
            parts = [
                0.0 if gradient is None else (gradient * span).sum(-1) * (float(weight) / 2)
                for gradient, span in zip(found, way.spans, strict=True)
            ]
            sums = parts if not sums else [a + b for a, b in zip(sums, parts, strict=True)]
    sides = dict(zip(way.sides, sums, strict=True))
    total = sum(float(each.sum()) for each in sums)
    gap = ends[0] - ends[1] - total
    warn_of(gap, ends[0] - ends[1])
    return Flow(method="integrated gradients", sides=sides, to=None, value=ends[0], gap=gap)


def warn_of(gap: float, change: float) -> None:
    """Say so where the sum is far from what it must be."""
    if abs(gap) > MUCH * abs(change):
        log("lens").warning(
            f"Integrated gradients add up to {change - gap:.3g} where the number changes by "
            f"{change:.3g}: the way is too steep for so few steps. Give more (steps=…), or the id "
            "of a word that says nothing (baseline=…), which models with RMS norms need: near "
            "zero they change all at once."
        )


@dataclass
class Way:
    """Puts a point between baseline and text where embeddings come out, and remembers it.

    Args:
        doors: Each module that embeds, with the sides it embeds for, in the order they run.
    """

    doors: list[tuple[nn.Module, tuple[str, ...]]]
    baseline: int | None
    share: float = 1.0
    sides: list[str] = field(default_factory=list)
    points: list[Tensor] = field(default_factory=list)
    spans: list[Tensor] = field(default_factory=list)

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Inside the block the model goes on from these points."""
        with ExitStack() as stack:
            for module, sides in self.doors:
                hook = module.register_forward_hook(partial(self._put, sides))
                stack.callback(hook.remove)
            yield

    def run(self, target: Target, share: float) -> object:
        """What the target says that far along the way."""
        self.share = share
        self.sides, self.points, self.spans = [], [], []
        found = target()
        wanted = [side for _, sides in self.doors for side in sides]
        if sorted(self.sides) != sorted(wanted):
            raise CannotError(
                f"The target embedded {len(self.sides)} texts and this model reads {len(wanted)}: "
                "let it call the whole model once, with ids (no generate, no inputs_embeds)."
            )
        return found

    def _put(self, sides: tuple[str, ...], module: nn.Module, given: Any, made: Any) -> Tensor:
        if not isinstance(made, Tensor) or made.dim() != 3:
            raise CannotError(
                f"{type(module).__name__} hands on something other than one vector a token, so "
                "there is no way from nothing to it. Models of text and of patches have one."
            )
        ran = sum(side in sides for side in self.sides)
        base = self._nothing(module, given, made)
        span = made.detach() - base
        point = base + self.share * span
        self.sides.append(sides[min(ran, len(sides) - 1)])
        self.spans.append(span)
        self.points.append(point.requires_grad_(torch.is_grad_enabled()))
        return self.points[-1]

    def _nothing(self, module: nn.Module, given: Any, made: Tensor) -> Tensor:
        """What stands where there is no text."""
        if self.baseline is None:
            return torch.zeros_like(made)
        if not isinstance(module, nn.Embedding):
            raise CannotError(
                f"{type(module).__name__} embeds no ids, so none can be the baseline: leave it out."
            )
        if not 0 <= self.baseline < module.num_embeddings:
            raise InputError(
                f"The baseline is id {self.baseline} and there are {module.num_embeddings}: give "
                f"one from 0 to {module.num_embeddings - 1}."
            )
        with torch.no_grad():  # by the module's own method: its hooks are not called again
            found: Tensor = module.forward(torch.full_like(given[0], self.baseline))
        return found


def embeddings_of(network: nn.Module) -> list[tuple[nn.Module, tuple[str, ...]]]:
    """Where vectors of tokens come out, each with the sides of the model it works for."""
    doors: dict[int, tuple[nn.Module, tuple[str, ...]]] = {}
    for side, part in sides_of(network).items():
        module = foreign_door(part) if is_foreign(network) else own_door(part)
        before = doors.get(id(module), (module, ()))
        doors[id(module)] = (module, (*before[1], side))
    return list(doors.values())


def sides_of(network: nn.Module) -> dict[str, nn.Module]:
    """The parts of a model that read, the one before the other."""
    for part in network.modules():
        if isinstance(part, EncoderDecoderNetwork):
            return {"encoder": part.encoder, "decoder": part.decoder}
    if getattr(getattr(network, "config", None), "is_encoder_decoder", False):
        sides: Any = network
        return {"encoder": sides.get_encoder(), "decoder": sides.get_decoder()}
    with attached(network) as place:
        writes = any(site.startswith("decoder") for site in place.modules)
    return {"decoder" if writes else "encoder": network}


def own_door(part: nn.Module) -> nn.Module:
    """The input layer of one of our networks; of one that reads words, their table."""
    for module in part.modules():
        if isinstance(module, WordInput):
            return module.words
        if isinstance(module, PatchInput | FrameInput):
            return module
    raise CannotError(
        f"{type(part).__name__} has no input layer of clearhead.layers, so there is nothing to "
        "put a baseline in. Give a network of clearhead.models, or a model of transformers."
    )


def foreign_door(part: Any) -> nn.Module:
    """The table of words of a model of transformers; of one that reads patches, what joins them."""
    module: nn.Module = part.get_input_embeddings()
    if isinstance(module, nn.Embedding):
        return module
    paths = {id(each): path for path, each in part.named_modules()}
    found: nn.Module = part.get_submodule(paths[id(module)].rpartition(".")[0])
    return found
