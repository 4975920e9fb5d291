"""A site of which only statistics were kept: what was asked for is answered, the rest refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..foundation.errors import CannotError, InputError
from .look import drawn
from .questions.answers import Answer, Distances, Kind, Lse, Map, Origin, TopKeys
from .questions.collectors import Blocks
from .questions.edges import Edges
from .watching.tally import Tally

ROWS = ("batch", "head", "query")


@dataclass(frozen=True)
class Summed:
    """One attention, watched with `keep="summaries"` or the names of statistics.

    Answers as `Look` does, as far as they were kept.
    """

    site: str
    tallies: Sequence[Tally]
    statistics: frozenset[str]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Batch, heads, queries, keys."""
        batch, heads, _, _ = self.tallies[0].sizes
        keys = max(tally.shift + tally.sizes[3] for tally in self.tallies)
        return batch, heads, sum(tally.queries for tally in self.tallies), keys

    def received(self) -> Answer:
        """How much each key gets from all real queries together."""
        self._kept("received")
        parts = [pad(tally.numbers["received_BHS"], (tally.shift, 0)) for tally in self.tallies]
        longest = max(part.shape[-1] for part in parts)
        total = torch.stack([pad(part, (0, longest - part.shape[-1])) for part in parts]).sum(0)
        return Answer(values=total, axes=("batch", "head", "key"), origin=self._origin("exact"))

    def entropy(self) -> Answer:
        """Of each query −Σ P ln P, in nats."""
        return self._of_rows("entropy", "entropy_BHT")

    def peak(self) -> Answer:
        """Of each query its largest weight."""
        return self._of_rows("peak", "peak_BHT")

    def sink(self, keys: Sequence[int] | None = None) -> Answer:
        """Of each query its weight on the first key it may see."""
        if keys is not None:
            self._refuse("sink(keys)")
        return self._of_rows("sink", "sink_BHT")

    def distance(self) -> Distances:
        """Of each query how many tokens back it looks on average; and in either direction."""
        self._kept("distance")
        if self.site.endswith("cross") and len(self.tallies) > 1:
            # Distances count from the last query at the last key, which no step but the last knew.
            self._refuse("the distance in cross-attention over several decoding steps")
        origin = self._origin("exact")
        signed, absolute = self._joined("signed_BHT"), self._joined("absolute_BHT")
        return Distances(signed_BHT=signed, absolute_BHT=absolute, origin=origin)

    def map(self, rows: None = None, columns: None = None, size: int | None = None) -> Map:
        """The whole site in as many blocks as were kept."""
        self._kept("map")
        blocks = self.tallies[0].blocks
        if len(self.tallies) > 1 or rows is not None or columns is not None or blocks is None:
            self._refuse("a map of a region, or of several decoding steps,")
        if size is not None and not fits(blocks, size):
            self._refuse(f"a map of {size} blocks")
        return drawn(blocks, self._origin, 0.0)

    def top(self, count: int | None = None) -> TopKeys:
        """Of every query its strongest keys, as many as were kept."""
        self._kept("top")
        found = [(tally.top, tally.shift) for tally in self.tallies if tally.top is not None]
        most = found[0][0].count
        if count is not None and count < 1:
            raise InputError(
                f"The top {count} keys of {self.site} were asked for: ask for 1 to {most}."
            )
        if count is not None and count > most:
            self._refuse(f"the top {count}, where {most} were kept,")
        weights = torch.cat([top.logs_BHTk for top, _ in found], dim=2)[..., :count].exp()
        # Keys are counted from the first that was ever seen; one that is not there stays below 0.
        keys = [top.keys_BHTk + shift * (top.keys_BHTk >= 0) for top, shift in found]
        return TopKeys(
            keys_BHTk=torch.cat(keys, dim=2)[..., :count],
            weights_BHTk=weights,
            mass_left_out=1 - weights.sum(-1),
            origin=self._origin("top-k"),
        )

    def mass(self) -> NoReturn:
        """Refused: it is not among what can be kept."""
        self._refuse("mass")

    @property
    def rows(self) -> NoReturn:
        """Refused: the lse of every query is let go of with the queries."""
        self._refuse("rows")

    @property
    def summaries(self) -> NoReturn:
        """Refused: those that were kept are asked one by one."""
        self._refuse("summaries")

    def weight_on(self, keys_BT: Tensor) -> NoReturn:
        """Refused: single weights need queries and keys."""
        self._refuse("weight_on")

    def weights(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: cells need queries and keys."""
        self._refuse("weights")

    def norms(self) -> NoReturn:
        """Refused: lengths need values."""
        self._refuse("norms")

    def spans(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: spans need queries and keys."""
        self._refuse("spans")

    def _of_rows(self, name: str, of: str) -> Answer:
        self._kept(name)
        return Answer(values=self._joined(of), axes=ROWS, origin=self._origin("exact"))

    def _joined(self, name: str) -> Tensor:
        return torch.cat([tally.numbers[name] for tally in self.tallies], dim=2)

    def _kept(self, name: str) -> None:
        if name not in self.statistics:
            self._refuse(name)

    def _refuse(self, what: str) -> NoReturn:
        raise CannotError(
            f"{self.site} was watched with {', '.join(sorted(self.statistics))} alone, so {what} "
            "cannot be answered. Watch with keep='exact', or with keep=(…) naming it."
        )

    def _origin(self, kind: Kind) -> Origin:
        recomputed = any(tally.lse == "recomputed" for tally in self.tallies)
        out = [
            (int(b), int(t) + sum(other.queries for other in self.tallies[:number]))
            for number, tally in enumerate(self.tallies)
            if tally.padded_BT is not None
            for b, t in tally.padded_BT.nonzero().tolist()
        ]
        lse: Lse = "recomputed" if recomputed else "announced"
        return Origin(kind=kind, lse=lse, left_out=tuple(sorted(out)))


def fits(blocks: Blocks, size: int) -> bool:
    """Whether a map of so many blocks a side has just these."""
    sides = (blocks.rows, blocks.columns)
    return size > 0 and all(
        Edges.of(slice(side.start, side.stop), size).count == side.count for side in sides
    )
