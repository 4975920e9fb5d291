"""The patterns heads are known by, when a head is called by one, and what comes back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...foundation.errors import ConfigError, nearest

MIXED = "mixed"


@dataclass(frozen=True)
class Pattern:
    """A pattern, from which score on a head is called by it, and why from there."""

    name: str
    enough: float
    reason: str


# In this order: a head is called by the first pattern of which it shows enough. Those that say
# more come first: a head on the previous token is also local.
PATTERNS = (
    Pattern("previous", 0.5, "more than all other keys together"),
    Pattern("next", 0.5, "more than all other keys together"),
    Pattern("self", 0.5, "more than all other keys together"),
    Pattern("induction", 0.4, "one key of many; the rest mostly waits on the first token"),
    Pattern("duplicate", 0.4, "a few keys of many; the rest mostly waits on the first token"),
    Pattern("diagonal", 0.6, "word order differs: languages cross the diagonal and come back"),
    Pattern("first", 0.5, "more than all other keys together"),
    Pattern("stripe", 0.5, "more than all other keys together, from an average query"),
    Pattern("local", 0.7, "five keys of as few as ten: half is what looking everywhere gives"),
    Pattern("broad", 0.85, "as even as over two thirds of a dozen keys, a third of a thousand"),
)


@dataclass(frozen=True)
class HeadPattern:
    """One head by name. `scores` has every pattern, from 0 to 1; None where it cannot be judged.

    `score` is that of the name; None for a head that is mixed, which shows no pattern enough.
    """

    site: str
    head: int
    name: str
    score: float | None
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class Patterns:
    """Every head by name, in the order of the model. Prints as a table.

    `unjudged` says for each site which patterns cannot be judged there, and why.
    """

    heads: tuple[HeadPattern, ...]
    unjudged: Mapping[str, Mapping[str, str]]

    def __iter__(self) -> Iterator[HeadPattern]:
        return iter(self.heads)

    def __len__(self) -> int:
        return len(self.heads)

    def __getitem__(self, number: int) -> HeadPattern:
        return self.heads[number]

    def named(self, name: str) -> list[HeadPattern]:
        """The heads of this name, the clearest first."""
        known = [*(pattern.name for pattern in PATTERNS), MIXED]
        if name not in known:
            raise ConfigError(
                f"There is no pattern {name!r}.{nearest(name, known)} There are: "
                f"{', '.join(known)}."
            )
        return sorted(
            (head for head in self.heads if head.name == name), key=lambda head: -(head.score or 0)
        )

    def of(self, site: str) -> list[HeadPattern]:
        """The heads of one site."""
        if site not in self.unjudged:
            raise ConfigError(
                f"There is no attention {site!r} here.{nearest(site, self.unjudged)} There are: "
                f"{', '.join(self.unjudged) or 'none'}."
            )
        return [head for head in self.heads if head.site == site]

    def __str__(self) -> str:
        names = [pattern.name for pattern in PATTERNS]
        rows = [["site", "head", "name", *names]]
        for head in self.heads:
            scores = (head.scores[name] for name in names)
            cells = ("–" if score is None else f"{score:.2f}" for score in scores)
            rows.append([head.site, str(head.head), head.name, *cells])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if place in (0, 2) else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join([*(line.rstrip() for line in lines), *self._reasons()])

    def _reasons(self) -> list[str]:
        """Why there is a dash, once for all sites it is the same for."""
        sites: dict[tuple[str, str], list[str]] = {}
        for site, reasons in self.unjudged.items():
            for name, reason in reasons.items():
                sites.setdefault((name, reason), []).append(site)
        return [
            f"– {name}: {reason} ({of[0]}{f' and {len(of) - 1} more' if len(of) > 1 else ''})"
            for (name, reason), of in sites.items()
        ]


def name_of(scores: Mapping[str, float | None]) -> tuple[str, float | None]:
    """What a head of these scores is called, and the score of it."""
    for pattern in PATTERNS:
        score = scores[pattern.name]
        if score is not None and score >= pattern.enough:
            return pattern.name, score
    return MIXED, None
