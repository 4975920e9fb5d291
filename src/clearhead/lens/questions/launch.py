"""How the kernels of the lens are launched: tiles, sizes, strides, and room for what they find."""

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .edges import Edges
from .source import Source

LOG2E = math.log2(math.e)


@dataclass(frozen=True)
class Tiling:
    """How a kernel cuts its work.

    Args:
        rows: Queries a tile.
        keys: Keys a tile.
        warps: How many work on a tile, each on 16 rows of it, or on some times 16.
        stages: How many tiles of keys are in reach at once: one worked on, others being loaded.
        registers: The most a thread may use, so that more tiles are worked on at once.
        by_hand: Add up over the threads of a warp in PTX of our own, with fewer exchanges.
    """

    rows: int
    keys: int
    warps: int
    stages: int
    registers: int | None = None
    by_hand: bool = False


# What benchmarks/lens_pass.py times.
TABLE = (
    Tiling(128, 64, 4, 3, by_hand=True),
    Tiling(128, 64, 4, 3),
    Tiling(128, 64, 4, 2, by_hand=True),
    Tiling(256, 64, 8, 2, registers=128, by_hand=True),
    Tiling(64, 64, 4, 3, by_hand=True),
    Tiling(128, 128, 8, 3, by_hand=True),
)


def fitting(source: Source) -> Tiling:
    """The tiles that were fastest where they were timed."""
    width = source.request.q_BHTD.shape[-1]
    if source.request.q_BHTD.dtype == torch.float32:
        return Tiling(64, 32, 4, 2)
    if width > 128:
        return Tiling(128, 64, 8, 2)
    return TABLE[0]


def grid(source: Source, tiling: Tiling) -> tuple[int, int, int]:
    """One program for each tile of queries of each head of each example."""
    batch, heads, queries, _ = source.sizes
    return heads, -(-queries // tiling.rows), batch


def settings(source: Source, tiling: Tiling) -> dict[str, Any]:
    """What a kernel is compiled for."""
    q_BHTD = source.request.q_BHTD
    chosen: dict[str, Any] = {
        "WIDTH": q_BHTD.shape[-1],
        "ROWS": tiling.rows,
        "KEYS": tiling.keys,
        "PRECISION": "ieee" if q_BHTD.dtype == torch.float32 else "tf32",
        "num_warps": tiling.warps,
        "num_stages": tiling.stages,
    }
    return chosen if tiling.registers is None else chosen | {"maxnreg": tiling.registers}


def side(tensor: Tensor) -> tuple[Tensor | int, ...]:
    """A tensor and its four strides."""
    return (tensor, *tensor.stride())


def mask_of(source: Source) -> tuple[Tensor, Tensor, int]:
    """First key and the one behind the last, of each query; and the step between examples."""
    found, first = source.stretches, source.request.first
    assert found is not None
    start_BT, stop_BT = ((x - first).int().contiguous() for x in (found.start_BT, found.stop_BT))
    return start_BT, stop_BT, source.sizes[2] if len(start_BT) > 1 else 0


def looks_ahead(source: Source) -> bool:
    """Whether any query sees a key that stands behind it."""
    _, _, queries, keys = source.sizes
    _, stop_BT, _ = mask_of(source)
    here_T = torch.arange(queries, device=source.device) + keys - queries
    return bool((stop_BT > here_T + 1).any())


def factors(source: Source) -> tuple[float, float | None]:
    """What bare scores are multiplied with, before the bend and after it, for exponents of 2."""
    scale, softcap = source.request.scale, source.request.scores.softcap
    if softcap is None:
        return scale * LOG2E, None
    return 2 * scale * LOG2E / softcap, softcap * LOG2E


def cut(edges: Edges) -> tuple[int, int, int]:
    """The length of most blocks, how many are one longer, and how many blocks there are."""
    length, longer = divmod(edges.stop - edges.start, edges.count)
    return length, longer, edges.count


def fits(edges: Edges, tile: int) -> bool:
    """Whether every block is whole tiles."""
    length, longer, _ = cut(edges)
    return not longer and length % tile == 0


def zeros(source: Source, *sizes: int) -> Tensor:
    """Room for numbers of every head."""
    return torch.zeros(*source.sizes[:2], *sizes, device=source.device, dtype=torch.float32)


def bits(tensor: Tensor) -> Tensor:
    """The same memory as whole numbers."""
    return tensor.view(torch.int32)


@dataclass(frozen=True)
class Peaks:
    """The bits of every query's largest weight in each block of keys, and where blocks begin."""

    bits_BHRT: Tensor | None
    columns: Edges


def room_for(source: Source, blocks: int) -> Tensor:
    """-1 for every query and block; no weight has these bits."""
    batch, heads, queries, _ = source.sizes
    shape = (batch, heads, blocks, queries)
    return torch.full(shape, -1, dtype=torch.int32, device=source.device)


def on(device: torch.device) -> AbstractContextManager[object]:
    """Inside the block, kernels are launched there."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()
