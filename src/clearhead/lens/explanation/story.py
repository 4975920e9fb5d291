"""Collects steps and notes, in the order they are told, into one trace."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from ...attention import Request
from ...attention.score_grids import allowed_pairs
from ...traces import Array, Note, Trace
from .steps import Walk, group_of


class Story:
    """A trace in the making."""

    def __init__(self, labels: Mapping[str, Sequence[str]], about: Mapping[str, Any]) -> None:
        self.labels, self.about = dict(labels), dict(about)
        self.arrays: dict[str, Array] = {}
        self.notes: list[Note] = []
        self.steps: list[str] = []

    def step(self, name: str, values: Tensor | None, *axes: str) -> None:
        """Tell the next step. A step that does not take place here has no values."""
        self.steps.append(name)
        if values is not None:
            self.keep(name, values, *axes)

    def keep(self, name: str, values: Tensor, *axes: str) -> None:
        """Put an array beside the steps: what one needs to work them out again."""
        numbers = values.detach().double() if values.is_floating_point() else values.detach()
        self.arrays[name] = Array(numbers.cpu().numpy().copy(), axes)

    def note(self, about: str, says: str, **facts: object) -> None:
        """Say one thing about a step."""
        self.notes.append(Note(about, says, facts))

    def attention(self, request: Request, head: int, walk: Walk) -> None:
        """Tell the steps from q to the heads side by side, with what is special about them."""
        self.step("q", walk.q_TD, "query", "width")
        self.step("k", walk.k_SD, "key", "width")
        self.step("v", walk.v_SE, "key", "value")
        self.step("scores", walk.scores_TS, "query", "key")
        self.step("scaled", walk.scaled_TS, "query", "key")
        self.step("masked", walk.masked_TS, "query", "key")
        self.step("weights", walk.weights_TS, "query", "key")
        self.step("mixed", walk.mixed_TE, "query", "value")
        self.step("joined", walk.joined_TM, "query", "joined")
        heads, groups = request.q_BHTD.shape[1], request.k_BGSD.shape[1]
        self.about |= {
            "head": head,
            "heads": heads,
            "width": request.q_BHTD.shape[-1],
            "scale": request.scale,
        }
        if groups < heads:
            self.note(
                "k",
                "shared_head",
                head=head,
                heads=heads,
                group=group_of(request, head),
                groups=groups,
            )
        self._scaling(request)
        self._masking(request)

    def _scaling(self, request: Request) -> None:
        scores = request.scores
        if scores.scale is not None and scores.scale != request.q_BHTD.shape[-1] ** -0.5:
            self.note("scaled", "own_scale", scale=scores.scale)
        if scores.softcap is not None:
            self.note("scaled", "softcap", softcap=scores.softcap)
        if scores.bias is not None:
            self.note("scaled", "bias", kind=type(scores.bias).__name__)
        if scores.sinks is not None:
            self.note("weights", "sinks")

    def _masking(self, request: Request) -> None:
        allowed_TS = allowed_pairs(request)[0]
        allowed, pairs = int(allowed_TS.sum()), allowed_TS.numel()
        kind = request.mask.kind(request.queries, request.keys) or "rule"
        self.note("masked", f"mask_{kind}", forbidden=pairs - allowed, pairs=pairs)
        blind = int((~allowed_TS.any(dim=-1)).sum())
        if blind:
            self.note("weights", "blind", rows=blind)

    def trace(self) -> Trace:
        """What was told."""
        return Trace(
            kind="explanation",
            arrays=self.arrays,
            labels=self.labels,
            notes=tuple(self.notes),
            about={**self.about, "steps": self.steps},
        )
