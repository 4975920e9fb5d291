r"""The strongest keys of every query, without looking at most keys again.

A query's `k` strongest keys are all in the `k` blocks of keys whose largest weights are largest:
a key elsewhere is weaker than each of those `k`. The summaries leave every query's largest weight
in every block. So:

    pick    of each query the `k` blocks, and how many queries want each block
    file    the queries by block, as one list a head
    search  each block, with only the queries that want it
    merge   what was found in `k` blocks, strongest first

With 128 blocks and 8 keys this looks at a sixteenth of all pairs.
"""

from typing import no_type_check

import triton
import triton.language as tl

from .tiles import (
    LN2,
    NEVER,
    exponents,
    head_of,
    hidden,
    load_keys,
    load_lse,
    load_queries,
    reach,
)

SLACK = tl.constexpr(1e-3)  # how far apart two roundings of one exponent may be, and more
NOBODY = tl.constexpr(-1)


@triton.jit
@no_type_check
def pick(
    peaks,
    picked,
    floors,
    wanted,
    queries,
    blocks,
    COUNT: tl.constexpr,
    BLOCKS: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Of each query the blocks with its largest weights, and the least of these weights' log."""
    rows, plane = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1).to(tl.int64)
    inside, block = rows < queries, tl.arange(0, BLOCKS)
    places = peaks + (plane * blocks + block[:, None]) * queries + rows[None, :]
    largest = tl.load(places, mask=inside[None, :] & (block < blocks)[:, None], other=NOBODY)
    least = tl.zeros([ROWS], tl.int32)
    for rank in range(COUNT):
        least, at = tl.max(largest, 0), tl.argmax(largest, 0)
        there = inside & (least >= 0)
        chosen = tl.where(there, at, NOBODY)
        tl.store(picked + (plane * queries + rows) * COUNT + rank, chosen, mask=inside)
        tl.atomic_add(wanted + plane * blocks + at, 1, mask=there, sem="relaxed")
        largest = tl.where(block[:, None] == at[None, :], NOBODY, largest)
    least = tl.maximum(least, 0).to(tl.float32, bitcast=True)
    floor = tl.where(least > 0, tl.math.log2(tl.maximum(least, 1e-38)) - SLACK, NEVER)
    tl.store(floors + plane * queries + rows, floor, mask=inside)


@triton.jit
@no_type_check
def file(picked, cursors, lists, entries, blocks, SIZE: tl.constexpr):
    """Write every query's number, with the rank of the block, into the list of that block."""
    entry, plane = tl.program_id(0) * SIZE + tl.arange(0, SIZE), tl.program_id(1).to(tl.int64)
    inside = entry < entries
    block = tl.load(picked + plane * entries + entry, mask=inside, other=NOBODY)
    inside &= block >= 0
    place = tl.atomic_add(cursors + plane * blocks + block, 1, mask=inside, sem="relaxed")
    tl.store(lists + plane * entries + place, entry, mask=inside)


@triton.jit
@no_type_check
def search(
    q,
    k,
    lse_ptr,
    mask,
    filed,
    found,
    factors,
    sizes,
    wide,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    COUNT: tl.constexpr,
    EVEN: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Of some queries that want the same block of keys, the strongest of its keys."""
    head, batch = tl.program_id(0).to(tl.int64), tl.program_id(2).to(tl.int64)
    plane = batch * tl.num_programs(0) + head
    task = plane * tl.num_programs(1) + tl.program_id(1)
    block = tl.load(filed[2] + task)
    if block < 0:
        return
    place = tl.load(filed[3] + task) + tl.arange(0, ROWS)
    inside = place < tl.load(filed[4] + plane * wide[2] + block)
    entry = tl.load(filed[0] + plane * sizes[0] * COUNT + place, mask=inside, other=0)
    rows = tl.where(inside, entry // COUNT, sizes[0])
    own = (batch, head, plane, rows, 0)
    q_rows, k_ptr = load_queries(q, own, sizes, WIDTH), head_of(k, own, sizes[2])
    lse = load_lse(lse_ptr, own, sizes)
    _, _, left, right = reach(mask, own, sizes)
    floor = tl.load(filed[1] + plane * sizes[0] + rows, mask=inside, other=NEVER)
    best = tl.zeros([ROWS, COUNT], tl.float32) + floor[:, None]
    keys = tl.zeros([ROWS, COUNT], tl.int32) + NOBODY
    begin = block * wide[0] + tl.minimum(block, wide[1])
    end = begin + wide[0] + tl.where(block < wide[1], 1, 0)
    for first in range(begin, end, KEYS):
        k_rows = load_keys(k_ptr, k, first, sizes, WIDTH, KEYS, EVEN)
        logs = tl.dot(q_rows, tl.trans(k_rows), input_precision=PRECISION)
        logs = exponents(logs, factors) - lse[:, None]
        if (first < left) | (first + KEYS > tl.minimum(right, end)):
            logs = hidden(logs, mask, own, sizes, first, end)
        best, keys = kept(best, keys, logs, first)
    best = tl.where(keys >= 0, best, NEVER)
    places = (plane * sizes[0] * COUNT + entry)[:, None] * COUNT + tl.arange(0, COUNT)[None, :]
    tl.store(found[0] + places, best, mask=inside[:, None])
    tl.store(found[1] + places, keys, mask=inside[:, None])


@triton.jit
@no_type_check
def kept(best, keys, logs, first):
    """The best so far and those of one more tile that are better, as long as any query has one."""
    COUNT: tl.constexpr = best.shape[1]
    KEYS: tl.constexpr = logs.shape[1]
    slots, columns = tl.arange(0, COUNT)[None, :], tl.arange(0, KEYS)[None, :]
    low, top = tl.min(best, 1), tl.max(logs, 1)
    while tl.max(top - low, 0) > 0:
        at, slot = tl.argmax(logs, 1), tl.argmin(best, 1)
        here = (slots == slot[:, None]) & (top > low)[:, None]
        best = tl.where(here, top[:, None], best)
        keys = tl.where(here, (first + at)[:, None], keys)
        logs = tl.where(columns == at[:, None], 2 * NEVER, logs)
        low, top = tl.min(best, 1), tl.max(logs, 1)
    return best, keys


@triton.jit
@no_type_check
def merge(found, picked, merged, queries, COUNT: tl.constexpr, ROWS: tl.constexpr):
    """Of each query its strongest keys, from all blocks, strongest first; logs are natural."""
    rows, plane = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.program_id(1).to(tl.int64)
    inside, each = rows < queries, tl.arange(0, COUNT * COUNT)[None, :]
    line = (plane * queries + rows)[:, None]
    there = tl.load(picked + line * COUNT + each // COUNT, mask=inside[:, None], other=NOBODY) >= 0
    places = line * COUNT * COUNT + each
    logs = tl.load(found[0] + places, mask=there, other=NEVER)
    keys = tl.load(found[1] + places, mask=there, other=NOBODY)
    for rank in range(COUNT):
        top, at = tl.max(logs, 1), tl.argmax(logs, 1)
        here = each == at[:, None]
        key = tl.sum(tl.where(here, keys, 0), 1)
        seen = top > NEVER / 2
        place = (plane * queries + rows) * COUNT + rank
        tl.store(merged[0] + place, tl.where(seen, top * LN2, NEVER), mask=inside)
        tl.store(merged[1] + place, tl.where(seen, key, NOBODY), mask=inside)
        logs = tl.where(here, 2 * NEVER, logs)
