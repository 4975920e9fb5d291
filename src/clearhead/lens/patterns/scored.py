"""How much each head of a site shows each pattern: the mean over the queries that can show it.

A query can show a pattern when it is no padding, may see the keys that make the pattern, and sees
at least twice as many: looking where there is nowhere else to look says nothing about a head.
Each key costs one product a query, and everything else comes from summaries that are there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ..look import Look
from ..questions.padding import onlookers
from ..questions.scores import may_see
from ..questions.source import Source
from .repeats import places_before

ROOM = 2  # how many times the keys of a pattern a query must see
FEWEST = 4  # fewer queries than these are no evidence
NEAR = 2  # how many tokens to either side are near
REPEATS = 8  # a token that came up more often says little about where it was
TWO_TEXTS = "in cross-attention a query and a key stand in different texts"
ONE_TEXT = "only in cross-attention do places of two texts correspond"
NO_IDS = "the ids of its keys are not known; patterns(ids=…) takes them"

# What one number a head is, or why there is none.
Score = Float[Tensor, " h"] | str


@dataclass(frozen=True)
class Asked:
    """One site, with the ids of its keys where they are known."""

    look: Look
    ids_BS: Int[Tensor, "b s"] | None

    @property
    def source(self) -> Source:
        """Its queries and keys."""
        return self.look.source

    @property
    def across(self) -> bool:
        """Whether its queries and keys stand in different texts."""
        _, _, queries, keys = self.source.sizes
        return self.look.site.endswith("cross") or queries > keys

    @cached_property
    def real_BT(self) -> Bool[Tensor, "b t"]:
        """The queries that are no padding."""
        real_BT = self.source.real_BT
        return torch.ones_like(self.source.blind_BT) if real_BT is None else real_BT

    @cached_property
    def counted_BT(self) -> Bool[Tensor, "b t"]:
        """The queries that are no padding and have a choice."""
        return self.real_BT & (self.source.count_BT >= ROOM)

    @cached_property
    def own_BT(self) -> Int[Tensor, "b t"]:
        """The key of each query's own token."""
        batch, _, queries, keys = self.source.sizes
        own_T = torch.arange(keys - queries, keys, device=self.source.device)
        return own_T.expand(batch, queries)

    def on(self, keys: list[Tensor], judged_BT: Tensor | None = None) -> Score:
        """The mean weight on these keys together, over the queries that can show it."""
        seen_BT = torch.zeros_like(self.source.count_BT)
        total_BHT = torch.zeros(
            self.source.sizes[:3], dtype=self.source.wide, device=self.source.device
        )
        for keys_BT in keys:
            seen_BT = seen_BT + may_see(self.source, keys_BT)
            total_BHT += self.look.weight_on(keys_BT)
        can_BT = self.counted_BT & (seen_BT > 0) & (self.source.count_BT >= ROOM * seen_BT)
        return mean(total_BHT, can_BT if judged_BT is None else can_BT & judged_BT)


def mean(values_BHT: Tensor, judged_BT: Tensor) -> Score:
    """The mean over these queries of all examples, or a sentence that they are too few."""
    count = int(judged_BT.sum())
    if count < FEWEST:
        return too_few(count)
    return torch.where(judged_BT[:, None], values_BHT, 0.0).sum((0, 2)) / count


def too_few(count: int) -> str:
    """Why so many queries are no evidence."""
    return f"{count} of its queries can show it, and {FEWEST} are the fewest to go by"


def beside(asked: Asked, step: int) -> Score:
    """On the key so many tokens after the query's own."""
    return asked.on([asked.own_BT + step])


def first(asked: Asked) -> Score:
    """On the first token of the text, where it may be seen.

    A window's first key is another with each query: what is the first for two queries in a row
    is where a text begins.
    """
    first_BT = asked.source.first_seen_BT
    begins_BT = (first_BT + asked.source.request.first == 0) | asked.across
    same_BT = (first_BT[:, 1:] == first_BT[:, :-1]) & asked.real_BT[:, 1:] & asked.real_BT[:, :-1]
    begins_BT[:, 1:] |= same_BT
    begins_BT[:, :-1] |= same_BT
    return mean(asked.look.summaries.sink_BHT, asked.counted_BT & begins_BT)


def local(asked: Asked) -> Score:
    """On the keys at most `NEAR` tokens away, its own among them."""
    return asked.on([asked.own_BT + step for step in range(-NEAR, NEAR + 1)])


def duplicate(asked: Asked) -> Score:
    """On all earlier places of the query's token together, where they are not too many."""
    if asked.ids_BS is None:
        return NO_IDS
    queries = asked.source.sizes[2]
    places = list(places_before(asked.ids_BS, queries, REPEATS + 1))
    few_BT = torch.ones_like(asked.real_BT)
    if len(places) > REPEATS:
        few_BT = places.pop() < asked.source.first_seen_BT
    return asked.on(places, few_BT)


def induction(asked: Asked) -> Score:
    """On the token behind the last earlier place of the query's token (Olsson et al. 2022).

    Behind a token that follows itself stands the query itself, which is no looking back.
    """
    if asked.ids_BS is None:
        return NO_IDS
    queries = asked.source.sizes[2]
    for last_BT in places_before(asked.ids_BS, queries, 1):
        known_BT = may_see(asked.source, last_BT) & (last_BT + 1 < asked.own_BT)
        return asked.on([last_BT + 1], known_BT)
    return too_few(0)


def diagonal(asked: Asked) -> Score:
    """How close to the diagonal its mean place runs: 1 on it, 0 as far off as always the middle."""
    found, source = asked.look.summaries, asked.source
    judged_BT = asked.counted_BT
    way_BT = judged_BT.cumsum(1) - 1
    last_B1 = judged_BT.sum(1, keepdim=True) - 1
    judged_BT = judged_BT & (last_B1 > 0)
    along_BT = way_BT / last_B1.clamp(min=1)
    mass_BHT = found.mass_BHT.clamp(min=1e-6)
    key_BHT = asked.own_BT[:, None] - found.signed_BHT / mass_BHT
    first_B1T, count_B1T = source.first_seen_BT[:, None], source.count_BT[:, None]
    place_BHT = (key_BHT - first_B1T) / (count_B1T - 1).clamp(min=1)
    off = mean((place_BHT - along_BT[:, None]).abs(), judged_BT)
    middle = mean((0.5 - along_BT[:, None]).abs(), judged_BT)
    return off if isinstance(off, str) or isinstance(middle, str) else 1 - off / middle


def stripe(asked: Asked) -> Score:
    """What the key that gets most gets, on average, of the queries that may see it.

    Only keys count that at least half of an example's queries may see: the last token of a text
    has its only look from itself.
    """
    source, found = asked.source, asked.look.summaries
    counts_B = asked.counted_BT.sum(1)
    count = int(counts_B.sum())
    if count < FEWEST:
        return too_few(count)
    alone_BT = asked.real_BT & (source.count_BT == 1)
    received_BHS = found.received_BHS.scatter_add(
        2,
        source.first_seen_BT[:, None].expand_as(found.mass_BHT),
        -found.mass_BHT * alone_BT[:, None],
    )
    if source.weighs_all_BT is not None:
        blind_B = (source.weighs_all_BT & asked.real_BT).sum(1)
        received_BHS = received_BHS - (blind_B / source.sizes[3])[:, None, None]
    seers_BS = onlookers(source, asked.counted_BT)
    often_BS = (seers_BS > 0) & (2 * seers_BS >= counts_B[:, None])
    share_BHS = (received_BHS / seers_BS.clamp(min=1)[:, None]) * often_BS[:, None]
    return (share_BHS.amax(-1) * counts_B[:, None]).sum(0) / count


def broad(asked: Asked) -> Score:
    """How near its entropy is to that of looking at everything alike."""
    found = asked.look.summaries
    # What a learned sink took is no looking: the rest is taken as the whole.
    mass_BHT = found.mass_BHT.clamp(min=1e-6)
    entropy_BHT = found.entropy_BHT / mass_BHT + mass_BHT.log()
    most_BT = asked.source.count_BT.clamp(min=ROOM).log()
    return mean(entropy_BHT / most_BT[:, None], asked.counted_BT)


SCORES: Mapping[str, Callable[[Asked], Score]] = {
    "previous": lambda asked: beside(asked, -1),
    "next": lambda asked: beside(asked, 1),
    "self": lambda asked: beside(asked, 0),
    "first": first,
    "local": local,
    "induction": induction,
    "duplicate": duplicate,
    "diagonal": diagonal,
    "stripe": stripe,
    "broad": broad,
}
OF_ONE_TEXT = frozenset({"previous", "next", "self", "local", "induction", "duplicate"})


def scored(look: Look, ids_BS: Tensor | None) -> dict[str, Score]:
    """Every pattern of a site: a number from 0 to 1 for each head, or why there is none."""
    asked = Asked(look, ids_BS)
    found: dict[str, Score] = {}
    for name, score in SCORES.items():
        if asked.across and name in OF_ONE_TEXT:
            found[name] = TWO_TEXTS
        elif not asked.across and name == "diagonal":
            found[name] = ONE_TEXT
        else:
            told = score(asked)
            found[name] = told if isinstance(told, str) else told.clamp(0.0, 1.0)
    return found
