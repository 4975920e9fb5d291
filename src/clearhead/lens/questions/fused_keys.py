"""The strongest keys of every query on CUDA, found in the blocks with its largest weights.

How, and why these are all of them: kernels/strongest.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .collectors import Top
from .launch import Peaks, Tiling, cut, factors, fits, mask_of, on, settings, side
from .source import Source
from .summaries import Summaries

ROOM = 2**28  # bytes that the search may take at once
SEARCH = Tiling(128, 64, 4, 2)  # queries and keys a tile
AT_ONCE, SIZE = 64, 1024  # queries that are picked or merged for at once, entries that are filed
SOME = 32 * 32  # numbers a tile of the merge has at least


def count_of(top: int) -> int:
    """As many as are looked for: a power of 2."""
    return 1 << (top - 1).bit_length()


def shares(source: Source, top: int, blocks: int) -> Iterator[tuple[slice, slice]]:
    """Query heads with their key heads, so few at once that there is room for the search."""
    batch, heads, queries, _ = source.sizes
    groups = source.request.k_BGSD.shape[1]
    shared, count = heads // groups, count_of(top)
    each = batch * shared * queries * (4 * blocks + 8 * count * count + 8 * count)
    step = max(1, min(groups, ROOM // max(each, 1)))
    for start in range(0, groups, step):
        stop = min(start + step, groups)
        yield slice(start * shared, stop * shared), slice(start, stop)


@dataclass(frozen=True)
class Filed:
    """The queries that want each block of keys.

    Args:
        lists_PN: A head's queries by block: query × count + the block's rank with that query.
        block_PW: The block that each task searches; -1 for none.
        first_PW: Where the queries of each task begin in the list.
        ends_PR: Where the queries of each block end in the list.
    """

    lists_PN: Tensor
    block_PW: Tensor
    first_PW: Tensor
    ends_PR: Tensor


def strongest(source: Source, lse_BHT: Tensor, peaks: Peaks, top: int) -> Top:
    """Of every query its strongest keys, from its largest weights in every block of keys."""
    from .kernels import strongest as kernels

    batch, heads, queries, keys = source.sizes
    count, columns = count_of(top), peaks.columns
    tiling = SEARCH if source.request.q_BHTD.dtype != torch.float32 else Tiling(64, 32, 4, 2)
    device, planes = source.device, batch * heads
    with on(source.device):
        picked_PTc, floors_PT, wanted_PR = picked(source, peaks, count)
        filed = file(picked_PTc, wanted_PR, tiling.rows)
        logs = torch.empty(planes, queries, count, count, device=device)
        found = torch.empty(planes, queries, count, count, device=device, dtype=torch.int32)
        kernels.search[heads, filed.block_PW.shape[1], batch](
            side(source.request.q_BHTD),
            side(source.request.k_BGSD),
            lse_BHT.float().contiguous(),
            mask_of(source),
            (filed.lists_PN, floors_PT, filed.block_PW, filed.first_PW, filed.ends_PR),
            (logs, found),
            factors(source),
            (queries, keys, heads // source.request.k_BGSD.shape[1]),
            cut(columns),
            **settings(source, tiling),
            COUNT=count,
            EVEN=fits(columns, tiling.keys),
        )
        best = Top(source, count)
        best.keys_BHTk = best.keys_BHTk.int()
        rows = max(1, SOME // count**2)
        kernels.merge[-(-queries // rows), planes](
            (logs, found),
            picked_PTc,
            (best.logs_BHTk, best.keys_BHTk),
            queries,
            COUNT=count,
            ROWS=rows,
        )
    if count > top:
        best.logs_BHTk = best.logs_BHTk[..., :top].contiguous()
        best.keys_BHTk = best.keys_BHTk[..., :top].contiguous()
    best.count = top
    return best


def picked(source: Source, peaks: Peaks, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Of every query the blocks it wants and the least log worth finding; how many want a block."""
    from .kernels import strongest as kernels

    batch, heads, queries, _ = source.sizes
    blocks, planes = peaks.columns.count, batch * heads
    chosen = torch.empty(planes, queries, count, dtype=torch.int32, device=source.device)
    floors = torch.empty(planes, queries, device=source.device)
    wanted = torch.zeros(planes, blocks, dtype=torch.int32, device=source.device)
    kernels.pick[-(-queries // AT_ONCE), planes](
        peaks.bits_BHRT,
        chosen,
        floors,
        wanted,
        queries,
        blocks,
        COUNT=count,
        BLOCKS=max(count_of(blocks), 2),
        ROWS=AT_ONCE,
    )
    return chosen, floors, wanted


def file(picked_PTc: Tensor, wanted_PR: Tensor, rows: int) -> Filed:
    """Every query in the list of each block it wants, and the lists cut into tasks of `rows`."""
    from .kernels import strongest as kernels

    planes, queries, count = picked_PTc.shape
    blocks, entries = wanted_PR.shape[1], queries * count
    ends_PR = wanted_PR.cumsum(1, dtype=torch.int32)
    starts_PR = ends_PR - wanted_PR
    lists_PN = torch.empty(planes, entries, dtype=torch.int32, device=picked_PTc.device)
    kernels.file[-(-entries // SIZE), planes](
        picked_PTc, starts_PR.clone(), lists_PN, entries, blocks, SIZE=SIZE
    )
    tasks_PR = (wanted_PR + rows - 1) // rows
    behind_PR = tasks_PR.cumsum(1, dtype=torch.int32)
    task_W = torch.arange(-(-entries // rows) + blocks, device=picked_PTc.device, dtype=torch.int32)
    task_PW = task_W.expand(planes, -1).contiguous()
    block_PW = torch.searchsorted(behind_PR, task_PW, right=True)
    at_PW = block_PW.clamp(max=blocks - 1)
    before_PW = (behind_PR - tasks_PR).gather(1, at_PW)
    first_PW = starts_PR.gather(1, at_PW) + (task_PW - before_PW) * rows
    return Filed(
        lists_PN=lists_PN,
        block_PW=block_PW.masked_fill(block_PW >= blocks, -1).int(),
        first_PW=first_PW.int(),
        ends_PR=ends_PR,
    )


def of_heads(source: Source, heads: slice, groups: slice) -> Source:
    """The same attention with some of its heads alone."""
    request = source.request
    sinks_H = request.scores.sinks
    part = replace(
        request,
        q_BHTD=request.q_BHTD[:, heads],
        k_BGSD=request.k_BGSD[:, groups],
        v_BGSE=request.v_BGSE[:, groups],
        scores=replace(request.scores, sinks=None if sinks_H is None else sinks_H[heads]),
    )
    return replace(source, request=part)


def side_by_side(parts: list[Summaries]) -> Summaries:
    """What was found of some heads after the other, as one."""
    if len(parts) == 1:
        return parts[0]
    fields = {
        name: torch.cat([getattr(part, name) for part in parts], dim=1)
        for name, value in vars(parts[0]).items()
        if isinstance(value, Tensor)
    }
    if parts[0].absolute_BHT is parts[0].signed_BHT:
        fields["absolute_BHT"] = fields["signed_BHT"]  # nobody looks ahead: one and the same
    blocks, top = parts[0].blocks, parts[0].top
    if blocks is not None:
        every = [part.blocks for part in parts if part.blocks is not None]
        blocks.sums = torch.cat([each.sums for each in every], dim=1)
        blocks.logs = torch.cat([each.logs for each in every], dim=1)
    if top is not None:
        found = [part.top for part in parts if part.top is not None]
        top.logs_BHTk = torch.cat([each.logs_BHTk for each in found], dim=1)
        top.keys_BHTk = torch.cat([each.keys_BHTk for each in found], dim=1)
    return Summaries(**fields, blocks=blocks, top=top)
