r"""The summaries: one pass over q·k, each tile forgotten once it was seen.

Of a tile of scores a thread holds, of every 16 rows and 8 columns, rows `l` and `l + 8` and two
columns side by side: that is how the matrix unit leaves them. What a query says of itself is kept
in four parts, one a thread, that never meet before the pass is over:

    [rows, keys]  ->  [rows, 4 parts, keys / 4 in one thread]

What a key is given has to be added up over the rows of every tile: first inside each thread, then
over the 8 threads of a warp that hold the same columns. Exponents are of 2 throughout. This file
is imported only where Triton is.
"""

from typing import no_type_check

import triton
import triton.language as tl

from .scatter import scatter
from .tiles import (
    LN2,
    block_of,
    by_thread,
    exponents,
    head_of,
    hidden,
    load_keys,
    load_lse,
    load_queries,
    nearness,
    reach,
    stretch,
    tile_at,
    tiles_between,
    whose,
)


@triton.jit
@no_type_check
def summarize(
    q,
    k,
    lse_ptr,
    mask,
    real_ptr,
    found,
    ahead_ptr,
    drawn,
    peaks_ptr,
    factors,
    sizes,
    high,
    wide,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    WARPS: tl.constexpr,
    EVEN: tl.constexpr,
    LEVEL: tl.constexpr,
    BY_HAND: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Everything that some queries of one head say of themselves, and give to the keys."""
    own = whose(sizes, ROWS)
    q_rows, k_ptr = load_queries(q, own, sizes, WIDTH), head_of(k, own, sizes[2])
    lse, near = load_lse(lse_ptr, own, sizes), nearness(own, sizes)
    least, most, left, right = reach(mask, own, sizes)
    mass, entropy, signed, ahead = near * 0, near * 0, near * 0, near * 0
    peak = mass.to(tl.int32)
    first, block, end = tile_at(least, wide, KEYS)
    for _ in range(tiles_between(least, most, wide, KEYS)):
        k_rows = load_keys(k_ptr, k, first, sizes, WIDTH, KEYS, EVEN)
        logs = tl.dot(q_rows, tl.trans(k_rows), input_precision=PRECISION)
        logs = exponents(logs, factors) - lse[:, None]
        if (first < left) | (first + KEYS > tl.minimum(right, end)):
            logs = hidden(logs, mask, own, sizes, first, end)
        weights = tl.math.exp2(logs)
        more, way, spread, top = measured(weights, logs, near, first)
        mass, signed, entropy = mass + more, signed + way, entropy - spread
        peak = tl.maximum(peak, top)
        if ahead_ptr is not None:
            ahead = looked_ahead(ahead, weights, way, own, sizes, first)
        if first <= left:
            note_first(found[5], weights, mask, own, sizes, first)
        give(found[0], weights, own, real_ptr, first, sizes, WARPS, EVEN, BY_HAND)
        done = first + KEYS >= end
        if drawn is not None:  # noqa: SIM102 - what is known before running, and what is not
            if done | (first + KEYS >= most):
                draw(
                    drawn,
                    peaks_ptr,
                    found,
                    mass,
                    peak,
                    own,
                    mask,
                    real_ptr,
                    block,
                    end,
                    sizes,
                    high,
                    wide,
                    LEVEL,
                )
                mass, peak = near * 0, peak * 0
        first, block = tl.minimum(first + KEYS, end), block + tl.where(done, 1, 0)
        end += tl.where(done, wide[0] + tl.where(block < wide[1], 1, 0), 0)
    write(found, ahead_ptr, own, sizes, mass, peak, entropy, signed, ahead, drawn is None)


@triton.jit
@no_type_check
def measured(weights, logs, near, first):
    """Of each part: its mass, its way back in tokens, its sum of P log P, its largest weight.

    A weight is never below 0, so its bits are in its order; whole numbers compare three at a time.
    """
    parts = by_thread(weights)
    step = tl.arange(0, parts.shape[2])[None, None, :]
    mass = tl.sum(parts, 2)
    ahead = tl.sum(parts * (step // 2 * 8 + step % 2).to(tl.float32), 2)
    way = (near - tl.cast(first, tl.float32)) * mass - ahead
    top = tl.max(parts.to(tl.int32, bitcast=True), 2)
    return mass, way, tl.sum(parts * by_thread(logs), 2), top


@triton.jit
@no_type_check
def looked_ahead(ahead, weights, way, own, sizes, first):
    """How far ahead of themselves the queries look, with one more tile."""
    here = own[3] + (sizes[1] - sizes[0])
    top = own[4] + (sizes[1] - sizes[0])
    if first >= top + weights.shape[0] - 1:
        ahead -= way
    elif first + weights.shape[1] - 1 > top:
        gap = tl.maximum(first + tl.arange(0, weights.shape[1])[None, :] - here[:, None], 0)
        ahead += tl.sum(by_thread(weights * gap.to(tl.float32)), 2)
    return ahead


@triton.jit
@no_type_check
def note_first(sink_ptr, weights, mask, own, sizes, first):
    """Write the weight on the first key that each query sees, for those that it is in this tile."""
    start, _ = stretch(mask, own, sizes)
    columns = first + tl.arange(0, weights.shape[1])[None, :]
    weight = tl.sum(tl.where(columns == start[:, None], weights, 0.0), 1)
    here = (start >= first) & (start < first + weights.shape[1]) & (own[3] < sizes[0])
    tl.store(sink_ptr + own[2] * sizes[0] + own[3], weight, mask=here)


@triton.jit
@no_type_check
def give(
    received_ptr,
    weights,
    own,
    real_ptr,
    first,
    sizes,
    WARPS: tl.constexpr,
    EVEN: tl.constexpr,
    BY_HAND: tl.constexpr,
):
    """Add what these queries give to a tile of keys, each warp its own so that none waits."""
    ROWS: tl.constexpr = weights.shape[0]
    KEYS: tl.constexpr = weights.shape[1]
    if real_ptr is not None:
        weights *= tl.where(counted(real_ptr, own, sizes), 1.0, 0.0)[:, None]
    weights = tl.reshape(weights, [ROWS // (16 * WARPS), WARPS, 2, 8, KEYS])
    weights = tl.reshape(tl.trans(weights, 1, 3, 4, 0, 2), [WARPS, 8, KEYS, ROWS // (8 * WARPS)])
    given, received_ptr = tl.sum(weights, 3), received_ptr + own[2] * sizes[1] + first
    if BY_HAND and KEYS == 64:
        scatter(received_ptr, given, sizes[1] - first, EVEN)
    elif BY_HAND:
        one, two = tl.split(tl.trans(tl.reshape(given, [WARPS, 8, 2, 64]), 0, 1, 3, 2))
        scatter(received_ptr, one, sizes[1] - first, EVEN)
        scatter(received_ptr + 64, two, sizes[1] - first - 64, EVEN)
    else:
        columns = tl.arange(0, KEYS)[None, :] + tl.zeros([WARPS, KEYS], tl.int32)
        given = tl.sum(given, 1)
        if EVEN:
            tl.atomic_add(received_ptr + columns, given, sem="relaxed")
        else:
            inside = columns < sizes[1] - first
            tl.atomic_add(received_ptr + columns, given, mask=inside, sem="relaxed")


@triton.jit
@no_type_check
def counted(real_ptr, own, sizes):
    """Which of these queries are there and no padding."""
    inside = own[3] < sizes[0]
    if real_ptr is not None:
        rows = own[0] * sizes[0] + tl.minimum(own[3], sizes[0] - 1)
        inside &= tl.load(real_ptr + rows) != 0
    return inside


@triton.jit
@no_type_check
def draw(
    drawn,
    peaks_ptr,
    found,
    mass,
    peak,
    own,
    mask,
    real_ptr,
    block,
    end,
    sizes,
    high,
    wide,
    LEVEL: tl.constexpr,
):
    """Add what these queries did in a block of keys to the map, and to what they did in all.

    Each query's largest weight in each block is kept as well where there is room for it.
    `LEVEL`: all of them are in one block of queries.
    """
    row_mass, row_peak, rows = tl.sum(mass, 1), tl.max(peak, 1), own[3]
    places, inside = own[2] * sizes[0] + rows, rows < sizes[0]
    tl.atomic_add(found[1] + places, row_mass, mask=inside, sem="relaxed")
    tl.atomic_max(found[3] + places, row_peak, mask=inside, sem="relaxed")
    if peaks_ptr is not None:
        line = (own[2] * wide[2] + block) * sizes[0]
        tl.store(peaks_ptr + line + rows, row_peak, mask=inside)
    real = counted(real_ptr, own, sizes)
    row_mass, row_peak = tl.where(real, row_mass, 0.0), tl.where(real, row_peak, 0)
    start, stop = stretch(mask, own, sizes)
    begin = block * wide[0] + tl.minimum(block, wide[1])
    seen = tl.where(real, tl.maximum(tl.minimum(stop, end) - tl.maximum(start, begin), 0), 0)
    if LEVEL:
        cell = block_of(own[4], high[0], high[1]) * wide[2] + block
        row_mass, row_peak, seen = tl.sum(row_mass, 0), tl.max(row_peak, 0), tl.sum(seen, 0)
        real = own[4] >= 0
    else:
        cell = block_of(rows, high[0], high[1]) * wide[2] + block
    plane = own[2] * high[2] * wide[2]
    tl.atomic_add(drawn[0] + plane + cell, row_mass, mask=real, sem="relaxed")
    tl.atomic_max(drawn[1] + plane + cell, row_peak, mask=real, sem="relaxed")
    if own[1] == 0:
        cells = drawn[2] + own[0] * high[2] * wide[2] + cell
        tl.atomic_add(cells, seen.to(tl.int64), mask=real, sem="relaxed")


@triton.jit
@no_type_check
def write(found, ahead_ptr, own, sizes, mass, peak, entropy, signed, ahead, ALL: tl.constexpr):
    """What each query says of itself; `ALL`: its mass and peak too, which no map has gathered."""
    places, inside = own[2] * sizes[0] + own[3], own[3] < sizes[0]
    tl.store(found[2] + places, tl.sum(entropy, 1) * LN2, mask=inside)
    tl.store(found[4] + places, tl.sum(signed, 1), mask=inside)
    if ahead_ptr is not None:
        tl.store(ahead_ptr + places, tl.sum(ahead, 1), mask=inside)
    if ALL:
        tl.store(found[1] + places, tl.sum(mass, 1), mask=inside)
        tl.store(found[3] + places, tl.max(peak, 1), mask=inside)
