r"""What attention is.

$$\mathrm{Attend}(Q, K, V) = \mathrm{softmax}\big(\mathrm{cap}(s\, Q K^\top) + B
  \text{ where allowed}\big)\, V$$

Written for the reader, in float64, one line per idea. Every kernel is judged against this file,
so it may be slow but it may not be clever.
"""

import torch

from .bias import bias_grid
from .contract import Attended, Request
from .masks import grid


def attend(request: Request) -> Attended:
    """Compute `request` exactly as defined, in double precision, weights and lse included."""
    q_BHTD = request.q_BHTD.double()
    heads, queries = q_BHTD.shape[1:3]
    group_size = heads // request.k_BGSD.shape[1]
    k_BHSD = request.k_BGSD.double().repeat_interleave(group_size, dim=1)
    v_BHSE = request.v_BGSE.double().repeat_interleave(group_size, dim=1)
    first, keys, device = request.first, request.keys, q_BHTD.device

    scores_BHTS = request.scale * q_BHTD @ k_BHSD.transpose(-2, -1)
    if request.scores.softcap is not None:
        cap = request.scores.softcap
        scores_BHTS = cap * torch.tanh(scores_BHTS / cap)
    if request.scores.bias is not None:
        rows_T = torch.arange(first + keys - queries, first + keys, device=device)
        columns_S = torch.arange(first, first + keys, device=device)
        bias = bias_grid(request.scores.bias, heads=heads, rows_T=rows_T, columns_S=columns_S)
        scores_BHTS = scores_BHTS + bias.double()

    allowed_BTS = grid(
        request.mask,
        batch=len(q_BHTD),
        queries=queries,
        keys=keys,
        first=first,
        device=device,
    )
    allowed_B1TS = allowed_BTS[:, None]
    scores_BHTS = scores_BHTS.masked_fill(~allowed_B1TS, -torch.inf)
    if request.scores.sinks is not None:  # a sink is one more key, without a value
        sinks_BHT1 = request.scores.sinks.double()[:, None, None].expand(
            len(q_BHTD), -1, queries, 1
        )
        scores_BHTS = torch.cat([scores_BHTS, sinks_BHT1], dim=-1)

    weights_BHTS = scores_BHTS.softmax(dim=-1)[..., :keys]
    # A query that may see nothing weighs everything zero.
    weights_BHTS = weights_BHTS.masked_fill(~allowed_B1TS, 0.0)
    return Attended(
        values_BHTE=weights_BHTS @ v_BHSE,
        weights_BHTS=weights_BHTS,
        lse_BHT=scores_BHTS.logsumexp(dim=-1),
        kernel="reference",
    )
