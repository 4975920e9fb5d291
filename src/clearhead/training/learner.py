"""What changes from step to step, and one step of it.

All chance comes from the seed and the number of the step, so nothing of it has to be remembered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data import Batches, Position, Store
from ..foundation.devices import choose_device
from ..foundation.errors import FileError
from ..foundation.seeds import derived
from ..models import Architecture, Network, build
from ..tasks.task import Ids, Loss
from .checkpoint import Checkpoint
from .prepare import Prepared
from .run import Run

MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@dataclass(frozen=True, kw_only=True)
class Stepped:
    """What one step did.

    Args:
        loss: The mean over all tokens of the step.
        norm: How long the gradient was; not finite where the step failed and changed nothing.
    """

    step: int
    loss: float
    norm: float
    rate: float
    tokens: int
    failed: bool


class Learner:
    """A network, its optimiser, and where in the data they are."""

    def __init__(self, run: Run, prepared: Prepared) -> None:
        self.run, self.vocabulary = run, prepared.vocabulary
        self.device = choose_device(run.device).device
        shape = run.model.settled()
        self.architecture: Architecture = run.task.architecture(prepared.vocabulary, shape)
        torch.manual_seed(derived(run.seed, "weights"))
        self.network: Network = build(self.architecture).to(self.device)
        self.optimiser = optimiser_of(self.network, run)
        self.store = prepared.train
        self.batches = Batches(prepared.train, tokens=run.train.tokens, seed=run.seed)
        self.position = Position()
        self.step = self.saved = self.skipped = self.failed_in_a_row = 0
        self.best: dict[str, float] = {}

    def advance(self) -> Stepped:
        """One step: some batches, one change of all weights."""
        settings, self.step = self.run.train, self.step + 1
        self.network.train()
        rate = settings.rate * settings.schedule.share(self.step, settings.steps)
        total, count = 0.0, 0
        for number in range(settings.batches):
            loss = self._learn_from_one(number)
            total, count = total + float(loss.total.detach()), count + loss.count
        gradients = [p.grad for p in self.network.parameters() if p.grad is not None]
        torch._foreach_div_(gradients, max(count, 1))
        norm = nn.utils.get_total_norm(gradients)
        failed = not bool(norm.isfinite())
        if not failed:
            if settings.clip:
                nn.utils.clip_grads_with_norm_(self.network.parameters(), settings.clip, norm)
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            self.optimiser.step()
        self.optimiser.zero_grad()
        self.skipped += failed
        self.failed_in_a_row = self.failed_in_a_row + 1 if failed else 0
        return Stepped(
            step=self.step,
            loss=total / max(count, 1),
            norm=float(norm),
            rate=rate,
            tokens=count,
            failed=failed,
        )

    def _learn_from_one(self, number: int) -> Loss:
        numbers, self.position = self.batches.at(self.position)
        torch.manual_seed(derived(self.run.seed, f"dropout/{self.step}/{number}"))
        self.last = examples_of(self.store, numbers)
        with torch.enable_grad():
            loss = self.loss(self.last)
        torch.autograd.backward(loss.total)
        return loss

    def loss(self, examples: Sequence[Sequence[Ids]]) -> Loss:
        """How badly the network does on these examples."""
        wide = self.run.train.precision == "float32"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=not wide):
            return self.run.task.loss(self.network, self.vocabulary, examples, self.device)

    @torch.inference_mode()
    def loss_over(self, store: Store) -> float:
        """The mean loss over all tokens of a store, dropout off."""
        self.network.eval()
        total, count = 0.0, 0
        for numbers in Batches(store, tokens=self.run.train.tokens, seed=0).once():
            loss = self.loss(examples_of(store, numbers))
            total, count = total + float(loss.total), count + loss.count
        return total / max(count, 1)

    def checkpoint(self, **more: Any) -> Checkpoint:
        """All that changes."""
        names = {id(p): name for name, p in self.network.named_parameters()}
        moments = {
            f"{names[id(p)]}.{moment}": state[moment].detach().cpu().contiguous()
            for p, state in self.optimiser.state.items()
            for moment in MOMENTS
        }
        state = {
            "step": self.step,
            "position": asdict(self.position),
            "skipped": self.skipped,
            "failed_in_a_row": self.failed_in_a_row,
            "best": self.best,
            "threads": torch.get_num_threads(),
        }
        weights = {n: p.detach().cpu().contiguous() for n, p in self.network.named_parameters()}
        return Checkpoint(weights=weights, optimiser=moments, state={**state, **more})

    def resume(self, found: Checkpoint) -> None:
        """Go on from where that checkpoint was written."""
        own = dict(self.network.named_parameters())
        if {n: w.shape for n, w in found.weights.items()} != {n: p.shape for n, p in own.items()}:
            raise FileError(
                "The checkpoint holds the weights of another network than these settings make: "
                "give the settings it was made with, or another folder (into=…)."
            )
        with torch.no_grad():
            for name, parameter in own.items():
                parameter.copy_(found.weights[name])
                moments = moments_of(name, found.optimiser, parameter)
                if moments:
                    self.optimiser.state[parameter] = moments
        state = found.state
        self.step, self.position = state["step"], Position(**state["position"])
        self.saved = self.step
        self.skipped, self.failed_in_a_row = state["skipped"], state["failed_in_a_row"]
        self.best = dict(state["best"])


def moments_of(
    name: str, stored: Mapping[str, Tensor], parameter: nn.Parameter
) -> dict[str, Tensor]:
    """What the optimiser remembers of one weight; nothing before its first step."""
    return {
        moment: stored[f"{name}.{moment}"].to(
            parameter.device if moment != "step" else stored[f"{name}.{moment}"].device
        )
        for moment in MOMENTS
        if f"{name}.{moment}" in stored
    }


def optimiser_of(network: nn.Module, run: Run) -> torch.optim.AdamW:
    """AdamW; only matrices decay."""
    settings, parameters = run.train, [p for p in network.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": settings.decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.rate, betas=settings.betas, fused=True)


def examples_of(store: Store, numbers: NDArray[np.int64]) -> list[Sequence[Ids]]:
    """These examples' ids."""
    return [store[int(number)] for number in numbers]
