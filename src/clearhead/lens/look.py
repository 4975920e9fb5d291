"""One attention, looked at: every question that can be asked of one site."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torch import Tensor

from ..foundation.errors import CannotError, InputError
from .questions import ask
from .questions.answers import Answer, Distances, Kind, Lse, Map, Origin, TopKeys
from .questions.cells import exact
from .questions.collectors import Blocks
from .questions.norms import Norms
from .questions.places import Places, numbers, places
from .questions.source import Source
from .questions.summaries import Rows, Summaries

ROWS = ("batch", "head", "query")


@dataclass(frozen=True)
class Look:
    """Everything one site can be asked. Answers are exact, or say what they leave out.

    Args:
        projection: The part of the output projection that belongs to each head, where it is known.
    """

    source: Source
    projection: Callable[[], Tensor] | None = None

    @property
    def site(self) -> str:
        """Which attention this is."""
        return self.source.site

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, heads, queries, keys."""
        return self.source.sizes

    def weights(
        self,
        rows: Places = None,
        columns: Places = None,
        heads: Sequence[int] | int | None = None,
    ) -> Answer:
        """Exact cells, and only those: [batch, heads, rows, columns]."""
        _, count, queries, keys = self.source.sizes
        part = places(rows, queries, "queries")
        across = places(columns, keys, "keys")
        chosen = range(count) if heads is None else numbers(heads, count, "head")
        shared = count // self.source.request.k_BGSD.shape[1]
        groups = sorted({head // shared for head in chosen})
        span = slice(groups[0], groups[-1] + 1)
        of = slice(span.start * shared, span.stop * shared)
        known = self.rows if "_passed" in self.__dict__ else None
        found, lse = exact(self.source, known, rows=part, columns=across, groups=span)
        if list(chosen) != list(range(of.start, of.stop)):
            found = found[:, [head - of.start for head in chosen]]
        inside = found.sum(-1)
        return Answer(
            values=found,
            axes=(*ROWS, "key"),
            origin=replace(self._origin("exact"), lse=lse.origin),
            mass_left_out=1 - inside,
        )

    def map(self, rows: Places = None, columns: Places = None, size: int = 128) -> Map:
        """Any region in at most `size` × `size` blocks: exact mean and maximum of each."""
        _, _, queries, keys = self.source.sizes
        part, across = places(rows, queries, "queries"), places(columns, keys, "keys")
        if size < 1:
            raise InputError(f"A map of {size} blocks shows nothing: ask for 1 or more.")
        blocks, mass_BHr = ask.region(self.source, self.rows, part=part, columns=across, size=size)
        return drawn(blocks, self._origin, 1 - mass_BHr)

    def top(self, count: int = 8) -> TopKeys:
        """Of every query its strongest keys, their weights, and the mass all others have."""
        keys = self.source.sizes[3]
        if not 1 <= count <= keys:
            raise InputError(
                f"{self.site} has {keys} keys and the top {count} were asked for: ask for 1 to "
                f"{keys}."
            )
        top = ask.top_keys(self.source, self.rows, count)
        weights = top.logs_BHTk.exp()
        return TopKeys(
            keys_BHTk=top.keys_BHTk,
            weights_BHTk=weights,
            mass_left_out=1 - weights.sum(-1),
            origin=self._origin("top-k"),
        )

    def received(self) -> Answer:
        """How much each key gets from all real queries together."""
        return self._answer(self.summaries.received_BHS, "key")

    def entropy(self) -> Answer:
        """Of each query −Σ P ln P, in nats: 0 looks at one key, ln n at n keys alike."""
        return self._answer(self.summaries.entropy_BHT)

    def peak(self) -> Answer:
        """Of each query its largest weight."""
        return self._answer(self.summaries.peak_BHT)

    def mass(self) -> Answer:
        """Of each query the sum of its weights: 1, less what a learned sink took."""
        return self._answer(self.summaries.mass_BHT)

    def distance(self) -> Distances:
        """Of each query how many tokens back it looks on average; and in either direction."""
        found = self.summaries
        origin = self._origin("exact")
        return Distances(
            signed_BHT=found.signed_BHT, absolute_BHT=found.absolute_BHT, origin=origin
        )

    def sink(self, keys: Sequence[int] | None = None) -> Answer:
        """Of each query its weight on the first key it may see, or on these keys together."""
        if keys is None:
            return self._answer(self.summaries.sink_BHT)
        chosen = numbers(keys, self.source.sizes[3], "key")
        return self._answer(ask.columns_mass(self.source, self.rows, chosen))

    def spans(self, spans: Mapping[str, tuple[int, int]]) -> Answer:
        """Of each query how much of its attention went to each span: [batch, head, query, span].

        A span is (first key, key behind the last).
        """
        keys = self.source.sizes[3]
        for name, (start, stop) in spans.items():
            if not 0 <= start <= stop <= keys:
                raise InputError(
                    f"The span {name!r} is {(start, stop)} and {self.site} has {keys} keys: give "
                    f"(first key, key behind the last), between 0 and {keys}."
                )
        cut = {name: slice(*span) for name, span in spans.items()}
        masses = ask.span_masses(self.source, self.rows, cut)
        return Answer(
            values=masses,
            axes=(*ROWS, "span"),
            origin=self._origin("exact"),
            mass_left_out=1 - masses.sum(-1),
        )

    def norms(self) -> Norms:
        """How long what each head takes from each key is, behind the output projection."""
        if self.projection is None:
            raise CannotError(
                f"The output projection of {self.site} is not known here, so no length can be "
                "told. Ask a model that was watched: seen[site].norms()."
            )
        projection_HEM = self.projection().to(self.source.device)
        return Norms(self.source, projection_HEM, self.weights, self.received)

    def weight_on(self, keys_BT: Tensor) -> Tensor:
        """Every query's weight on one key each, [batch, head, query]; 0 for a key below 0."""
        return ask.weight_of(self.source, self.rows, keys_BT)

    @cached_property
    def summaries(self) -> Summaries:
        """Every statistic that is one number a query or a key, from one pass."""
        return self._passed[0]

    @cached_property
    def _passed(self) -> tuple[Summaries, Rows]:
        return ask.summaries(self.source, ask.rows_of(self.source))

    @cached_property
    def rows(self) -> Rows:
        """The lse of every query, with which its weights add up."""
        return self._passed[1]

    @cached_property
    def _left_out(self) -> tuple[tuple[int, int], ...]:
        real = self.source.real_BT
        if real is None:
            return ()
        return tuple((int(b), int(t)) for b, t in (~real).nonzero().tolist())

    def _origin(self, kind: Kind) -> Origin:
        told: Lse = "announced" if self.source.lse_BHT is not None else "recomputed"
        lse = self._passed[1].origin if "_passed" in self.__dict__ else told
        return Origin(kind=kind, lse=lse, left_out=self._left_out)

    def _answer(self, values: Tensor, last: str = "query") -> Answer:
        return Answer(values=values, axes=(*ROWS[:2], last), origin=self._origin("exact"))


def drawn(blocks: Blocks, origin_of: Callable[[Kind], Origin], left_out: Tensor | float) -> Map:
    """Sums, logs and numbers as a map."""
    rows, columns = blocks.rows, blocks.columns
    cells = all(edges.count == edges.stop - edges.start for edges in (rows, columns))
    counts = blocks.counts[:, None].to(blocks.sums.dtype)
    return Map(
        mean_BHRC=blocks.sums / counts.clamp(min=1),
        maximum_BHRC=blocks.logs.exp(),
        count_BRC=blocks.counts,
        rows=tuple(rows.bounds()),
        columns=tuple(columns.bounds()),
        origin=origin_of("exact" if cells else "pooled"),
        mass_left_out=left_out,
    )
