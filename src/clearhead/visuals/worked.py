"""One number of a step, worked out the way one would by hand: `0.5×1 + 0.5×1 = 1`.

Nothing is computed here that the trace does not hold. A line is left out where the numbers beside
it do not lead to the result, because more happened than the line says.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..traces import Trace
from .numbers import short

TERMS = 4  # a longer sum is cut short with …
SEEN = 8  # so many numbers of a row are on the screen at least
LARGE = 50.0  # nobody writes e^60 out
Row = NDArray[Any]


def worked(trace: Trace, step: str) -> str | None:
    """How one number of this step, of the chosen query or its top key, comes about."""
    line = LINES.get(step)
    if line is None or step not in trace:
        return None
    return line(trace)


def top_key(trace: Trace) -> int:
    """The key that the chosen query looks at most."""
    return int(trace["weights"].values[int(trace.about["query"])].argmax())


def _row(trace: Trace, name: str) -> Row | None:
    """The chosen query's row of an array, if there is such an array."""
    return trace[name].values[int(trace.about["query"])] if name in trace else None


def _names(trace: Trace) -> tuple[str, str]:
    query, key = int(trace.about["query"]), top_key(trace)
    return str(trace.labels["query"][query]), str(trace.labels["key"][key])


def _sum(left: Row, right: Row, total: float) -> str | None:
    """A dot product as a sum of products, the first few of them."""
    if not np.isclose(left @ right, total, rtol=1e-4, atol=1e-6):
        return None
    terms = [f"{_closed(a)}×{_closed(b)}" for a, b in zip(left[:TERMS], right[:TERMS], strict=True)]
    if len(left) > TERMS:
        terms.append("…")
    return f"{' + '.join(terms)} = {short(total)}"


def _place(row: Row) -> int:
    """Which number of a row is worked out: the largest where all are seen, else the first."""
    return int(np.abs(row).argmax()) if len(row) <= SEEN else 0


def _closed(number: float) -> str:
    """A factor; a negative one in brackets."""
    return f"({short(number)})" if number < 0 else short(number)


def _added(one: str, other: str, whole: str) -> Callable[[Trace], str | None]:
    def line(trace: Trace) -> str | None:
        a, b, c = (_row(trace, name) for name in (one, other, whole))
        if a is None or b is None or c is None or len(a) != len(b):
            return None
        if not np.allclose(a + b, c, rtol=1e-4, atol=1e-5):
            return None
        name, place = str(trace.labels["query"][int(trace.about["query"])]), _place(c)
        return f"{name}[{place}] = {short(a[place])} + {_closed(b[place])} = {short(c[place])}"

    return line


def _projected(given: str, matrix: str, made: str) -> Callable[[Trace], str | None]:
    def line(trace: Trace) -> str | None:
        if matrix not in trace or given not in trace:
            return None
        of_keys = trace[made].axes[0] == "key"
        row = top_key(trace) if of_keys else int(trace.about["query"])
        name = str(trace.labels["key" if of_keys else "query"][row])
        results = trace[made].values[row]
        place = _place(results)
        found = _sum(trace[given].values[row], trace[matrix].values[:, place], results[place])
        return found and f"{name}[{place}] = {found}"

    return line


def _scores(trace: Trace) -> str | None:
    query, key = int(trace.about["query"]), top_key(trace)
    left, right = trace["q"].values[query], trace["k"].values[key]
    found = _sum(left, right, trace["scores"].values[query, key])
    names = _names(trace)
    return found and f"Q[{names[0]}]·K[{names[1]}] = {found}"


def _scaled(trace: Trace) -> str | None:
    query, key = int(trace.about["query"]), top_key(trace)
    before, after = trace["scores"].values[query, key], trace["scaled"].values[query, key]
    scale, width = float(trace.about["scale"]), int(trace.about["width"])
    if scale == 1.0 or not np.isclose(before * scale, after, rtol=1e-4, atol=1e-6):
        return None
    if np.isclose(scale, width**-0.5):
        root = short(width**0.5)
        return f"{short(before)} ÷ √{width} = {short(before)} ÷ {root} = {short(after)}"
    return f"{short(before)} × {short(scale)} = {short(after)}"


def _weights(trace: Trace) -> str | None:
    masked, weights = _row(trace, "masked"), _row(trace, "weights")
    if masked is None or weights is None:
        return None
    if not np.isfinite(masked).any() or abs(masked[np.isfinite(masked)]).max() > LARGE:
        return None
    powers, key = np.exp(masked), top_key(trace)
    if not np.isclose(powers[key] / powers.sum(), weights[key], rtol=1e-4):
        return None
    allowed = np.flatnonzero(np.isfinite(masked))
    terms = [f"e^{short(masked[place])}" for place in allowed[:TERMS]]
    if len(allowed) > TERMS:
        terms.append("…")
    return (
        f"{_names(trace)[1]}: e^{short(masked[key])} ÷ ({' + '.join(terms)}) = "
        f"{short(powers[key])} ÷ {short(powers.sum())} = {short(weights[key])}"
    )


def _mixed(trace: Trace) -> str | None:
    weights, mixed = _row(trace, "weights"), _row(trace, "mixed")
    if weights is None or mixed is None:
        return None
    order = weights.argsort(kind="stable")[::-1] if len(weights) > TERMS else slice(None)
    place = _place(mixed)
    found = _sum(weights[order], trace["v"].values[order, place], mixed[place])
    return found and f"{_names(trace)[0]}[{place}] = {found}"


LINES: dict[str, Callable[[Trace], str | None]] = {
    "inputs": _added("embeddings", "positions", "inputs"),
    "q": _projected("inputs", "W_q", "q"),
    "k": _projected("inputs", "W_k", "k"),
    "v": _projected("inputs", "W_v", "v"),
    "scores": _scores,
    "scaled": _scaled,
    "weights": _weights,
    "mixed": _mixed,
    "output": _projected("joined", "W_o", "output"),
    "residual": _added("inputs", "output", "residual"),
    "feed_forward_residual": _added("norm", "feed_forward", "feed_forward_residual"),
}
