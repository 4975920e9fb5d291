"""What a pointer that asks waits for: one exact row of the matrix, of all heads of a layer.

    python benchmarks/lens_hover.py --device cuda --json hover.json

The peer is what everybody does today: the whole row block by a plain product and softmax in the
precision of the model, which is a floor and not exact. Rows are judged against float64.
"""

from pathlib import Path
from typing import Annotated

import torch
import typer
from timing import report, side_by_side

from clearhead.attention import Causal, Request, reference
from clearhead.lens import Look
from clearhead.lens.questions.source import Source
from clearhead.lens.questions.sweep import row_sums


def main(
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    tokens: int = 131072,
    heads: int = 32,
    key_value_heads: int = 8,
    width: int = 128,
    rounds: int = 5,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Judge one row, then time it."""
    draw = torch.Generator(device).manual_seed(0)
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    q, k = (
        torch.randn(1, tokens, count, width, generator=draw, device=device)
        .to(dtype)
        .transpose(1, 2)
        for count in (heads, key_value_heads)
    )
    row = tokens - 5
    request = Request(q_BHTD=q, k_BGSD=k, v_BGSE=k, mask=Causal())
    last = Request(
        q_BHTD=q[:, :, : row + 1][:, :, -1:], k_BGSD=k[:, :, : row + 1], v_BGSE=k[:, :, : row + 1]
    )
    # What a watched model's kernel tells: the lse of every row. Only this row's is asked for here.
    lse_BH1 = row_sums(Source(site="here", request=last))
    lse_BHT = lse_BH1.expand(-1, -1, tokens).contiguous()
    look = Look(Source(site="here", request=request, lse_BHT=lse_BHT))
    exact = reference.attend(last).weights_BHTS
    assert exact is not None
    with torch.inference_mode():
        off = (look.weights(rows=row).values[:, :, 0, : row + 1] - exact[:, :, 0]).abs().max()
        if not float(off) < 1e-5:
            raise SystemExit(f"The row is off by {float(off):.2g} from float64.")
        shared = heads // key_value_heads
        times = side_by_side(
            {
                "clearhead, exact": lambda: look.weights(rows=row),
                "product and softmax": lambda: (
                    (q[:, :, row : row + 1] @ k.repeat_interleave(shared, 1).transpose(-2, -1))
                    * width**-0.5
                ).softmax(-1),
            },
            device=device,
            rounds=rounds,
        )
    rows: list[dict[str, object]] = [
        {"way": name, "ms": timed.median * 1e3, "slowest ms": timed.slowest * 1e3}
        for name, timed in times.items()
    ]
    shape = f"{tokens} keys, {heads} heads of {width} ({key_value_heads} for keys), {dtype}"
    report(f"one row: {shape}", rows, device=device, json_file=json)


if __name__ == "__main__":
    typer.run(main)
