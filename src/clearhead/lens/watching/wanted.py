"""What to keep of a watched model, checked at the door."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index

from ...foundation.errors import ConfigError, nearest
from .attach import Place

STATISTICS = frozenset({"received", "entropy", "peak", "distance", "sink", "map", "top"})
ALONE = ("exact", "summaries")
TOP = 8
Keep = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to keep: of which sites and heads, all of it or which statistics, and where.

    Args:
        sites: None for all.
        heads: None for all.
        exact: Keep q, k, v and lse; otherwise only `statistics` are worked out and kept.
    """

    sites: frozenset[str] | None
    heads: tuple[int, ...] | None
    exact: bool
    statistics: frozenset[str]
    top: int
    on: str

    @property
    def nothing(self) -> bool:
        """Whether only the sites themselves are of interest."""
        return not self.exact and not self.statistics

    @property
    def savings(self) -> tuple[str, ...]:
        """What would keep less, keep it elsewhere, or let more be kept."""
        statistics = "fewer statistics (keep=(…) with their names)"
        less = "only statistics (keep='summaries')" if self.exact else statistics
        elsewhere = ("keep on the host (on='host')",) if self.on == "device" else ()
        fewer = "watch fewer sites or heads (sites=…, heads=…)"
        return (fewer, f"keep {less}", *elsewhere, "allow more (budget=bytes)")


def wanted_of(
    keep: Keep,
    place: Place,
    *,
    sites: Sequence[str] | None,
    heads: Sequence[int] | None,
    top: int | None,
    on: str,
) -> Wanted:
    """What to keep, or an error that says which setting cannot be."""
    statistics = statistics_of(keep)
    if on not in ("device", "host"):
        raise ConfigError(f"on={on!r} is no place to keep things: give 'device' or 'host'.")
    return Wanted(
        sites=None if sites is None else sites_of(sites, place),
        heads=None if heads is None else heads_of(heads),
        exact=keep == "exact",
        statistics=statistics,
        top=top_of(top, statistics),
        on=on,
    )


def statistics_of(keep: Keep) -> frozenset[str]:
    """The statistics to work out inside each call; none where everything is kept."""
    if keep == "exact":
        return frozenset()
    if keep == "summaries":
        return STATISTICS - {"top"}
    named = named_by(keep, "keep", "keep='exact', keep='summaries' or keep=('entropy', 'peak')")
    together = next((name for name in ALONE if name in named), None)
    if together is not None:
        raise ConfigError(
            f"keep={keep!r} has {together!r} in a list, and {together!r} stands alone: give "
            f"keep={together!r}, or names of statistics and nothing else."
        )
    unknown = sorted(set(named) - STATISTICS)
    if unknown:
        raise ConfigError(
            f"There is no {unknown[0]!r} to keep.{nearest(unknown[0], (*ALONE, *STATISTICS))} Give "
            f"'exact', 'summaries', or some of: {', '.join(sorted(STATISTICS))}."
        )
    return frozenset(named)


def named_by(given: object, what: str, example: str) -> list[str]:
    """The names in a setting that takes names."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise ConfigError(f"{what}={given!r} names nothing: give {example}.")
    found = list(names)
    wrong = next((name for name in found if not isinstance(name, str)), None)
    if wrong is not None:
        raise ConfigError(f"{what} has {wrong!r} in it, which is no name: give {example}.")
    return found


def sites_of(sites: Sequence[str], place: Place) -> frozenset[str]:
    """The sites, each of them there."""
    example = f"a list of names, sites=[{next(iter(place.modules), 'encoder.0.self')!r}]"
    if isinstance(sites, str):
        raise ConfigError(f"sites={sites!r} is one name and no list: give sites=[{sites!r}].")
    named = named_by(sites, "sites", example)
    place.refuse_unknown(named)
    return frozenset(named)


def heads_of(heads: Sequence[int]) -> tuple[int, ...]:
    """The numbers of heads; whether a site has as many is known when it is heard."""
    example = "give the numbers of heads, from 0, each once: heads=[0, 3]"
    try:
        numbers = tuple(index(head) for head in heads)
    except TypeError as error:
        raise ConfigError(f"heads={heads!r} is no list of whole numbers: {example}.") from error
    if not numbers:
        raise ConfigError(f"heads={heads!r} keeps no head at all: {example}, or leave it out.")
    if min(numbers) < 0 or len(set(numbers)) < len(numbers):
        wrong = "a number below 0" if min(numbers) < 0 else "a head twice"
        raise ConfigError(f"heads={heads!r} has {wrong}: {example}.")
    return numbers


def top_of(top: int | None, statistics: frozenset[str]) -> int:
    """How many of the strongest keys to keep."""
    if top is None:
        return TOP
    if "top" not in statistics:
        raise ConfigError(
            f"top={top!r} has no effect where the strongest keys are not among what is kept: leave "
            "it out, or name them, keep=('top', …). With keep='exact' any number is answered later."
        )
    if not isinstance(top, int) or top < 1:
        raise ConfigError(f"top={top!r} keeps no key: give a whole number from 1.")
    return top
