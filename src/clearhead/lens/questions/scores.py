r"""The scores of a tile of pairs, and of single pairs: the one place where the lens makes them.

$$s_{ij} = \mathrm{cap}(\text{scale}\; q_i \cdot k_j) + b_{ij}, \qquad
  P_{ij} = \exp(s_{ij} - \mathrm{lse}_i)$$
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ...attention.bias import Bias
from .source import Source, allowed

FORBIDDEN = -1e30  # its weight is 0, and it stays a number in every product


def tile_scores(
    source: Source,
    rows: slice,
    columns: slice,
    groups: slice,
    *,
    masked: bool = True,
    out: Float[Tensor, "b h c r"] | None = None,
) -> Float[Tensor, "b h c r"]:
    """Scores of these queries and keys, for all query heads of these key/value heads.

    Keys go down and queries go across: what is worked out of each query then runs along memory.

    Args:
        masked: Put `FORBIDDEN` where a query may not look. Not needed in tiles that are allowed
            from corner to corner.
        out: Where to write them.
    """
    request = source.request
    shared = request.q_BHTD.shape[1] // request.k_BGSD.shape[1]
    heads = slice(groups.start * shared, groups.stop * shared)
    q_BhDr = (request.q_BHTD[:, heads, rows].to(source.wide) * request.scale).transpose(-2, -1)
    k_BhcD = request.k_BGSD[:, groups, columns].to(source.wide)
    if shared > 1:
        k_BhcD = k_BhcD.repeat_interleave(shared, dim=1)
    scores: Tensor = torch.matmul(k_BhcD, q_BhDr, out=out)
    return finished(source, scores, rows, columns, heads, masked=masked)


def row_scores(
    source: Source, rows: slice, columns: slice, groups: slice
) -> Float[Tensor, "b h r c"]:
    """The same with queries down and keys across: for a few queries, every key is read once."""
    request = source.request
    batch, shared = source.sizes[0], request.q_BHTD.shape[1] // request.k_BGSD.shape[1]
    heads = slice(groups.start * shared, groups.stop * shared)
    q_BhrD = request.q_BHTD[:, heads, rows].to(source.wide) * request.scale
    k_BgcD = request.k_BGSD[:, groups, columns].to(source.wide)
    q_BgxD = q_BhrD.reshape(batch, k_BgcD.shape[1], -1, q_BhrD.shape[-1])
    scores = (q_BgxD @ k_BgcD.transpose(-2, -1)).view(*q_BhrD.shape[:3], -1)
    finished(source, scores.transpose(-2, -1), rows, columns, heads)
    return scores


def finished(
    source: Source,
    scores: Float[Tensor, "b h c r"],
    rows: slice,
    columns: slice,
    heads: slice,
    *,
    masked: bool = True,
) -> Float[Tensor, "b h c r"]:
    """From bare products to scores, in place: cap, bias, who may look at whom."""
    request = source.request
    if request.scores.softcap is not None:
        scores.div_(request.scores.softcap).tanh_().mul_(request.scores.softcap)
    if request.scores.bias is not None:
        scores += tile_bias(source, rows, columns, heads)
    if masked:
        scores.masked_fill_(~allowed(source, rows, columns)[:, None], FORBIDDEN)
    if source.weighs_all_BT is not None:
        scores.masked_fill_(source.weighs_all_BT[:, None, None, rows], 0.0)
    return scores


def tile_bias(source: Source, rows: slice, columns: slice, heads: slice) -> Tensor:
    """What is added to these scores, stretched to [B, h, c, r]."""
    bias, device = source.request.scores.bias, source.device
    if isinstance(bias, Bias):
        head_h11 = torch.arange(heads.start, heads.stop, device=device)[:, None, None]
        rows_r = torch.arange(rows.start, rows.stop, device=device) + source.row
        columns_c1 = torch.arange(columns.start, columns.stop, device=device)[:, None]
        return bias.at(head_h11, rows_r, columns_c1 + source.request.first)[None].to(source.wide)
    assert bias is not None
    full_BHTS = bias.expand(source.sizes)
    part_Bhcr = full_BHTS[:, heads, rows, columns].transpose(-2, -1)
    return part_Bhcr.to(source.wide).clamp(min=FORBIDDEN)


def pair_scores(source: Source, columns_BT: Int[Tensor, "b t"]) -> Float[Tensor, "b h t"]:
    """Every query's score for one key each: O(n), for every head. Below 0: no key, forbidden."""
    request = source.request
    batch, heads, queries, keys = source.sizes
    groups = request.k_BGSD.shape[1]
    at_BT = columns_BT.clamp(0, max(keys - 1, 0))
    index = at_BT[:, None, :, None].expand(-1, groups, -1, request.k_BGSD.shape[-1])
    k_BGTD = request.k_BGSD.gather(2, index).to(source.wide)
    q_BGnTD = request.q_BHTD.view(batch, groups, heads // groups, queries, -1).to(source.wide)
    scores = request.scale * torch.einsum("bgntd,bgtd->bgnt", q_BGnTD, k_BGTD)
    scores = scores.reshape(batch, heads, queries)
    if request.scores.softcap is not None:
        scores = request.scores.softcap * torch.tanh(scores / request.scores.softcap)
    if request.scores.bias is not None:
        scores = scores + _pair_bias(source, at_BT)
    scores = scores.masked_fill(~may_see(source, columns_BT)[:, None], FORBIDDEN)
    if source.weighs_all_BT is not None:
        alike_BT = source.weighs_all_BT & (columns_BT == at_BT)
        scores = scores.masked_fill(alike_BT[:, None], 0.0)
    return scores


def may_see(source: Source, columns_BT: Int[Tensor, "b t"]) -> Bool[Tensor, "b t"]:
    """Whether every query may see this one key; none may where there is none."""
    batch, _, queries, keys = source.sizes
    at_BT = columns_BT.clamp(0, max(keys - 1, 0))
    batch_B1 = torch.arange(batch, device=source.device)[:, None]
    row_T = torch.arange(queries, device=source.device) + source.row
    may_BT = source.request.mask.sees(batch_B1, row_T, at_BT + source.request.first)
    return may_BT & (columns_BT == at_BT)


def _pair_bias(source: Source, at_BT: Tensor) -> Tensor:
    bias, device = source.request.scores.bias, source.device
    _, heads, queries, _ = source.sizes
    if isinstance(bias, Bias):
        head_H1 = torch.arange(heads, device=device)[:, None]
        row_T = torch.arange(queries, device=device) + source.row
        return bias.at(head_H1, row_T, at_BT[:, None] + source.request.first).to(source.wide)
    assert bias is not None
    full_BHTS = bias.expand(source.sizes)
    index = at_BT[:, None, :, None].expand(-1, heads, -1, 1)
    found: Tensor = full_BHTS.gather(3, index)[..., 0]
    return found.to(source.wide).clamp(min=FORBIDDEN)


def weights_on(
    source: Source, lse_BHT: Float[Tensor, "b h t"], columns_BT: Int[Tensor, "b t"]
) -> Float[Tensor, "b h t"]:
    """Every query's weight on one key each; 0 where there is none, or it may not be seen."""
    with torch.no_grad():
        return (pair_scores(source, columns_BT) - lse_BHT).exp()
