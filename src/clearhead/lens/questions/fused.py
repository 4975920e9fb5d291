"""The summaries on CUDA: one Triton pass over q·k for all of them, in memory O(n).

Agrees with the plain pass of plain.py on all that it does not refuse. The kernels themselves are
in kernels/, which is loaded when they are first needed.
"""

from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import torch
from jaxtyping import Float
from torch import Tensor

from ...attention.contract import refusal
from . import fused_keys
from .collectors import Blocks
from .edges import Edges
from .launch import (
    Peaks,
    Tiling,
    bits,
    cut,
    factors,
    fits,
    fitting,
    grid,
    looks_ahead,
    mask_of,
    on,
    room_for,
    settings,
    side,
    zeros,
)
from .scores import FORBIDDEN
from .source import Source
from .summaries import Rows, Summaries
from .sweep import settled

PRECISIONS = (torch.bfloat16, torch.float16, torch.float32)
WIDEST = 256
MOST = 32  # strongest keys of a query
GROUPS = 128  # blocks of keys that the strongest are looked for in, where there are many keys
SHORT = 16  # keys that such a block has at least


def refuses(source: Source, top: int | None = None) -> str | None:
    """Why these kernels cannot answer for this source, or None when they can.

    Args:
        top: How many of the strongest keys of each query are wanted as well.
    """
    request, precision = source.request, source.request.q_BHTD.dtype
    width = request.q_BHTD.shape[-1]
    return refusal(
        (find_spec("triton") is None, "triton is not installed"),
        (precision not in PRECISIONS, f"{precision} is not one of {PRECISIONS}"),
        (precision != request.k_BGSD.dtype, "queries and keys differ in precision"),
        (width % 16 > 0 or width > WIDEST, f"a width of {width} is no multiple of 16 up to 256"),
        (0 in source.sizes, "there is nothing to see"),
        (request.scores.bias is not None, "it adds no bias"),
        (source.stretches is None, "a query of this mask sees keys with gaps between them"),
        (source.weighs_all_BT is not None, "queries that see nothing weigh every key"),
        ((top or 1) > MOST, f"it finds the {MOST} strongest keys at most"),
        (not runs_on(source.device), f"Triton does not run on {source.device.type}"),
    )


@cache
def runs_on(device: torch.device) -> bool:
    """Whether Triton runs there: on CUDA, or anywhere in its interpreter."""
    if find_spec("triton") is None:
        return False
    import triton

    return device.type == "cuda" or bool(triton.knobs.runtime.interpret)


def summaries(
    source: Source,
    rows: Rows,
    *,
    size: int | None = None,
    top: int | None = None,
    tiling: Tiling | None = None,
) -> Summaries:
    """All of them in one pass, with a map of `size` blocks and the `top` keys where asked for."""
    chosen = fitting(source) if tiling is None else tiling
    if top is None:
        return one_pass(source, rows.lse_BHT, size, 0, chosen)[0]
    groups = max(1, min(GROUPS, source.sizes[3] // SHORT))
    if size is not None and not groups <= size <= 2 * groups:
        # Blocks too large leave too much to search, too small ones too many: a pass of their own.
        best = summaries(source, rows, top=top, tiling=tiling).top
        return replace(one_pass(source, rows.lse_BHT, size, 0, chosen)[0], top=best)
    parts = []
    for heads, key_heads in fused_keys.shares(source, top, size or groups):
        part, lse_BhT = fused_keys.of_heads(source, heads, key_heads), rows.lse_BHT[:, heads]
        found, peaks = one_pass(part, lse_BhT, size, groups, chosen)
        parts.append(replace(found, top=fused_keys.strongest(part, lse_BhT, peaks, top)))
    return fused_keys.side_by_side(parts)


def one_pass(
    source: Source, lse_BHT: Tensor, size: int | None, groups: int, tiling: Tiling
) -> tuple[Summaries, Peaks]:
    """The summaries with a map of `size` blocks; with `groups`, also every query's peaks.

    These are its largest weights in each block of keys: the map's blocks, or `groups` where there
    is no map.
    """
    from .kernels.summaries import summarize

    _, heads, queries, keys = source.sizes
    received_BHS = zeros(source, keys)
    mass, entropy, peak, signed, sink = (zeros(source, queries) for _ in range(5))
    ahead = zeros(source, queries) if looks_ahead(source) else None
    high, wide = (Edges.of(slice(0, length), size or groups or 1) for length in (queries, keys))
    drawn = Blocks(source, high, wide) if size or groups else None
    peaks = Peaks(room_for(source, wide.count) if groups else None, wide)
    with on(source.device):
        summarize[grid(source, tiling)](
            side(source.request.q_BHTD),
            side(source.request.k_BGSD),
            lse_BHT.float().contiguous(),
            mask_of(source),
            None if source.real_BT is None else source.real_BT.to(torch.int8).contiguous(),
            (received_BHS, mass, entropy, bits(peak), signed, sink),
            ahead,
            None if drawn is None else (drawn.sums, bits(drawn.logs.zero_()), drawn.counts),
            peaks.bits_BHRT,
            factors(source),
            (queries, keys, heads // source.request.k_BGSD.shape[1]),
            cut(high),
            cut(wide),
            **settings(source, tiling),
            WARPS=tiling.warps,
            EVEN=fits(wide, tiling.keys),
            LEVEL=fits(high, tiling.rows),
            BY_HAND=tiling.by_hand,
        )
    if drawn is not None:
        drawn.logs = drawn.logs.log().clamp(min=FORBIDDEN)  # the kernel leaves the weights
    found = Summaries(
        received_BHS=received_BHS,
        entropy_BHT=entropy,
        peak_BHT=peak,
        signed_BHT=signed,
        absolute_BHT=signed if ahead is None else signed + 2 * ahead,
        mass_BHT=mass,
        sink_BHT=sink,
        blocks=None if size is None else drawn,
    )
    return found, peaks


def row_sums(source: Source, *, tiling: Tiling | None = None) -> Float[Tensor, "b h t"]:
    """The lse of every row, from its scores; 0 on a row that sees nothing."""
    from .kernels.lse import add_up

    chosen = fitting(source) if tiling is None else tiling
    lse_BHT = zeros(source, source.sizes[2])
    with on(source.device):
        add_up[grid(source, chosen)](
            side(source.request.q_BHTD),
            side(source.request.k_BGSD),
            lse_BHT,
            mask_of(source),
            factors(source),
            (*source.sizes[2:], source.sizes[1] // source.request.k_BGSD.shape[1]),
            **settings(source, chosen),
            EVEN=source.sizes[3] % chosen.keys == 0,
        )
    sinks_H = source.request.scores.sinks
    if sinks_H is not None:
        lse_BHT = torch.logaddexp(lse_BHT, sinks_H.to(lse_BHT)[:, None])
    return settled(source, lse_BHT)
