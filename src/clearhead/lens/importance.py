"""How much each head matters to a number: what becomes of it when the head is switched off."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from ..attention import Announcement, changing, unheard, watching
from ..foundation.errors import ConfigError, InputError
from ..foundation.log import log
from .ablate import Head, Off, able, by_site, rest_of
from .watching.attach import Place, attached
from .watching.keeper import refuse_absent

Metric = Callable[[], object]


@dataclass(frozen=True)
class Change:
    """What a number becomes without one head, minus what it is with all."""

    site: str
    head: int
    change: float


@dataclass(frozen=True)
class Importance:
    """A number with all heads on, and what each head changes about it, the largest change first."""

    base: float
    heads: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.heads)

    def __getitem__(self, head: Head) -> float:
        """The change that one head makes, by its site and number."""
        for each in self.heads:
            if (each.site, each.head) == tuple(head):
                return each.change
        raise InputError(
            f"{head!r} is not among the {len(self.heads)} heads that were switched off: give the "
            "site and number of one of them."
        )


def importance(
    model: object,
    metric: Metric,
    *,
    heads: Iterable[Head] | None = None,
    sites: Sequence[str] | None = None,
    by: str = "zero",
    scale: float = 0.0,
    reference: Callable[[], object] | None = None,
) -> Importance:
    """Switch heads off one at a time, each alone, and see what becomes of a number.

    The metric runs once with all heads on and once for each head. Who watches hears none of it.

    Args:
        model: What `clearhead.load` returns, a network of ours, or a model of transformers.
        metric: Runs the model and returns a number, the same each time.
        heads: These only: `[("decoder.3.self", 2), …]`.
        sites: All heads of these only. Without either, all heads that the metric runs.
        by, scale, reference: As for `clearhead.ablate`.
    """
    network = able(model)
    if heads is not None and sites is not None:
        raise ConfigError(
            "Heads and sites were both given, and either says which heads: leave one out."
        )
    if network.training:
        log("lens").warning(
            "The model is training: where it drops values at random, changes are chance. "
            "model.eval() stops that."
        )
    with attached(network) as place, unheard():
        names = {id(module): site for site, module in place.modules.items()}
        place.refuse_unknown(sites or ())
        wanted = None if heads is None else by_site(place, heads)
        base, counts = counted(metric, names)
        chosen = wanted or every(place, sites, counts)
        for site, numbers in chosen.items():
            refuse_silent(site, counts)
            refuse_absent(site, numbers, counts[site])
        rest = rest_of(names, chosen, by=by, reference=reference)
        found = []
        for site, head in ((site, head) for site, numbers in chosen.items() for head in numbers):
            with changing(Off({site: [head]}, names, scale, rest).change):
                found.append(Change(site, head, number_of(metric) - base))
    return Importance(base, tuple(sorted(found, key=_small)))


def _small(each: Change) -> float:
    """What to sort by: a change that is no number stands first."""
    return -abs(each.change) if each.change == each.change else -float("inf")


def every(
    place: Place, sites: Sequence[str] | None, counts: Mapping[str, int]
) -> dict[str, list[int]]:
    """All heads of these sites, or of all that ran, in the order of the model."""
    ran = [site for site in place.modules if site in counts]
    chosen = ran if sites is None else list(sites)
    if not chosen:
        raise InputError(
            "There is no head to switch off: the list of sites is empty, or the metric ran no "
            "attention of this model in this thread. Give a function that runs the model and "
            "returns a number."
        )
    return {site: list(range(counts.get(site, 0))) for site in chosen}


def counted(metric: Metric, sites: Mapping[int, str]) -> tuple[float, dict[str, int]]:
    """The metric with all heads on, and how many heads each site has that it ran."""
    counts: dict[str, int] = {}

    def hear(told: Announcement) -> None:
        site = sites.get(id(told.module))
        if site is not None:
            counts[site] = told.request.q_BHTD.shape[1]

    with watching(hear):
        return number_of(metric), counts


def refuse_silent(site: str, counts: Mapping[str, int]) -> None:
    """Refuse a site that the metric does not run."""
    if site not in counts:
        raise InputError(
            f"The metric does not run {site}, so its heads change nothing about it: leave it out. "
            f"It runs {', '.join(counts) or 'no attention of this model'}."
        )


def number_of(metric: Metric) -> float:
    """What the metric returns, as a number."""
    found = metric()
    if isinstance(found, Tensor) and found.numel() == 1:
        return float(found.detach())
    if isinstance(found, int | float):
        return float(found)
    told = f"a tensor of {list(found.shape)}" if isinstance(found, Tensor) else repr(found)
    raise InputError(
        f"The metric returned {told} and not a number: let it return one, such as a loss or a "
        "log-probability."
    )
