"""A site of which only statistics were kept: what was asked for is answered, the rest refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..foundation.errors import CannotError
from .look import drawn
from .questions.answers import Answer, Distances, Kind, Lse, Map, Origin, TopKeys
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
        origin = self._origin("exact")
        signed, absolute = self._joined("signed_BHT"), self._joined("absolute_BHT")
        return Distances(signed_BHT=signed, absolute_BHT=absolute, origin=origin)

    def map(self, rows: None = None, columns: None = None, size: int | None = None) -> Map:
        """The whole site in as many blocks as were kept."""
        self._kept("map")
        blocks = self.tallies[0].blocks
        if len(self.tallies) > 1 or rows is not None or columns is not None or blocks is None:
            self._refuse("a map of a region, or of several decoding steps,")
        if size not in (None, blocks.rows.count):
            self._refuse(f"a map of {size} blocks")
        return drawn(blocks, self._origin, 0.0)

    def top(self, count: int | None = None) -> TopKeys:
        """Of every query its strongest keys, as many as were kept."""
        self._kept("top")
        tops = [tally.top for tally in self.tallies]
        kept = [top for top in tops if top is not None]
        if count is not None and count > kept[0].count:
            self._refuse(f"the top {count}, where {kept[0].count} were kept,")
        weights = torch.cat([top.logs_BHTk for top in kept], dim=2)[..., :count].exp()
        return TopKeys(
            keys_BHTk=torch.cat([top.keys_BHTk for top in kept], dim=2)[..., :count],
            weights_BHTk=weights,
            mass_left_out=1 - weights.sum(-1),
            origin=self._origin("top-k"),
        )

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
