"""Hears every announcement of one model and files it by site."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from ...attention import Announcement, Request
from ...attention.announce import HEARD_HERE
from ...attention.bias import Chosen
from ...attention.intervals import Intervals
from ...foundation.errors import CannotError
from ..questions.padding import real_queries
from ..questions.source import Source
from .beams import Beams
from .budget import Budget
from .fed import ids_in
from .host import piece_on_host, tally_on_host
from .pieces import Piece, cut, own
from .reading import read
from .tally import Tally, tallied
from .wanted import Wanted


@dataclass
class Kept:
    """What was kept of one site in one run, of which `heard` calls were told."""

    heads: int
    heard: int = 0
    first: int = 0
    queries: int = 0
    keys: int = 0
    kernel: str = ""
    pieces: list[Piece] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)

    @property
    def calls(self) -> Sequence[Piece | Tally]:
        """What was kept of each call."""
        return self.pieces or self.tallies


@dataclass
class Run:
    """One pass through the model, with the decoding steps that follow it.

    `source` is what an encoder was given that a decoder reads; what else was, `beams` has.
    """

    sites: dict[str, Kept] = field(default_factory=dict)
    source: Tensor | None = None
    beams: Beams = field(default_factory=Beams)
    returned: list[list[int]] | None = None


class Keeper:
    """Hears every announcement of one model and files it by site.

    Args:
        two_sided: What an encoder reads is told by itself, with `feed_source`.
        decodes: Our own decoder, where the model has one: its searches say where rows went.
    """

    def __init__(
        self,
        modules: Mapping[int, str],
        wanted: Wanted,
        budget: Budget,
        *,
        two_sided: bool = False,
        decodes: nn.Module | None = None,
    ) -> None:
        self.modules, self.wanted, self.budget = modules, wanted, budget
        self.two_sided, self.decodes = two_sided, decodes
        self.runs: list[Run] = []
        # What went in, before it is known to which run it belongs.
        self.waiting: list[Tensor | None] = []
        self.waiting_sources: list[Tensor | None] = []

    @property
    def listens(self) -> bool:
        """Whether what runs now is heard: not in another thread, nor where nobody shall hear."""
        return self.hear in HEARD_HERE.get()

    def feed(self, module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note what the model, or its decoder, is given before it runs (a hook)."""
        if self.listens:
            self.waiting.append(ids_in(args, kwargs))

    def feed_source(
        self, module: nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Note what the encoder is given that a decoder reads (a hook)."""
        if self.listens:
            self.waiting_sources.append(ids_in(args, kwargs))

    def moved(self, rows: Tensor) -> None:
        """Note that a beam search moves rows about."""
        if self.runs and self.listens:
            beams = self.runs[-1].beams
            beams.moved_after(len(beams.fed) - 1, rows)

    def moved_rows(self, decodes: nn.Module | None, rows: Tensor) -> None:
        """Note that a decoder of ours goes on with other rows."""
        if self.runs and self.listens and decodes is self.decodes:
            beams = self.runs[-1].beams
            first = next((ids for ids in beams.fed if ids is not None), None)
            beams.scattered |= first is None or len(first) > 1
            beams.moved_after(len(beams.fed) - 1, rows)

    def returned_ids(self, decodes: nn.Module | None, sequences: Sequence[Sequence[int]]) -> None:
        """Note what a search with a decoder of ours returned."""
        if self.runs and self.listens and decodes is self.decodes:
            self.runs[-1].returned = [list(ids) for ids in sequences]

    def returned(self, sequences: Tensor) -> None:
        """Note what `generate` returned."""
        if self.runs and self.listens:
            self.runs[-1].returned = sequences.tolist()

    def hear(self, told: Announcement) -> None:
        """File one announcement."""
        site = self.modules.get(id(told.module))
        if site is None:
            return
        refuse_capture(site)
        is_cross = site.endswith("cross")
        request = told.request
        start = request.first + request.keys - request.queries
        if self._begins(site, start, is_cross):
            self.runs.append(Run())
        run = self.runs[-1]
        run.beams.fed += self.waiting
        self.waiting.clear()
        if self.waiting_sources:
            run.source = self.waiting_sources.pop()
            self.waiting_sources.clear()
        kept = run.sites.setdefault(site, Kept(heads=request.q_BHTD.shape[1], first=request.first))
        kept.kernel = told.attended.kernel
        kept.heard += 1
        if self.wanted.nothing or not self._wants(site):
            place_call(kept, request, told.module, is_cross=is_cross)
            return
        self._keep(site, kept, told, step=max(len(run.beams.fed) - 1, 0))

    def _begins(self, site: str, start: int, is_cross: bool) -> bool:
        if not self.runs:
            return True
        return start <= 0 and not is_cross and site in self.runs[-1].sites

    def _wants(self, site: str) -> bool:
        return self.wanted.sites is None or site in self.wanted.sites

    def _keep(self, site: str, kept: Kept, told: Announcement, *, step: int) -> None:
        reading = read(told.request, told.attended.values_BHTE)
        is_cross = site.endswith("cross")
        place = place_call(kept, reading.request, told.module, is_cross=is_cross)
        request = place.request
        if self.wanted.heads is not None:
            request = of_heads(site, request, self.wanted.heads)
        lse_BHT = told.attended.lse_BHT
        if lse_BHT is not None and self.wanted.heads is not None:
            lse_BHT = lse_BHT[:, list(self.wanted.heads)]
        if not self.wanted.exact:
            source = Source(site=site, request=request, lse_BHT=lse_BHT, blind=reading.blind)
            self._tally(kept, replace(source, real_BT=self._real(source, step)), step)
            return
        piece = Piece(
            q_BHTD=request.q_BHTD.detach(),
            k_BGND=own(request.k_BGSD, place.new, request.q_BHTD),
            v_BGNE=own(request.v_BGSE, place.new, request.q_BHTD),
            lse_BHT=None if lse_BHT is None else lse_BHT.detach(),
            mask=request.mask,
            scores=request.scores,
            blind=reading.blind,
            first=request.first,
            seen=request.keys,
            start=place.start,
            step=step,
        )
        kept.pieces = back_to(kept.pieces, place.start, cross=is_cross)
        piece = piece if self.wanted.on == "device" else piece_on_host(piece)
        self.budget.take(site, piece.tensors())
        kept.pieces.append(piece)

    def _tally(self, kept: Kept, source: Source, step: int) -> None:
        """Answer the questions now, and keep the answers alone."""
        shift = source.request.first - kept.first
        tally = tallied(source, self.wanted, step=step, shift=shift)
        tally = tally if self.wanted.on == "device" else tally_on_host(tally)
        self.budget.take(source.site, tally.tensors())
        kept.tallies.append(tally)

    def _real(self, source: Source, step: int) -> Tensor | None:
        """Which queries are no padding; in cross-attention, what the self-attention before said."""
        if not source.site.endswith("cross"):
            return real_queries(source)
        own = self.runs[-1].sites.get(source.site.removesuffix("cross") + "self")
        beside = own.tallies[-1] if own is not None and own.tallies else None
        if beside is None or beside.padded_BT is None or beside.step != step:
            return None
        fits = beside.padded_BT.shape[1] == source.sizes[2]
        return ~beside.padded_BT.to(source.device) if fits else None


@dataclass(frozen=True)
class Called:
    """One call, with its keys where they stand among all that were ever seen."""

    request: Request
    start: int
    new: int


def place_call(kept: Kept, request: Request, module: nn.Module | None, *, is_cross: bool) -> Called:
    """Find where the queries and keys of this call stand, and count them as seen.

    Caches differ: one passes every key again, one only those a window still sees, one its whole
    room with the end empty.
    """
    known = kept.first + kept.keys
    if is_cross:
        new = request.keys if not kept.keys else 0
        start = kept.queries
        kept.queries += request.queries
        kept.keys = request.keys
        return Called(request, start, new)
    if not kept.keys:
        known = request.first
    end = known + request.queries
    if request.first + request.keys > end and kept.keys:
        request = without_room(request, end)
    elif request.first == 0 and request.keys < end and forgets(module, request):
        request = shifted(request, end - request.keys)
    stop = request.first + request.keys
    start = stop - request.queries
    new = min(request.keys, stop - min(known, start) if kept.keys else request.keys)
    kept.queries = kept.queries - max(0, known - start) + request.queries
    kept.keys = stop - kept.first
    return Called(request, start, new)


def forgets(module: nn.Module | None, request: Request) -> bool:
    """Whether the keys passed are just those that a window may still see from the first query."""
    window = getattr(module, "sliding_window", None)
    if window is None:
        window = getattr(getattr(module, "config", None), "sliding_window", None)
    return isinstance(window, int) and request.keys == window - 1 + request.queries


def without_room(request: Request, end: int) -> Request:
    """The keys up to where anything may be seen, of a cache that passes its whole room."""
    keys = end - request.first
    mask = request.mask
    if not isinstance(mask, Intervals) or int(mask.stop_BT.max()) > end:
        return request
    moved = Intervals(mask.start_BT, mask.stop_BT, request.first + keys - request.queries)
    return replace(
        request, k_BGSD=request.k_BGSD[:, :, :keys], v_BGSE=request.v_BGSE[:, :, :keys], mask=moved
    )


def shifted(request: Request, first: int) -> Request:
    """The same call with its first key standing at this position."""
    mask = request.mask
    if isinstance(mask, Intervals):
        mask = Intervals(mask.start_BT + first, mask.stop_BT + first, mask.row + first)
    return replace(request, first=first, mask=mask)


def back_to(pieces: Sequence[Piece], start: int, *, cross: bool) -> list[Piece]:
    """The pieces up to this position; a decoder that guessed wrong goes back a few steps."""
    kept = [piece for piece in pieces if piece.start < start]
    if kept and kept[-1].stop > start:
        kept[-1] = cut(kept[-1], start, cross=cross)
    return kept


def of_heads(site: str, request: Request, heads: Sequence[int]) -> Request:
    """The request for these query heads alone, each with the key head it uses."""
    count, groups = request.q_BHTD.shape[1], request.k_BGSD.shape[1]
    refuse_absent(site, heads, count)
    index = torch.tensor(heads, device=request.q_BHTD.device)
    shared = index // (count // groups)
    bias, sinks = request.scores.bias, request.scores.sinks
    if isinstance(bias, Tensor) and bias.dim() >= 3 and bias.shape[-3] > 1:
        bias = bias.index_select(-3, index)
    elif bias is not None and not isinstance(bias, Tensor):
        bias = Chosen(bias, index)
    return replace(
        request,
        q_BHTD=request.q_BHTD[:, index],
        k_BGSD=request.k_BGSD[:, shared],
        v_BGSE=request.v_BGSE[:, shared],
        scores=replace(
            request.scores, bias=bias, sinks=None if sinks is None else sinks.detach()[index]
        ),
    )


def refuse_absent(site: str, heads: Sequence[int], count: int) -> None:
    """Refuse heads that a site does not have."""
    if max(heads) >= count or min(heads) < 0:
        raise CannotError(
            f"{site} has heads 0 to {count - 1} and heads {list(heads)} were asked for. "
            "Ask for heads that are there."
        )


def refuse_capture(site: str) -> None:
    """A CUDA graph runs without Python when it is replayed, so nobody would be told."""
    if torch.cuda.is_available() and torch.cuda.is_current_stream_capturing():
        raise CannotError(
            f"{site} is being captured into a CUDA graph, whose replays cannot tell what they do. "
            "Watch the model outside the capture."
        )
