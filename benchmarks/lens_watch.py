"""What does watching a whole model cost? A model of transformers, plain, watched, and in eager.

    python benchmarks/lens_watch.py --device cuda --json watch.json
    python benchmarks/lens_watch.py --device cpu --tokens 4096,8192 --json watch.json

On a GPU the shape is Llama-3-8B's with 8 layers, in bfloat16; on a CPU BERT-base's in float32,
beside `output_attentions=True` in eager, where there is memory for it. Weights are random. Outputs
of the watched model are compared with the plain one's, bit for bit.
"""

import gc
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from timing import report, side_by_side

from clearhead import watch

ASKED = ("received", "entropy", "peak", "distance", "sink", "map")
EAGER_MOST = 4096  # tokens: 12 layers of maps and what makes them fit in 24 GB up to here


def main(
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    tokens: str = "",
    layers: int = 0,
    rounds: int = 3,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Time every way at every length."""
    model = (llama if device == "cuda" else bert)(layers)
    rows: list[dict[str, object]] = []
    for count in (int(each) for each in (tokens or standard(device)).split(",")):
        rows += timed(model, count, device, rounds)
    report(f"watching {type(model).__name__}", rows, device=device, json_file=json)


def standard(device: str) -> str:
    """The lengths that are worth knowing."""
    return "131072" if device == "cuda" else "1024,4096"


def llama(layers: int) -> Any:
    """Llama-3-8B's shape, fewer layers, random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=128256,
        hidden_size=4096,
        intermediate_size=14336,
        num_hidden_layers=layers or 8,
        num_attention_heads=32,
        num_key_value_heads=8,
        max_position_embeddings=131072,
        rope_theta=500000.0,
    )
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
    return model


def bert(layers: int) -> Any:
    """BERT-base's shape with room for long texts, random weights."""
    from transformers import BertConfig, BertModel

    config = BertConfig(max_position_embeddings=16384, num_hidden_layers=layers or 12)
    model = BertModel(config).eval()
    model.set_attn_implementation("sdpa")
    return model


def timed(model: Any, tokens: int, device: str, rounds: int) -> list[dict[str, object]]:
    """One length: plain, watched with nothing asked, with all summaries, with the top keys too."""
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(1000, 30000, (1, tokens), generator=draw).to(device)
    given: dict[str, Any] = {"input_ids": ids}
    if device == "cuda":
        given |= {"logits_to_keep": 1, "use_cache": False}

    def plain() -> Any:
        with torch.inference_mode():
            return model(**given)[0]

    def watched(*asked: str) -> Any:
        with torch.inference_mode(), watch(model, keep=asked):
            return model(**given)[0]

    ways: dict[str, Callable[[], object]] = {
        "plain": plain,
        "watched, nothing asked": watched,
        "watched, all but top": lambda: watched(*ASKED),
    }
    if device == "cuda":
        ways["watched, all with top 8"] = lambda: watched(*ASKED, "top")
    elif tokens <= EAGER_MOST:
        ways["eager with its maps"] = lambda: eager(model, given)
    same = {name: bool(torch.equal(plain(), watched(*ASKED))) for name in ("bit for bit",)}
    memory = {name: most_held(way, device) for name, way in ways.items()}
    times = side_by_side(ways, device=device, rounds=rounds, warmups=0, least=0.1)
    base, least = times["plain"].median, memory["plain"]
    return [
        {
            "tokens": tokens,
            "way": name,
            "seconds": timing.median,
            "of plain": timing.median / base,
            "extra memory MB": (memory[name] - least) / 1e6,
            **same,
        }
        for name, timing in times.items()
    ]


def eager(model: Any, given: dict[str, Any]) -> Any:
    """What a viewer needs today: the whole matrix of every head of every layer."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.inference_mode():
            return model(**given, output_attentions=True).attentions
    finally:
        model.set_attn_implementation(before)


def most_held(way: Callable[[], object], device: str) -> int:
    """The most bytes that were held while it ran."""
    gc.collect()
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        way()
        return int(torch.cuda.max_memory_allocated())
    return in_a_child(way)


def in_a_child(way: Callable[[], object]) -> int:
    """The peak of a process that does nothing else: the CPU's allocator tells no peaks."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    ends = context.Pipe(duplex=False)

    def child() -> None:
        torch.set_num_threads(1)  # threads do not survive a fork
        way()
        ends[1].send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)

    process = context.Process(target=child)
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"A way to run the model ended with {process.exitcode}: out of memory?")
    return int(ends[0].recv())


if __name__ == "__main__":
    typer.run(main)
