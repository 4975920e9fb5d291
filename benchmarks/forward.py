"""Is a forward pass slower than in `transformers` with sdpa? Same weights, same inputs, one run.

python benchmarks/forward.py --device cpu --json forward.json
"""

import logging
import tempfile
from pathlib import Path
from typing import Annotated, Any

import torch
import transformers
import typer
from timing import report, side_by_side

from clearhead.checkpoints.foreign.huggingface import read_folder

BERT = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12}
MARIAN = {
    "vocab_size": 37000,
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "activation_function": "relu",
    "scale_embedding": True,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}
PEERS: dict[str, Any] = {
    "bert-base": lambda: transformers.BertModel(transformers.BertConfig(**BERT)),
    "gpt2-small": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
    "transformer-base": lambda: transformers.MarianMTModel(transformers.MarianConfig(**MARIAN)),
}


def main(
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    models: Annotated[
        str, typer.Option(help="comma-separated, of: " + ", ".join(PEERS))
    ] = ",".join(PEERS),
    sizes: Annotated[str, typer.Option(help="batch x tokens, comma-separated")] = "1x128,8x128",
    precision: Annotated[str, typer.Option(help="float32 or bfloat16")] = "float32",
    compiled: Annotated[bool, typer.Option(help="also compiled against compiled")] = True,
    rounds: int = 7,
    json: Annotated[Path | None, typer.Option(help="write the table here")] = None,
) -> None:
    """Time both, eager against eager and compiled against compiled."""
    logging.disable(logging.WARNING)
    rows: list[dict[str, object]] = []
    for name in models.split(","):
        theirs, ours = pair(name, device, getattr(torch, precision))
        for size in sizes.split(","):
            batch, length = (int(part) for part in size.split("x"))
            rows += compare(name, theirs, ours, (batch, length), device, rounds, compiled)
    report(f"forward, {precision}", rows, device=device, json_file=json)


def pair(name: str, device: str, dtype: torch.dtype) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The peer with random weights, and ours with the same."""
    torch.manual_seed(0)
    theirs = PEERS[name]().eval()
    with tempfile.TemporaryDirectory() as folder:
        theirs.save_pretrained(folder)
        ours = read_folder(Path(folder)).network
    theirs.set_attn_implementation("sdpa")
    return theirs.to(device, dtype), ours.to(device, dtype)


def compare(
    name: str,
    theirs: torch.nn.Module,
    ours: torch.nn.Module,
    shape: tuple[int, int],
    device: str,
    rounds: int,
    compiled: bool,
) -> list[dict[str, object]]:
    """Check that both give the same, then time both."""
    ids = torch.randint(5, 30000, shape, device=device)
    inputs = {"input_ids": ids} | ({"decoder_input_ids": ids} if "transformer" in name else {})
    arguments = (ids, ids) if "transformer" in name else (ids,)
    keep = {"use_cache": False} if name != "bert-base" else {}
    rows: list[dict[str, object]] = []
    with torch.inference_mode():
        difference = differ(theirs(**inputs, **keep), ours(*arguments))
        modes = [("eager", theirs, ours)]
        if compiled:
            torch.compiler.reset()
            modes.append(("compiled", torch.compile(theirs), torch.compile(ours)))
        for mode, peer, mine in modes:
            times = side_by_side(
                {
                    "transformers": lambda peer=peer: peer(**inputs, **keep),
                    "clearhead": lambda mine=mine: mine(*arguments),
                },
                device=device,
                rounds=rounds,
            )
            peer_time, our_time = times["transformers"], times["clearhead"]
            rows.append(
                {
                    "model": name,
                    "batch x tokens": f"{shape[0]}x{shape[1]}",
                    "mode": mode,
                    "transformers ms": peer_time.median * 1e3,
                    "clearhead ms": our_time.median * 1e3,
                    "ratio": our_time.median / peer_time.median,
                    "ratio of fastest": our_time.fastest / peer_time.fastest,
                    "disturbed": peer_time.disturbed + our_time.disturbed,
                    "largest difference": difference,
                }
            )
    return rows


def differ(theirs: Any, ours: Any) -> float:
    """How far the two results are apart at most."""
    if ours.logits_BTV is not None:
        return float((theirs.logits - ours.logits_BTV).abs().max())
    return float((theirs.last_hidden_state - ours.hidden_BTM).abs().max())


if __name__ == "__main__":
    typer.run(main)
