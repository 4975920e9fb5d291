"""`with ablate(model, heads): …` switches heads off, and leaves the model as it was."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..attention import Announcement, changing
from ..foundation.errors import CannotError, ConfigError, nearest
from .means import Padding, mean_of_call, means_over
from .watching.attach import Place, attached, is_compiled, network_of
from .watching.keeper import refuse_absent

Head = tuple[str, int]  # its site and its number
WAYS = ("zero", "mean")


@contextmanager
def ablate(
    model: object,
    heads: Iterable[Head],
    *,
    by: str = "zero",
    scale: float = 0.0,
    reference: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Inside the block, in this thread, these heads hand something else to the output projection.

    What a head makes of each token, its value, becomes `rest + scale · (value - rest)`. Weights
    stay what they are: what `watch` hears is what attention made before it was replaced. Blocks
    inside one another add up. After the block, and after an error, the model is as before. A site
    that never ran inside it is an error, since nothing was switched off there.

    Args:
        model: What `clearhead.load` returns, a network of ours, or a model of transformers.
        heads: Which: `[("decoder.3.self", 2), …]`.
        by: What `rest` is: `zero`, or `mean`, what the head hands on to the average token: of all
            examples and tokens of the same call but padding (so a decoder's first tokens get a
            share of later ones), or of a reference.
        scale: How much of the head is left.
        reference: Runs the model, once, before the block: the mean is over all its tokens.
    """
    network = able(model)
    with attached(network) as place:
        off = switched(place, heads, by=by, scale=scale, reference=reference)
        with changing(off.change):
            yield
        off.refuse_idle()


@dataclass
class Off:
    """Replaces what chosen heads hand on.

    Args:
        heads: Of each site, which.
        sites: The site of each module, by its id.
        rest: What is left of a head, [heads, width] by site; the mean of each call when None.
    """

    heads: Mapping[str, list[int]]
    sites: Mapping[int, str]
    scale: float
    rest: Mapping[str, Tensor] | None
    padding: Padding = field(default_factory=Padding)
    ran: set[str] = field(default_factory=set)

    def change(self, told: Announcement) -> Tensor:
        """The values of this call with those of chosen heads replaced."""
        values_BHTE = told.attended.values_BHTE
        site = self.sites.get(id(told.module))
        if site is None:
            return values_BHTE
        real_BT = self.padding.real(told) if self.rest is None else None
        heads = self.heads.get(site)
        if heads is None:
            return values_BHTE
        refuse_absent(site, heads, values_BHTE.shape[1])
        self.ran.add(site)
        index = torch.tensor(heads, device=values_BHTE.device)
        own_BHTE = values_BHTE[:, index]
        rest_HE = self._rest(site, values_BHTE, real_BT)[index].to(values_BHTE)
        return values_BHTE.index_copy(1, index, between(rest_HE, own_BHTE, self.scale))

    def _rest(self, site: str, values_BHTE: Tensor, real_BT: Tensor | None) -> Tensor:
        if self.rest is None:
            return mean_of_call(site, values_BHTE, real_BT)
        if site in self.rest:
            return self.rest[site]
        _, heads, _, width = values_BHTE.shape
        return values_BHTE.new_zeros(heads, width)

    def refuse_idle(self) -> None:
        """Refuse to have had no effect."""
        idle = [site for site in self.heads if site not in self.ran]
        if idle:
            raise CannotError(
                f"{idle[0]} did not run while its heads were switched off, so nothing changed "
                "there: the model was not run in the block, or ran compiled, in another thread, or "
                "as a CUDA graph. Run the whole model, as it is, inside the block."
            )


def between(
    rest_HE: Float[Tensor, "h e"], values_BHTE: Float[Tensor, "b h t e"], scale: float
) -> Float[Tensor, "b h t e"]:
    """`rest + scale · (values - rest)`; nothing of the values at 0, their very bits at 1."""
    rest_H1E = rest_HE[:, None]
    if scale == 0:  # also where a value is infinite
        return rest_H1E.expand_as(values_BHTE)
    return torch.lerp(rest_H1E, values_BHTE, scale)


def switched(
    place: Place,
    heads: Iterable[Head],
    *,
    by: str,
    scale: float,
    reference: Callable[[], object] | None,
) -> Off:
    """What does the switching, checked."""
    chosen = by_site(place, heads)
    sites = {id(module): site for site, module in place.modules.items()}
    return Off(chosen, sites, scale, rest_of(sites, chosen, by=by, reference=reference))


def rest_of(
    sites: Mapping[int, str],
    chosen: Iterable[str],
    *,
    by: str,
    reference: Callable[[], object] | None,
) -> Mapping[str, Tensor] | None:
    """What replaces a head, by site: zeros where there is none; None for the mean of each call."""
    if by not in WAYS:
        raise ConfigError(
            f"by={by!r} is no way to switch a head off.{nearest(by, WAYS)} Give 'zero' or 'mean'."
        )
    if by == "zero" and reference is not None:
        raise ConfigError(
            "A reference has no effect on by='zero': give by='mean', or leave it out."
        )
    if by == "zero":
        return {}
    if reference is None:
        return None
    means = means_over(reference, sites)
    silent = [site for site in chosen if site not in means]
    if silent:
        raise CannotError(
            f"{silent[0]} did not run in the reference, so there is no mean of its heads. Let "
            "reference=… run the whole model, in this thread."
        )
    return means


def by_site(place: Place, heads: Iterable[Head]) -> dict[str, list[int]]:
    """The heads of each site, in order, each once; what is no head is refused."""
    given = list(heads)
    for head in given:
        if not (
            isinstance(head, tuple | list)
            and [type(part) for part in head] == [str, int]  # a truth value is no number
        ):
            raise ConfigError(
                f"{head!r} is no head: give its site and its number, as in ('decoder.3.self', 2)."
            )
    if not given:
        raise ConfigError(
            "No heads were given, so nothing would be switched off: give some, as in "
            "[('decoder.3.self', 2)]."
        )
    place.refuse_unknown(site for site, _ in given)
    found: dict[str, set[int]] = {}
    for site, number in given:
        found.setdefault(site, set()).add(number)
    return {site: sorted(numbers) for site, numbers in found.items()}


def able(model: object) -> nn.Module:
    """The network behind a model, or a refusal where it could not be changed."""
    network = network_of(model)
    if is_compiled(network):
        raise CannotError(
            "This model is compiled, and what runs inside a compiled model cannot be changed from "
            "outside. Give the one it was compiled from: model._orig_mod."
        )
    return network
