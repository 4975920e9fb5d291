"""What was seen, as a trace: named arrays that open on any laptop, without torch or a model.

Every site gives `SITE.received`, `.entropy`, `.peak`, `.sink`, `.distance`, `.absolute_distance`,
`.map_mean`, `.map_maximum`, `.map_count`, `.top_keys`, `.top_weights` and `.top_left_out`; with
`exact`, also its `.q`, `.k` and `.lse`, from which any weight can be worked out again. Which
heads of the model these are, what each is called, its scores and why some are missing stand among
the facts of their site.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from ..foundation.errors import InputError, ShapeError
from ..traces import Array, Trace
from ..traces.trace import BFLOAT16
from .look import Look, drawn
from .patterns import Patterns
from .questions import ask
from .questions.answers import Kind, Origin

OF_ROWS = {
    "entropy": "entropy_BHT",
    "peak": "peak_BHT",
    "sink": "sink_BHT",
    "distance": "signed_BHT",
    "absolute_distance": "absolute_BHT",
}


def recorded(
    looks: Mapping[str, Look],
    kernels: Mapping[str, str],
    *,
    patterns: Patterns,
    size: int,
    top: int,
    exact: bool,
    labels: Mapping[str, Sequence[str]],
    about: Mapping[str, object],
) -> Trace:
    """One trace of all these sites, with the kernels that ran them."""
    refuse_nothing(size, top)
    arrays: dict[str, Array] = {}
    facts: dict[str, object] = {}
    named: dict[str, tuple[str, ...]] = {}
    for look in looks.values():
        arrays |= {f"{look.site}.{name}": array for name, array in arrays_of(look, size, top)}
        if exact:
            arrays |= {f"{look.site}.{name}": array for name, array in exactly(look)}
        batch, heads, queries, keys = look.shape
        facts[look.site] = {
            "batch": batch,
            "heads": heads,
            "queries": queries,
            "keys": keys,
            "kernel": kernels.get(look.site, ""),
            "scale": look.source.request.scale,
            "lse": look.entropy().origin.lse,
            "left_out": [list(place) for place in look.entropy().left_out],
            **names_of(patterns, look.site),
        }
        for axis, count in zip(axes_of(look.site), (queries, keys), strict=True):
            named[axis] = checked(axis, labels.get(axis), count)
    return Trace(
        kind="attention",
        arrays=arrays,
        labels={axis: of for axis, of in named.items() if of},
        about={**about, "sites": facts, "map": size, "top": top},
    )


def refuse_nothing(size: int, top: int) -> None:
    """Refuse a map without blocks, and strongest keys of which there are none."""
    if size < 1:
        raise InputError(f"A map of {size} blocks shows nothing: ask for size=1 or more.")
    if top < 1:
        raise InputError(f"The top {top} keys show nothing: ask for top=1 or more.")


def names_of(patterns: Patterns, site: str) -> dict[str, object]:
    """Which heads these are, what they are called, all their scores, and why some are missing."""
    heads = patterns.of(site)
    return {
        "numbers": [head.head for head in heads],
        "names": [[head.name, head.score] for head in heads],
        "scores": {name: [head.scores[name] for head in heads] for name in heads[0].scores},
        "unjudged": dict(patterns.unjudged[site]),
    }


def checked(axis: str, labels: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """The labels of an axis, one for each of its tokens; none where none were given."""
    if labels is None:
        return ()
    if len(labels) != count:
        raise ShapeError(
            f"There are {len(labels)} labels for the {axis}s and {count} of them. Give one label "
            "a token, special ones included."
        )
    return tuple(labels)


def axes_of(site: str) -> tuple[str, str]:
    """What the queries and the keys of a site are: `decoder token`, `encoder token`."""
    side = "encoder" if site.startswith("encoder") else "decoder"
    own = f"{side} token"
    return own, "encoder token" if site.endswith("cross") else own


def arrays_of(look: Look, size: int, top: int) -> list[tuple[str, Array]]:
    """Every statistic of a site, from one pass."""
    rows, columns = axes_of(look.site)
    if rows == columns and look.shape[2] != look.shape[3]:
        columns = f"{columns}, all"
    count = min(top, look.shape[3])
    found, told = ask.summaries(look.source, ask.rows_of(look.source), size=size, top=count)
    first = ("batch", "head")
    arrays = [("received", Array(plain(found.received_BHS), (*first, columns)))]
    for name, field in OF_ROWS.items():
        arrays.append((name, Array(plain(getattr(found, field)), (*first, rows))))
    assert found.blocks is not None

    def origin(kind: Kind) -> Origin:
        return Origin(kind=kind, lse=told.origin)

    map_ = drawn(found.blocks, origin, 0.0)
    cells = ("row block", "column block")
    arrays.append(("map_mean", Array(plain(map_.mean_BHRC), (*first, *cells))))
    arrays.append(("map_maximum", Array(plain(map_.maximum_BHRC), (*first, *cells))))
    arrays.append(("map_count", Array(plain(map_.count_BRC), ("batch", *cells))))
    assert found.top is not None
    weights, keys = found.top.logs_BHTk.exp(), found.top.keys_BHTk.to(torch.int32)
    arrays.append(("top_keys", Array(plain(keys), (*first, rows, "rank"))))
    arrays.append(("top_weights", Array(plain(weights), (*first, rows, "rank"))))
    left_out = found.mass_BHT - weights.sum(-1)
    arrays.append(("top_left_out", Array(plain(left_out), (*first, rows))))
    return arrays


def exactly(look: Look) -> list[tuple[str, Array]]:
    """Queries, keys and lse as they are."""
    rows, columns = axes_of(look.site)
    if rows == columns and look.shape[2] != look.shape[3]:
        columns = f"{columns}, all"
    request = look.source.request
    return [
        ("q", stored(request.q_BHTD, ("batch", "head", rows, "width"))),
        ("k", stored(request.k_BGSD, ("batch", "key head", columns, "width"))),
        ("lse", stored(look.rows.lse_BHT, ("batch", "head", rows))),
    ]


def stored(tensor: Tensor, axes: tuple[str, ...]) -> Array:
    """The numbers in the precision they have."""
    if tensor.dtype == torch.bfloat16:
        bits = tensor.detach().cpu().contiguous().view(torch.int16).numpy().view(np.uint16)
        return Array(bits, axes, BFLOAT16)
    return Array(plain(tensor), axes)


def plain(tensor: Tensor) -> np.ndarray:
    """A tensor as numpy has it."""
    return tensor.detach().cpu().numpy()
