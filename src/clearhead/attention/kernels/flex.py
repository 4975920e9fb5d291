"""PyTorch's FlexAttention: one compiled kernel for any rule, skipping the tiles it forbids."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from shutil import which
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import AuxRequest, BlockMask, flex_attention

from ..bias import Bias
from ..contract import Attended, Request
from ..masks import plain, tile_verdict

TILE = 128  # FlexAttention's own unit of skipping

Run = Callable[..., Any]
IndexRule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
ScoreRule = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


COMBINATIONS = 256  # of rules, widths and lengths that one process may compile kernels for


@cache
def compiled() -> Run:
    """FlexAttention, compiled on first use: each new combination of rules costs seconds once.

    Where torch would give up compiling it would build the whole matrix without a word: it raises
    here instead (`fullgraph`), and its limit of kernels is our own.
    """
    kernel = torch.compile(flex_attention, dynamic=False, fullgraph=True)
    limits = {"recompile_limit": COMBINATIONS, "accumulated_recompile_limit": 4 * COMBINATIONS}

    def run(*args: Any, **settings: Any) -> Any:  # noqa: ANN401 - torch's own, untyped
        with torch._dynamo.config.patch(**limits):
            return kernel(*args, **settings)

    return run


class Flex:
    """Any rule, bias, softcap and sinks. CUDA, or a CPU with a C++ compiler for inference."""

    name = "flex"

    def __init__(self, run: Callable[[], Run] = compiled) -> None:
        self.run = run

    def refuses(self, request: Request) -> str | None:
        device = request.q_BHTD.device.type
        if request.wants_weights:
            return "it never builds the weights"
        if request.dropout:
            return "it has no dropout"
        if device not in ("cuda", "cpu"):
            return f"it does not run on {device}"
        if device == "cuda" and find_spec("triton") is None:
            return "it needs Triton, which is not installed"
        if device == "cpu" and which("g++") is None and which("clang++") is None:
            return "on a CPU it needs a C++ compiler, and none was found"
        if device == "cpu" and torch.is_grad_enabled() and request.needs_gradient:
            return "on a CPU it has no gradient"
        if request.q_BHTD.dtype == torch.float64:
            return "it does not take float64"
        if min(request.q_BHTD.shape[-1], request.v_BGSE.shape[-1]) < 16:
            return "it needs heads at least 16 wide"
        return None

    def __call__(self, request: Request) -> Attended:
        needs_lse = request.wants_lse or request.scores.sinks is not None
        inside = torch.compiler.is_compiling()
        found = (flex_attention if inside else self.run())(
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
            # The sink joins the denominator: every weight shrinks by exp(lse) / (exp(lse) + exp(sink)).
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
    # Tables have to lie on the device already: a compiled rule can copy nothing.
    rule = plain(request.mask).on(request.q_BHTD.device)
    verdict = tile_verdict(
        rule,
        batch=len(request.q_BHTD),
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        size=(TILE, TILE),
        device=request.q_BHTD.device,
    )
    row_shift = request.first + request.keys - request.queries
    first = request.first

    def allowed(batch: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
        return rule.sees(batch, row + row_shift, column + first)

    partly = _ordered(verdict.some & ~verdict.every)
    whole = _ordered(verdict.every)
    return BlockMask.from_kv_blocks(
        *partly,
        *whole,
        BLOCK_SIZE=TILE,
        mask_mod=allowed,
        seq_lengths=(request.queries, request.keys),
    )


def _ordered(wanted_BRC: Tensor) -> tuple[Tensor, Tensor]:
    """For each row of tiles: how many are wanted, and their numbers, wanted ones first."""
    wanted_B1RC = wanted_BRC[:, None].int()
    order = torch.argsort(wanted_B1RC, dim=-1, descending=True, stable=True)
    return wanted_B1RC.sum(-1).int(), order.int().contiguous()
