"""One run of a model that ends in a number, with the number's gradient at every attention."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from ...attention import Announcement, changing, unheard, watching
from ...foundation.errors import CannotError, InputError
from ..look import Look
from ..questions.padding import real_queries
from ..watching.attach import attached
from ..watching.budget import Budget
from ..watching.keeper import Keeper
from ..watching.pieces import joined
from ..watching.wanted import Wanted

Target = Callable[[], object]
EVERYTHING = Wanted(sites=None, heads=None, exact=True, statistics=frozenset(), top=0, on="device")
SAVINGS = ("let the target run the model on a shorter text", "on fewer examples at once")


@dataclass(frozen=True, kw_only=True, eq=False)
class Once:
    """What one run was.

    Args:
        looks: Every attention that ran, by site.
        gradients: Of the number, by what each of them handed on: [batch, head, query, width].
        known: Every attention that the model has.
    """

    value: float
    looks: Mapping[str, Look]
    gradients: Mapping[str, Tensor]
    known: tuple[str, ...]
    without: tuple[str, ...]

    def look(self, site: str) -> Look:
        """The attention of this name, or an error where it did not run."""
        if site not in self.looks:
            raise CannotError(
                f"{site} did not run in the target, so nothing can be followed through it: let the "
                "target run the whole model."
            )
        return self.looks[site]


def run_once(network: nn.Module, target: Target) -> Once:
    """Run the target, which runs the model once and returns a number that has a gradient."""
    made: dict[str, Tensor] = {}
    with attached(network) as place, unheard(), torch.inference_mode(mode=False):
        sites = {id(module): site for site, module in place.modules.items()}

        def note(told: Announcement) -> Tensor:
            values_BHTE = told.attended.values_BHTE
            site = sites.get(id(told.module))
            if site is None:
                return values_BHTE
            if not values_BHTE.requires_grad:  # a model whose weights are fixed
                values_BHTE = values_BHTE.detach().requires_grad_()
            made[site] = values_BHTE
            return values_BHTE

        keeper = Keeper(sites, EVERYTHING, Budget(None, SAVINGS))
        with torch.enable_grad(), watching(keeper.hear), changing(note):
            value = number_with_gradient(target())
    looks = looks_of(keeper)
    found = torch.autograd.grad(value, [made[site] for site in looks], allow_unused=True)
    gradients = {
        site: torch.zeros_like(made[site]) if gradient is None else gradient
        for site, gradient in zip(looks, found, strict=True)
    }
    return Once(
        value=float(value.detach()),
        looks=looks,
        gradients=gradients,
        known=tuple(place.modules),
        without=place.without,
    )


def number_with_gradient(found: object) -> Tensor:
    """What a target returned, or a sentence that it is not what was wanted."""
    if not isinstance(found, Tensor) or found.numel() != 1:
        told = f"a tensor of {list(found.shape)}" if isinstance(found, Tensor) else repr(found)
        raise InputError(
            f"The target returned {told} and not a tensor of one number: let it run the model and "
            "return, say, one logit: lambda: model(ids).logits[0, -1, token]."
        )
    if not found.requires_grad:
        raise CannotError(
            "What the target returned has no gradient: it was made inside torch.no_grad(), or of "
            "something else than the model's output. Run the model inside the target, with "
            "gradients on."
        )
    return found.reshape(())


def looks_of(keeper: Keeper) -> dict[str, Look]:
    """Every attention of the one run that was heard."""
    runs = keeper.runs
    once = len(runs) == 1 and all(len(kept.pieces) == 1 for kept in runs[0].sites.values())
    if not once:
        raise CannotError(
            f"The target ran the model {'several times' if runs else 'not at all'}, and one run is "
            "what a gradient is followed through: let it call the model once, on the whole text "
            "(no generate), in this thread."
        )
    looks = {}
    for site, kept in runs[0].sites.items():
        source = joined(site, kept.pieces)
        real_BT = None if site.endswith("cross") else real_queries(source)
        looks[site] = Look(replace(source, real_BT=real_BT))
    return looks
