"""The log of each row's sum of exponentials, from q·k alone."""

from typing import no_type_check

import triton
import triton.language as tl

from .tiles import (
    LN2,
    NEVER,
    by_thread,
    exponents,
    head_of,
    hidden,
    load_keys,
    load_queries,
    nearness,
    reach,
    whose,
)


@triton.jit
@no_type_check
def add_up(
    q,
    k,
    lse_ptr,
    mask,
    factors,
    sizes,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    KEYS: tl.constexpr,
    EVEN: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """The log of each row's sum of exponentials; below -1e29 on a row that sees nothing."""
    own = whose(sizes, ROWS)
    q_rows, k_ptr = load_queries(q, own, sizes, WIDTH), head_of(k, own, sizes[2])
    least, most, left, right = reach(mask, own, sizes)
    total = nearness(own, sizes) * 0
    top = total + NEVER
    for first in range(least // KEYS * KEYS, most, KEYS):
        k_rows = load_keys(k_ptr, k, first, sizes, WIDTH, KEYS, EVEN)
        logs = exponents(tl.dot(q_rows, tl.trans(k_rows), input_precision=PRECISION), factors)
        if (first < left) | (first + KEYS > right):
            logs = hidden(logs, mask, own, sizes, first, sizes[1])
        logs = by_thread(logs)
        higher = tl.maximum(top, tl.max(logs, 2))
        more = tl.sum(tl.math.exp2(logs - higher[:, :, None]), 2)
        total = total * tl.math.exp2(top - higher) + more
        top = higher
    row_top = tl.max(top, 1)
    total = tl.sum(total * tl.math.exp2(top - row_top[:, None]), 1)
    total = tl.maximum(total, 0.5)  # a row that sees a key has at least 1
    rows = own[3]
    place = lse_ptr + own[2] * sizes[0] + rows
    tl.store(place, (row_top + tl.math.log2(total)) * LN2, mask=rows < sizes[0])
