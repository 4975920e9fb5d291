"""What every kernel here does with a tile of queries and keys. Exponents are of 2 throughout."""

from typing import no_type_check

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
LN2 = tl.constexpr(0.6931471805599453)
NEVER = tl.constexpr(-1e30)  # the score of a pair that may not be: its weight is 0, not NaN


@triton.jit
@no_type_check
def whose(sizes, ROWS: tl.constexpr):
    """Example, head, number of the two together, and the queries: the longest work comes first."""
    head, tile = tl.program_id(0), tl.num_programs(1) - 1 - tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    rows = tile * ROWS + tl.arange(0, ROWS)
    return batch, head.to(tl.int64), batch * tl.num_programs(0) + head, rows, tile * ROWS


@triton.jit
@no_type_check
def head_of(tensor, own, shared):
    """Where the rows of this head begin."""
    return tensor[0] + own[0] * tensor[1] + own[1] // shared * tensor[2]


@triton.jit
@no_type_check
def load_queries(q, own, sizes, WIDTH: tl.constexpr):
    """The queries; the last one again where there are no more."""
    rows, across = tl.minimum(own[3], sizes[0] - 1), tl.arange(0, triton.next_power_of_2(WIDTH))
    places = head_of(q, own, 1) + rows[:, None].to(tl.int64) * q[3] + across[None, :] * q[4]
    if across.shape[0] == WIDTH:
        q_rows = tl.load(places)
    else:
        q_rows = tl.load(places, mask=(across < WIDTH)[None, :], other=0.0)
    return q_rows


@triton.jit
@no_type_check
def load_keys(k_ptr, k, first, sizes, WIDTH: tl.constexpr, KEYS: tl.constexpr, EVEN: tl.constexpr):
    """A tile of keys; zeros where there are no more."""
    rows, across = tl.arange(0, KEYS), tl.arange(0, triton.next_power_of_2(WIDTH))
    places = k_ptr + tl.cast(first, tl.int64) * k[3] + rows[:, None] * k[3] + across[None, :] * k[4]
    if EVEN and across.shape[0] == WIDTH:
        k_rows = tl.load(places)
    else:
        inside = (first + rows < sizes[1])[:, None] & (across < WIDTH)[None, :]
        k_rows = tl.load(places, mask=inside, other=0.0)
    return k_rows


@triton.jit
@no_type_check
def load_lse(lse_ptr, own, sizes):
    """Each row's lse; where there is no row, one that leaves every weight 0."""
    rows = own[3]
    lse = tl.load(lse_ptr + own[2] * sizes[0] + tl.minimum(rows, sizes[0] - 1))
    return tl.where(rows < sizes[0], lse * LOG2E, -NEVER)


@triton.jit
@no_type_check
def nearness(own, sizes):
    """How far each query stands behind the first key of each of its four parts of keys."""
    here = own[3] + (sizes[1] - sizes[0])
    return (here[:, None] - tl.arange(0, 4)[None, :] * 2).to(tl.float32)


@triton.jit
@no_type_check
def stretch(mask, own, sizes):
    """The first key that each query sees, and the one behind the last."""
    rows = own[0] * mask[2] + tl.minimum(own[3], sizes[0] - 1)
    return tl.load(mask[0] + rows), tl.load(mask[1] + rows)


@triton.jit
@no_type_check
def reach(mask, own, sizes):
    """From where to where any of these queries sees keys, and from where to where all do."""
    start, stop = stretch(mask, own, sizes)
    least = tl.min(tl.where(stop > start, start, sizes[1] - 1))
    most = tl.max(tl.where(stop > start, stop, 0))
    return least, most, tl.max(start), tl.min(stop)


@triton.jit
@no_type_check
def hidden(logs, mask, own, sizes, first, end):
    """The same tile without the pairs that may not be, or that are in the next block of keys."""
    start, stop = stretch(mask, own, sizes)
    behind = first + tl.arange(0, logs.shape[1])[None, :] - start[:, None]
    length = tl.maximum(tl.minimum(stop, end) - start, 0)
    seen = behind.to(tl.uint32, bitcast=True) < length.to(tl.uint32, bitcast=True)[:, None]
    return tl.where(seen, logs, NEVER)


@triton.jit
@no_type_check
def exponents(scores, factors):
    """Scores as exponents of 2, from bare q·k; tanh x is 1 - 2 / (e^2x + 1)."""
    if factors[1] is None:
        logs = scores * factors[0]
    else:
        logs = factors[1] - 2 * factors[1] / (tl.math.exp2(scores * factors[0]) + 1)
    return logs


@triton.jit
@no_type_check
def by_thread(x):
    """[rows, keys] as [rows, 4 parts, keys / 4], the last axis inside one thread."""
    ROWS: tl.constexpr = x.shape[0]
    KEYS: tl.constexpr = x.shape[1]
    x = tl.trans(tl.reshape(x, [ROWS, KEYS // 8, 4, 2]), 0, 2, 1, 3)
    return tl.reshape(x, [ROWS, 4, KEYS // 4])


@triton.jit
@no_type_check
def block_of(place, length, longer):
    """The block that a place is in; the first `longer` blocks are one place longer."""
    edge = longer * (length + 1)
    behind = longer + tl.maximum(place - edge, 0) // tl.maximum(length, 1)
    return tl.where(place < edge, place // (length + 1), behind)


@triton.jit
@no_type_check
def tile_at(key, wide, KEYS: tl.constexpr):
    """The tile that a key is in: its first key, its block of keys, and where that ends."""
    block = block_of(key, wide[0], wide[1])
    begin = block * wide[0] + tl.minimum(block, wide[1])
    end = begin + wide[0] + tl.where(block < wide[1], 1, 0)
    return begin + (key - begin) // KEYS * KEYS, block, end


@triton.jit
@no_type_check
def tiles_between(least, most, wide, KEYS: tl.constexpr):
    """How many tiles there are from the one with key `least` to the one before `most`."""
    count = tiles_before(most - 1, wide, KEYS) + 1 - tiles_before(least, wide, KEYS)
    return tl.where(most > 0, count, 0)


@triton.jit
@no_type_check
def tiles_before(key, wide, KEYS: tl.constexpr):
    """How many tiles end before the one with this key: no tile is in two blocks."""
    first, block, _ = tile_at(tl.maximum(key, 0), wide, KEYS)
    longer = tl.minimum(block, wide[1])
    before = longer * tl.cdiv(wide[0] + 1, KEYS) + (block - longer) * tl.cdiv(wide[0], KEYS)
    return before + (first - block * wide[0] - longer) // KEYS
