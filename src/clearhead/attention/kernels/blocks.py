"""Sparse attention in tiles of queries, each against only the keys its rule may allow."""

import torch
from torch import Tensor

from ..bias import bias_grid
from ..contract import Attended, Request, refusal
from ..fused import Call, run, values_alone
from ..masks import tile_verdict

ROWS = 256  # queries a tile: enough work a call, little waste at the edge of a window
COLUMNS = 64  # keys a tile: how finely forbidden keys are skipped


class Blocks:
    """Any rule on any device; pays off when the rule forbids most tiles. Plain PyTorch."""

    name = "blocks"

    def refuses(self, request: Request) -> str | None:
        return refusal(
            (request.wants_weights, "it never builds the weights"),
            (request.scores.softcap is not None, "it has no softcap"),
            (request.scores.sinks is not None, "it has no sinks"),
            (request.scale <= 0, "it takes a scale above 0 only"),
            (
                request.q_BHTD.shape[-1] != request.v_BGSE.shape[-1],
                "it needs values as wide as queries",
            ),
            (request.queries * request.keys == 0, "it needs a query and a key at least"),
        )

    def __call__(self, request: Request) -> Attended:
        plan = _plan(request)
        parts = [_tile(request, index * ROWS, columns, every) for index, columns, every in plan]
        lse = [part.lse_BHT for part in parts if part.lse_BHT is not None]
        return Attended(
            values_BHTE=torch.cat([part.values_BHTE for part in parts], dim=2),
            lse_BHT=torch.cat(lse, dim=2) if len(lse) == len(parts) else None,
            kernel=self.name,
        )


def _plan(request: Request) -> list[tuple[int, list[int], bool]]:
    """For each tile of queries: the tiles of keys to visit, and whether it sees all of them."""
    verdict = tile_verdict(
        request.mask,
        batch=len(request.q_BHTD),
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        size=(ROWS, COLUMNS),
        device=request.q_BHTD.device,
    )
    some_RC, every_RC = verdict.some.any(0).cpu(), verdict.every.all(0).cpu()
    some_RC[:, 0] |= ~some_RC.any(1)  # a tile of blind queries visits one, and finds it forbidden
    return [
        (index, some.nonzero()[:, 0].tolist(), bool(every[some].all()))
        for index, (some, every) in enumerate(zip(some_RC, every_RC, strict=True))
    ]


def _tile(request: Request, start: int, columns: list[int], every: bool) -> Attended:
    """Attention of the queries from `start` on over the chosen tiles of keys."""
    q_BHtD = request.q_BHTD[:, :, start : start + ROWS]
    chosen = _chosen(columns, request.keys, q_BHtD.device)
    call = Call(
        q_BHTD=q_BHtD,
        k_BGSD=_pick(request.k_BGSD, chosen),
        v_BGSE=_pick(request.v_BGSE, chosen),
        mask=_added(request, start, chosen, every),
        causal=False,
        scale=request.scale,
        dropout=request.dropout,
    )
    if not request.wants_lse:
        return Attended(values_BHTE=values_alone(call), kernel="blocks")
    found = run(call)
    return Attended(values_BHTE=found.values_BHTE, lse_BHT=found.lse_BHT, kernel="blocks")


def _chosen(columns: list[int], keys: int, device: torch.device) -> slice | Tensor:
    """The keys of these tiles: a slice, which copies nothing, where they stand side by side."""
    if columns[-1] - columns[0] + 1 == len(columns):
        return slice(columns[0] * COLUMNS, min(keys, (columns[-1] + 1) * COLUMNS))
    inside = torch.arange(COLUMNS)
    every = (torch.tensor(columns)[:, None] * COLUMNS + inside).flatten()
    return every[every < keys].to(device)


def _pick(x_BGSD: Tensor, chosen: slice | Tensor) -> Tensor:
    return x_BGSD[:, :, chosen] if isinstance(chosen, slice) else x_BGSD.index_select(2, chosen)


def _added(request: Request, start: int, chosen: slice | Tensor, every: bool) -> Tensor | None:
    """Mask and bias of this tile as one float tensor, or None when there is neither."""
    q_BHTD, bias = request.q_BHTD, request.scores.bias
    if every and bias is None:
        return None
    device, end = q_BHTD.device, min(start + ROWS, request.queries)
    columns_s = torch.arange(request.keys, device=device)[chosen] + request.first
    rows_t = (
        torch.arange(start, end, device=device) + request.first + request.keys - request.queries
    )
    added = torch.zeros((), dtype=q_BHTD.dtype, device=device)
    if isinstance(bias, Tensor):
        full = bias.expand(*q_BHTD.shape[:3], request.keys)[:, :, start:end]
        added = full[..., chosen].to(q_BHTD.dtype)
    elif bias is not None:
        drawn = bias_grid(bias, heads=q_BHTD.shape[1], rows_T=rows_t, columns_S=columns_s)
        added = drawn.to(q_BHTD.dtype)
    batch_B11 = torch.arange(len(q_BHTD) if request.mask.batched else 1, device=device)[
        :, None, None
    ]
    seen = request.mask.sees(batch_B11, rows_t[:, None], columns_s)
    allowed_B1ts = seen.expand(len(batch_B11), len(rows_t), len(columns_s))[:, None]
    return torch.where(allowed_B1ts, added, -torch.inf)
