"""What does it cost to see one whole layer, beside running it? Map, statistics and strongest keys.

    python benchmarks/lens_summaries.py --tokens 32768,131072 --json summaries.json

The peer is the fastest of torch's own attentions on the same queries and keys. Ours is what
`watch(keep="summaries")` does inside the call: a map of 128 × 128 blocks, received, entropy, peak,
distance and sink of every head, with the lse; then the same with the 8 strongest keys of every
query. Both are judged against float64 on a small case first. Needs CUDA.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import torch
import typer
from timing import report, side_by_side
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from clearhead.attention import Causal, Request, reference
from clearhead.attention.fused import Call, run
from clearhead.lens.questions import ask
from clearhead.lens.questions.source import Source

BLOCKS, TOP = 128, 8
SMALL = 3000  # tokens of the case that is judged
STOCK = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
NEAR = 2e-4  # what sums of SMALL float32 weights and scores may be off by


def main(
    tokens: str = "32768,131072",
    heads: int = 32,
    key_value_heads: int = 32,
    width: int = 128,
    rounds: int = 3,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Judge, then time every length."""
    judge(heads=4, key_value_heads=2, width=width)
    rows: list[dict[str, object]] = []
    for count in (int(each) for each in tokens.split(",")):
        rows += timed(count, heads, key_value_heads, width, rounds)
        torch.cuda.empty_cache()
    shape = f"{heads} heads of {width} ({key_value_heads} for keys), bfloat16, causal"
    report(f"seeing a layer: {shape}", rows, device="cuda", json_file=json)


def drawn(tokens: int, heads: int, key_value_heads: int, width: int) -> Request:
    """Random queries, keys and values as layers leave them."""
    draw = torch.Generator("cuda").manual_seed(0)
    q, k, v = (
        torch.randn(1, tokens, count, width, generator=draw, device="cuda", dtype=torch.bfloat16)
        for count in (heads, key_value_heads, key_value_heads)
    )
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return Request(q_BHTD=q, k_BGSD=k, v_BGSE=v, mask=Causal())


def timed(
    tokens: int, heads: int, key_value_heads: int, width: int, rounds: int
) -> list[dict[str, object]]:
    """One length: the forward by each stock kernel, telling the lse, and both kinds of seeing."""
    request = drawn(tokens, heads, key_value_heads, width)
    call = called(request)
    source = Source(site="here", request=request, lse_BHT=run(call).lse_BHT)
    if source.lse_BHT is None:
        raise SystemExit("torch's own attention tells no lse here, so there is nothing to compare.")
    ways: dict[str, Callable[[], object]] = {
        name: forward(request, backend) for name, backend in STOCK.items()
    }
    ways["forward, telling its lse"] = lambda: run(call)
    ways["seen: map and statistics"] = lambda: ask.summaries(
        source, ask.rows_of(source), size=BLOCKS
    )
    ways[f"seen: the same and the top {TOP}"] = lambda: ask.summaries(
        source, ask.rows_of(source), size=BLOCKS, top=TOP
    )
    memory = {name: held(way) for name, way in ways.items()}
    times = side_by_side(ways, device="cuda", rounds=rounds, warmups=1, least=0.1)
    fastest = min(times[name].median for name in STOCK)
    lse = max(times["forward, telling its lse"].median - fastest, 0.0)
    return [
        {
            "tokens": tokens,
            "what": name,
            "ms": timing.median * 1e3,
            "with the lse, of the forward": (timing.median + lse * name.startswith("seen"))
            / fastest,
            "kept MB": memory[name][0] / 1e6,
            "most MB": memory[name][1] / 1e6,
        }
        for name, timing in times.items()
    ]


def forward(request: Request, backend: SDPBackend) -> Callable[[], object]:
    """Torch's own attention by one of its kernels."""

    def way() -> object:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(
                request.q_BHTD,
                request.k_BGSD,
                request.v_BGSE,
                is_causal=True,
                enable_gqa=request.q_BHTD.shape[1] != request.k_BGSD.shape[1],
            )

    return way


def called(request: Request) -> Call:
    """The same attention, as what tells its lse takes it."""
    return Call(
        q_BHTD=request.q_BHTD,
        k_BGSD=request.k_BGSD,
        v_BGSE=request.v_BGSE,
        mask=None,
        causal=True,
        scale=request.scale,
        dropout=0.0,
    )


def held(way: Callable[[], object]) -> tuple[int, int]:
    """Bytes that a way leaves behind, and the most it takes."""
    way()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    found = way()
    kept = torch.cuda.memory_allocated() - before
    most = torch.cuda.max_memory_allocated() - before
    del found
    return kept, most


def judge(*, heads: int, key_value_heads: int, width: int) -> None:
    """Compare a small case with float64; raises where it is off."""
    request = drawn(SMALL, heads, key_value_heads, width)
    source = Source(site="here", request=request, lse_BHT=run(called(request)).lse_BHT)
    found, _ = ask.summaries(source, ask.rows_of(source), size=BLOCKS, top=TOP)
    weights = reference.attend(request).weights_BHTS
    assert weights is not None
    assert found.top is not None
    logs = weights.clamp(min=1e-300).log()
    place = torch.arange(SMALL, device="cuda", dtype=torch.float64)
    best = weights.topk(TOP).values
    told = found.top.logs_BHTk.double().exp()
    at = weights.gather(-1, found.top.keys_BHTk.clamp(min=0).long())
    enough = (torch.arange(SMALL, device="cuda")[:, None] >= torch.arange(TOP, device="cuda")).to(
        at
    )
    off = {
        "received": (found.received_BHS - weights.sum(2)).abs().max() / SMALL**0.5,
        "entropy": (found.entropy_BHT + (weights * logs).sum(-1)).abs().max() / 10,
        "peak": (found.peak_BHT - weights.amax(-1)).abs().max(),
        "distance": (found.signed_BHT - (weights * (place[:, None] - place)).sum(-1)).abs().max()
        / SMALL,
        "sink": (found.sink_BHT - weights[..., 0]).abs().max(),
        "top": ((told - best) * enough).abs().max(),
        "top keys": ((at - best) * enough).abs().max(),
    }
    wrong = {name: float(value) for name, value in off.items() if not float(value) <= NEAR}
    print("judged:", {name: f"{float(value):.2g}" for name, value in off.items()})
    if wrong:
        raise SystemExit(f"Off by more than {NEAR} from float64: {wrong}")


if __name__ == "__main__":
    typer.run(main)
