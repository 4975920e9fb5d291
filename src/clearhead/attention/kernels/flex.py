"""PyTorch's FlexAttention: one compiled kernel for any rule, skipping the tiles it forbids."""

from collections.abc import Callable
from functools import cache, lru_cache
from importlib.util import find_spec
from shutil import which
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.exc import FailOnRecompileLimitHit
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, flex_attention

from ..bias import Bias
from ..contract import Attended, Request, refusal
from ..masks import Mask, plain, tile_verdict

TILE = 128  # FlexAttention's own unit of skipping
COMBINATIONS = 256  # of rules, widths and lengths that one process may compile kernels for

Run = Callable[..., Any]
IndexRule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreRule = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


@cache
def compiled() -> Run:
    """FlexAttention, compiled on first use: each new combination of rules costs seconds once.

    Where torch gives up compiling it builds the whole matrix without a word. Here it raises
    instead (`fullgraph`), and one more kernel is compiled up to a limit of our own.
    """
    kernel = torch.compile(flex_attention, dynamic=False, fullgraph=True)
    limits: dict[str, Any] = {
        "recompile_limit": COMBINATIONS,
        "accumulated_recompile_limit": 4 * COMBINATIONS,
    }

    def run(*args: Any, **settings: Any) -> Any:
        try:
            return kernel(*args, **settings)
        except FailOnRecompileLimitHit:
            with torch._dynamo.config.patch(**limits):
                return kernel(*args, **settings)

    return run


@cache
def has_triton() -> bool:
    """Whether kernels for CUDA can be compiled."""
    return find_spec("triton") is not None


@cache
def has_compiler() -> bool:
    """Whether kernels for a CPU can be compiled."""
    return which("g++") is not None or which("clang++") is not None


class Flex:
    """Any rule, bias, softcap and sinks. CUDA, or a CPU with a C++ compiler for inference."""

    name = "flex"

    def __init__(self, run: Callable[[], Run] = compiled) -> None:
        self.run = run

    def refuses(self, request: Request) -> str | None:
        device = request.q_BHTD.device.type
        cuda, cpu = device == "cuda", device == "cpu"
        trains = torch.is_grad_enabled() and request.needs_gradient
        narrowest = min(request.q_BHTD.shape[-1], request.v_BGSE.shape[-1])
        return refusal(
            (request.wants_weights, "it never builds the weights"),
            (request.dropout > 0, "it has no dropout"),
            (not cuda and not cpu, f"it does not run on {device}"),
            (cuda and not has_triton(), "it needs Triton, which is not installed"),
            (cpu and not has_compiler(), "on a CPU it needs a C++ compiler, and none was found"),
            (cpu and trains, "on a CPU it has no gradient"),
            (cpu and request.scores.sinks is not None, "on a CPU it has no lse to add sinks to"),
            (request.q_BHTD.dtype == torch.float64, "it does not take float64"),
            (narrowest < 16, "it needs heads at least 16 wide"),
            (request.queries * request.keys == 0, "it needs a query and a key at least"),
        )

    def __call__(self, request: Request) -> Attended:
        needs_lse = request.wants_lse or request.scores.sinks is not None
        needs_lse = needs_lse and request.q_BHTD.is_cuda  # compiled for a CPU it keeps none
        step_by_step: Any = flex_attention
        run = step_by_step if torch.compiler.is_compiling() else self.run()
        found = run(
            request.q_BHTD,
            request.k_BGSD,
            request.v_BGSE,
            score_mod=score_rule(request),
            block_mask=block_mask(request),
            scale=request.scale,
            enable_gqa=request.q_BHTD.shape[1] != request.k_BGSD.shape[1],
            return_aux=AuxRequest(lse=True) if needs_lse else None,
        )
        if not needs_lse:
            return Attended(values_BHTE=found, kernel=self.name)
        values_BHTE, lse_BHT = found[0], found[1].lse
        if request.scores.sinks is not None:
            # The sink joins the denominator: weights shrink by exp(lse) / (exp(lse) + exp(sink)).
            sinks_H1 = request.scores.sinks.float()[:, None]
            share_BHT1 = torch.sigmoid(lse_BHT - sinks_H1)[..., None]
            values_BHTE = (values_BHTE * share_BHT1).to(request.q_BHTD.dtype)
            lse_BHT = torch.logaddexp(lse_BHT, sinks_H1)
        return Attended(
            values_BHTE=values_BHTE,
            lse_BHT=lse_BHT if request.wants_lse else None,
            kernel=self.name,
        )


def score_rule(request: Request) -> ScoreRule | None:
    """Softcap and bias as one function of a score and its place."""
    cap, bias = request.scores.softcap, request.scores.bias
    if cap is None and bias is None:
        return None
    if isinstance(bias, Tensor):
        bias = bias.expand(*request.q_BHTD.shape[:3], request.keys)
    row_shift = request.first + request.keys - request.queries
    first = request.first

    def bend(score: Tensor, batch: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        if cap is not None:
            score = cap * torch.tanh(score / cap)
        if isinstance(bias, Tensor):
            score = score + bias[batch, head, row, column]
        elif isinstance(bias, Bias):
            score = score + bias.at(head, row + row_shift, column + first)
        return score

    return bend


def block_mask(request: Request) -> BlockMask | None:
    """Which tiles to visit, from the rule's own verdicts, without drawing the grid."""
    if request.mask.kind(request.queries, request.keys) == "full":
        return None
    rule, device = plain(request.mask), request.q_BHTD.device
    sizes = (len(request.q_BHTD), request.queries, request.keys, request.first)
    if rule.batched or torch.compiler.is_compiling():
        return draw_tiles(rule, sizes, device)
    return remembered_tiles(rule, sizes, device)


def draw_tiles(rule: Mask, sizes: tuple[int, int, int, int], device: torch.device) -> BlockMask:
    """Judge every tile for (batch, queries, keys, first)."""
    batch, queries, keys, first = sizes
    # Tables have to lie on the device already: a compiled rule can copy nothing.
    rule = rule.on(device)
    row_shift = first + keys - queries

    def allowed(batch: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return rule.sees(batch, row + row_shift, column + first)

    verdict = tile_verdict(
        rule,
        batch=batch,
        queries=queries,
        keys=keys,
        first=first,
        size=(TILE, TILE),
        device=device,
    )
    partly = _ordered(verdict.some & ~verdict.every)
    whole = _ordered(verdict.every)
    return BlockMask.from_kv_blocks(
        *partly, *whole, BLOCK_SIZE=TILE, mask_mod=allowed, seq_lengths=(queries, keys)
    )


# A rule that is the same for every batch is drawn once, not at every layer of every step.
remembered_tiles = lru_cache(maxsize=32)(draw_tiles)


def _ordered(wanted_BRC: Tensor) -> tuple[Tensor, Tensor]:
    """For each row of tiles: how many are wanted, and their numbers, wanted ones first."""
    wanted_B1RC = wanted_BRC[:, None].int()
    order = torch.argsort(wanted_B1RC, dim=-1, descending=True, stable=True)
    return wanted_B1RC.sum(-1).int(), order.int().contiguous()
