"""Which tiling makes the lens's pass over q·k fastest? Every one in the table, beside the forward.

    python benchmarks/lens_pass.py --tokens 65536 --json pass.json

For whoever changes the kernels: each tiling is judged against float64 on a small case first, then
timed in turn with torch's own attention. Needs CUDA.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import torch
import typer
from timing import report, side_by_side
from torch.nn.functional import scaled_dot_product_attention

from clearhead.attention import Causal, Request, reference
from clearhead.lens.questions import ask, fused
from clearhead.lens.questions.launch import TABLE, Tiling
from clearhead.lens.questions.source import Source

BLOCKS = 128
SMALL, FEW = 4096, 16  # tokens and blocks of the case that is judged
NEAR = 2e-5  # what float32 sums of SMALL weights may be off by, a row


def main(
    tokens: int = 65536,
    heads: int = 32,
    width: int = 128,
    rounds: int = 3,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Judge, then time."""
    source = drawn(tokens, heads, width)
    rows = ask.Rows(fused.row_sums(source), "recomputed")
    q, k = source.request.q_BHTD, source.request.k_BGSD
    v = torch.randn_like(k)
    ways: dict[str, Callable[[], object]] = {
        "torch sdpa": lambda: scaled_dot_product_attention(q, k, v, is_causal=True)
    }
    errors: dict[str, object] = {}
    for tiling in TABLE:
        errors[f"{tiling}"] = error = off(tiling, width)
        if not isinstance(error, str):
            ways[f"{tiling}"] = passing(source, rows, tiling)
    ways["lse alone"] = lambda: fused.row_sums(source)
    times = side_by_side(ways, device="cuda", rounds=rounds, warmups=1)
    base = times["torch sdpa"].median
    found: list[dict[str, object]] = [
        {
            "way": name,
            "ms": timed.median * 1e3,
            "of the forward": timed.median / base,
            "error": errors.get(name, ""),
        }
        for name, timed in times.items()
    ]
    found += [
        {"way": name, "ms": "", "of the forward": "", "error": error}
        for name, error in errors.items()
        if isinstance(error, str)
    ]
    shape = f"{tokens} tokens, {heads} heads, width {width}, bfloat16, causal"
    report(f"one pass for all summaries: {shape}", found, device="cuda", json_file=json)


def drawn(tokens: int, heads: int, width: int) -> Source:
    """Random queries and keys as layers leave them."""
    draw = torch.Generator("cuda").manual_seed(0)
    q, k = (
        torch.randn(1, tokens, heads, width, generator=draw, device="cuda")
        .to(torch.bfloat16)
        .transpose(1, 2)
        for _ in range(2)
    )
    return Source(site="here", request=Request(q_BHTD=q, k_BGSD=k, v_BGSE=k, mask=Causal()))


def passing(source: Source, rows: ask.Rows, tiling: Tiling) -> Callable[[], object]:
    """One pass as a function without arguments."""
    return lambda: fused.summaries(source, rows, size=BLOCKS, tiling=tiling)


def off(tiling: Tiling, width: int) -> float | str:
    """How far from float64 the small case is, as a share of what rounding may do."""
    source = drawn(SMALL, 2, width)
    weights = reference.attend(source.request).weights_BHTS
    assert weights is not None
    try:
        rows = ask.Rows(fused.row_sums(source, tiling=tiling), "recomputed")
        found = fused.summaries(source, rows, size=FEW, tiling=tiling)
    except Exception as error:  # noqa: BLE001 - a tiling that does not compile is part of the table
        return f"{type(error).__name__}: {str(error)[:60]}"
    logs = weights.clamp(min=1e-300).log()
    judged = {
        "received": (found.received_BHS - weights.sum(2)).abs().max() / SMALL**0.5,
        "entropy": (found.entropy_BHT + (weights * logs).sum(-1)).abs().max() / 10,
        "peak": (found.peak_BHT - weights.amax(-1)).abs().max(),
    }
    return max(float(value) for value in judged.values()) / NEAR


if __name__ == "__main__":
    typer.run(main)
