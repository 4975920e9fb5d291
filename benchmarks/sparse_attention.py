"""What does a window of 512 cost at 32k tokens, beside full and causal attention? One table.

    python benchmarks/sparse_attention.py --device cuda --json sparse.json

Full and causal attention are torch's own (on a GPU also ours, which run the same kernel). A window
is ours, by whatever kernel `attend` takes, and on a GPU also by each kernel that can, and beside
them torch's FlexAttention as its documentation uses it. Before anything is timed, rows of every
result are judged against float64.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import torch
import typer
from timing import report, side_by_side
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from clearhead.attention import Causal, Everything, Mask, Request, Window, attend, reference, why

ROWS_JUDGED = 16


@dataclass(frozen=True)
class Way:
    """One way of computing one mask: who, which mask, and how."""

    who: str
    what: str
    mask: Mask
    run: Callable[[], Tensor]


def main(
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    tokens: int = 32768,
    heads: int = 8,
    width: Annotated[int, typer.Option(help="of one head")] = 64,
    window: Annotated[int, typer.Option(help="how many keys a query sees")] = 512,
    precision: Annotated[str, typer.Option(help="float32, bfloat16 or auto")] = "auto",
    rounds: int = 3,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Judge every way, then time them in turn."""
    if precision == "auto":
        precision = "bfloat16" if device == "cuda" else "float32"
    draw = torch.Generator(device).manual_seed(0)
    q, k, v = (
        torch.randn(1, heads, tokens, width, generator=draw, device=device).to(
            getattr(torch, precision)
        )
        for _ in range(3)
    )
    with torch.inference_mode():
        ways = every_way(q, k, v, window)
        errors = [judged(way, q, k, v) for way in ways]
        times = side_by_side(
            {f"{way.what}, {way.who}": way.run for way in ways},
            device=device,
            rounds=rounds,
            warmups=1,  # each has run once already, to be judged
        )
    medians = [times[f"{way.what}, {way.who}"].median for way in ways]
    rows = [
        {
            "mask": way.what,
            "by": way.who,
            "ms": median * 1e3,
            "of full": median / medians[0],
            "of causal": median / medians[1],
            "fastest ms": times[f"{way.what}, {way.who}"].fastest * 1e3,
            "slowest ms": times[f"{way.what}, {way.who}"].slowest * 1e3,
            "disturbed": times[f"{way.what}, {way.who}"].disturbed,
            "error, of what rounding may do": error,
        }
        for way, median, error in zip(ways, medians, errors, strict=True)
    ]
    shape = f"{tokens} tokens, {heads} heads, width {width}, {precision}"
    report(f"a window of {window} at {shape}", rows, device=device, json_file=json)


def every_way(q: Tensor, k: Tensor, v: Tensor, window: int) -> list[Way]:
    """The peers first: full, then causal."""
    causal, around = Window(window - 1, 0), Window(window // 2, (window - 1) // 2)
    behind, both = f"window of {window}, behind", f"window of {window}, around"
    ways = [
        Way("torch sdpa", "full", Everything(), lambda: scaled_dot_product_attention(q, k, v)),
        Way(
            "torch sdpa",
            "causal",
            Causal(),
            lambda: scaled_dot_product_attention(q, k, v, is_causal=True),
        ),
        ours(q, k, v, causal, behind),
        ours(q, k, v, around, both),
    ]
    if q.is_cuda:
        ways += [ours(q, k, v, Everything(), "full"), ours(q, k, v, Causal(), "causal")]
        ways += [ours(q, k, v, causal, behind, kernel) for kernel in ("flex", "blocks")]
        ways.append(torch_flex(q, k, v, window, behind))
    return ways


def ours(q: Tensor, k: Tensor, v: Tensor, mask: Mask, what: str, kernel: str = "auto") -> Way:
    """Through our front door; the name says which kernel runs."""
    taken = why(q, k, v, mask=mask, kernel=kernel).kernel.name
    who = f"clearhead {taken}" if kernel == "auto" else f"clearhead {taken}, asked for"
    return Way(who, what, mask, lambda: attend(q, k, v, mask=mask, kernel=kernel).values_BHTE)


def torch_flex(q: Tensor, k: Tensor, v: Tensor, window: int, what: str) -> Way:
    """FlexAttention the way its documentation shows it."""

    def sees(batch: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return (row >= column) & (row - column < window)

    tokens = q.shape[2]
    block_mask = create_block_mask(sees, None, None, tokens, tokens, device=q.device.type)
    compiled = torch.compile(flex_attention)
    return Way(
        "torch flex",
        what,
        Window(window - 1, 0),
        lambda: compiled(q, k, v, block_mask=block_mask),
    )


def judged(way: Way, q: Tensor, k: Tensor, v: Tensor) -> float:
    """How far sampled rows are from float64, as a share of what rounding may do; raises above 1."""
    found, tokens = way.run(), q.shape[2]
    draw = torch.Generator().manual_seed(1)
    sampled = torch.randint(tokens, (ROWS_JUDGED,), generator=draw).tolist()
    worst = 0.0
    for row in sorted({0, tokens - 1, *sampled}):
        exact, budget = one_row(way.mask, q, k, v, row)
        off = (found[:, :, row].double() - exact).abs() / budget
        worst = max(worst, float(off.max()))
    if not worst <= 1.0:
        raise SystemExit(f"{way.what} by {way.who} is wrong: {worst:.1f} × what rounding may do.")
    return worst


def one_row(mask: Mask, q: Tensor, k: Tensor, v: Tensor, row: int) -> tuple[Tensor, Tensor]:
    """The exact values of one query, and how far rounding may take them.

    In 16 bits a product, a weight and a value are rounded; in any precision a score is a sum over
    the width and a value a sum over the keys, kept in float32.
    """
    after = 0  # keys after the query that it sees, so that it is not the last
    keys = slice(None)
    if isinstance(mask, Window):
        after = min(mask.right or 0, k.shape[2] - 1 - row)
        keys = slice(0, row + 1 + after)
    query = torch.nn.functional.pad(q[:, :, row : row + 1], (0, 0, 0, after))
    request = Request(q_BHTD=query, k_BGSD=k[:, :, keys], v_BGSE=v[:, :, keys], mask=mask)
    exact = reference.attend(request)
    assert exact.weights_BHTS is not None
    spread = exact.weights_BHTS[:, :, :1] @ v[:, :, keys].double().abs()
    steps = q.shape[-1] + exact.weights_BHTS.shape[-1] ** 0.5
    budget = 8 * torch.finfo(q.dtype).eps + 4 * steps * torch.finfo(torch.float32).eps
    return exact.values_BHTE[:, :, 0], budget * spread[:, :, 0]


if __name__ == "__main__":
    typer.run(main)
