"""What was seen while a model was watched."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch import Tensor, nn

from ..foundation.errors import CannotError, InputError, nearest
from ..traces import Trace
from .flow import Flow, integrated_gradients, relevance, rollout
from .flow.layers import layers_of
from .flow.run_once import Target
from .importance import Importance, importance
from .look import Look
from .output import projection_of
from .patterns import Patterns
from .patterns.found import SIDES, Ids, fitting, found, ids_by_side, side_of
from .questions.padding import real_queries
from .questions.source import Source
from .recorded import recorded
from .summed import Summed
from .watching.fed import joined_ids
from .watching.keeper import Keeper, Kept, Run
from .watching.pieces import joined
from .watching.ways import not_ended, rows_by_step, tallies_along, ways_of

NO_LABELS: Mapping[str, Sequence[str]] = MappingProxyType({})
NO_FACTS: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True)
class Extent:
    """How large one attention is, and which kernel ran it."""

    heads: int
    queries: int
    keys: int
    kernel: str


@dataclass
class Seen:
    """What was seen while a model was watched: its last run, and those before it.

    `without` names the layers that have no attention matrix at all.
    """

    keeper: Keeper
    modules: Mapping[str, nn.Module]
    network: nn.Module
    without: tuple[str, ...] = ()
    run: int = -1
    _looks: dict[str, tuple[object, Look]] = field(default_factory=dict, repr=False)

    @property
    def runs(self) -> list["Seen"]:
        """Every run by itself: one forward pass, or a prompt and the steps that followed it."""
        count = len(self.keeper.runs)
        return [replace(self, run=number, _looks={}) for number in range(count)]

    @property
    def sites(self) -> Mapping[str, Extent]:
        """Every attention that was heard, in the order of the model."""
        heard = self._run().sites
        return {
            site: Extent(kept.heads, kept.queries, kept.keys, kept.kernel)
            for site, kept in heard.items()
        }

    def __getitem__(self, site: str) -> Look | Summed:
        """One attention and everything it can be asked; by name, as in `sites`."""
        kept = self._kept(site)
        if kept.tallies:
            tallies = tallies_along(self._run(), kept)
            return Summed(site, tallies, self.keeper.wanted.statistics)
        return self.look(site)

    def look(self, site: str) -> Look:
        """One attention of which queries and keys were kept."""
        run, kept = self._run(), self._kept(site)
        so_far = (id(run), kept.heard, run.returned is None)  # more may be heard after a question
        if site not in self._looks or self._looks[site][0] != so_far:
            look = Look(self.source(site), partial(self._projection, site))
            self._looks[site] = (so_far, look)
        return self._looks[site][1]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sites)

    def source(self, site: str) -> Source:
        """One attention as questions are asked of it: every query and every key."""
        run, kept = self._run(), self._kept(site)
        if not kept.pieces:
            raise CannotError(
                f"Of {site} only statistics were kept, and this needs its queries and keys. Watch "
                "with keep='exact'."
            )
        ways = ways_of(run, kept)
        rows = None if ways is None else rows_by_step(kept.pieces, ways)
        source = joined(site, kept.pieces, rows)
        real_BT = self._real(source, run)
        if ways is not None:
            written_BT = not_ended(kept.pieces, ways).to(source.device)
            real_BT = written_BT if real_BT is None else real_BT & written_BT
        return replace(source, real_BT=None if real_BT is None or real_BT.all() else real_BT)

    def ids(self, site: str) -> Tensor | None:
        """The ids of the keys of self-attention, [B, S]; None where not each is known."""
        look, run, kept = self.look(site), self._run(), self._kept(site)
        told: Tensor | None = None
        if site.endswith("cross"):
            return None
        if self.keeper.two_sided and side_of(site) == "encoder":
            told = run.source
        elif self.keeper.two_sided or {each.split(".")[0] for each in self.sites} < SIDES:
            ways = ways_of(run, kept)
            rows = None if ways is None else rows_by_step(kept.pieces, ways)
            told = joined_ids(run.beams.fed, kept.pieces, rows)
        batch, _, _, keys = look.shape
        fits = told is not None and tuple(told.shape) == (batch, keys)
        return told.to(look.source.device) if told is not None and fits else None

    def patterns(
        self,
        *,
        sites: Sequence[str] | None = None,
        ids: Ids | Mapping[str, Ids] | None = None,
    ) -> Patterns:
        """What every head does: scored for every known pattern, and called by one.

        Args:
            sites: These only; all of which queries and keys were kept when left out.
            ids: The ids of the keys, which tell repeated tokens; of a model with two sides
                `{"encoder": …, "decoder": …}`. What the model was fed when left out.
        """
        sites = self._whole() if sites is None else sites
        looks = [self.look(site) for site in sites]
        given = {} if ids is None else ids_by_side(ids, sites)

        def ids_of(look: Look) -> Tensor | None:
            side = side_of(look.site)
            if side in given and not look.site.endswith("cross"):
                return fitting(given[side], look)
            return self.ids(look.site)

        return found(((look, ids_of(look)) for look in looks), self.keeper.wanted.heads)

    def trace(
        self,
        *,
        sites: Sequence[str] | None = None,
        size: int = 64,
        top: int = 4,
        exact: bool = False,
        labels: Mapping[str, Sequence[str]] = NO_LABELS,
        about: Mapping[str, object] = NO_FACTS,
    ) -> Trace:
        """Everything that was seen, as a trace, which opens and draws without torch or a model.

        Args:
            sites: These only; all of which queries and keys were kept when left out.
            size: Blocks a side of each head's map.
            top: How many of the strongest keys of each query.
            exact: Also the queries, the keys and the lse, for any weight to be worked out later.
            labels: What the tokens are called: `{"encoder token": […], "decoder token": […]}`.
            about: Whatever is worth knowing: the model, the text.
        """
        chosen = self._whole() if sites is None else list(sites)
        looks = {site: self.look(site) for site in chosen}
        kernels = {site: extent.kernel for site, extent in self.sites.items()}
        facts = {**about, "without": list(self.without)} if self.without else about
        return recorded(
            looks,
            kernels,
            patterns=self.patterns(sites=chosen),
            size=size,
            top=top,
            exact=exact,
            labels=labels,
            about=facts,
        )

    def save(self, path: str | Path, **settings: Any) -> None:
        """Write the trace into one file; settings as for `trace`."""
        self.trace(**settings).save(path)

    def importance(self, metric: Callable[[], object], **settings: Any) -> Importance:
        """What each head changes about a number; settings as for `clearhead.importance`."""
        return importance(self.network, metric, **settings)

    def rollout(self, to: int | Sequence[int] = -1, *, side: str | None = None) -> Flow:
        """How much of one position's attention goes back to each token (Abnar & Zuidema 2020).

        Args:
            to: The position, or one for each example; below 0 counted from the last that is no
                padding.
            side: Where it is; where the model writes when left out.
        """
        if self.keeper.wanted.heads is not None:
            raise CannotError(
                "A rollout takes the mean of all heads, and only some were watched: leave heads=… "
                "out."
            )
        return rollout(layers_of(tuple(self.modules), self.look, side, self.without), to)

    def relevance(self, target: Target, **settings: Any) -> Flow:
        """How each token bears on a number; settings as for `clearhead.lens.relevance`."""
        return relevance(self.network, target, **settings)

    def integrated_gradients(self, target: Target, **settings: Any) -> Flow:
        """The same asked another way; settings as for `clearhead.lens.integrated_gradients`."""
        return integrated_gradients(self.network, target, **settings)

    def _run(self) -> Run:
        if not self.keeper.runs:
            raise CannotError(
                "Nothing was seen: the model was not run inside the block, or what ran was a CUDA "
                "graph, which cannot tell. Call the model inside `with clearhead.watch(model)`."
            )
        return self.keeper.runs[self.run]

    def _whole(self) -> list[str]:
        """The sites of which queries and keys were kept; where there are none, all that ran."""
        heard = self._run().sites
        return [site for site, kept in heard.items() if kept.pieces] or list(heard)

    def _projection(self, site: str) -> Tensor:
        return projection_of(
            self.network, self.modules[site], self._kept(site).heads, self.keeper.wanted.heads
        )

    def _kept(self, site: str) -> Kept:
        heard = self._run().sites
        if site not in heard:
            if site in self.modules:
                raise CannotError(
                    f"{site} is in the model and was not heard: it did not run, or runs past the "
                    "table of attentions. Run the whole model; for transformers, with 'sdpa'."
                )
            raise InputError(
                f"There is no attention {site!r}.{nearest(site, self.modules)} There are: "
                f"{', '.join(heard)}."
            )
        kept = heard[site]
        if not kept.pieces and not kept.tallies:
            raise CannotError(
                f"Of {site} neither queries nor keys were kept. Watch with keep='exact', and with "
                "this site among sites=…, to ask this."
            )
        return kept

    def _real(self, source: Source, run: Run) -> Tensor | None:
        """Which queries are no padding: those whose own key anybody may see."""
        if not source.site.endswith("cross"):
            return real_queries(source)
        own = source.site.removesuffix("cross") + "self"
        if own not in run.sites or not run.sites[own].pieces:
            return None
        beside = self.look(own).source
        return beside.real_BT if beside.sizes[2] == source.sizes[2] else None
