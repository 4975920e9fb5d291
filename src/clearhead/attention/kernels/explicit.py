"""Attention with its weights in plain sight, in the precision it was given."""

import torch
from torch.nn.functional import dropout

from ..contract import Attended, Request
from ..score_grids import additions, allowed_pairs


class Explicit:
    """Builds the whole weight matrix. The one kernel that can show it, and that serves anything."""

    name = "explicit"

    def refuses(self, request: Request) -> str | None:
        return None

    def __call__(self, request: Request) -> Attended:
        heads = request.q_BHTD.shape[1]
        group_size = heads // request.k_BGSD.shape[1]
        k_BHSD = request.k_BGSD.repeat_interleave(group_size, dim=1)
        v_BHSE = request.v_BGSE.repeat_interleave(group_size, dim=1)

        wide = torch.promote_types(request.q_BHTD.dtype, torch.float32)
        scores_BHTS = (request.scale * request.q_BHTD @ k_BHSD.transpose(-2, -1)).to(wide)
        if request.scores.softcap is not None:
            cap = request.scores.softcap
            scores_BHTS = cap * torch.tanh(scores_BHTS / cap)
        bias_BHTS = additions(request)
        if bias_BHTS is not None:
            scores_BHTS = scores_BHTS + bias_BHTS.to(wide)
        allowed_B1TS = allowed_pairs(request)[:, None]
        # A finite floor keeps the softmax gradient finite on rows that may see nothing.
        scores_BHTS = scores_BHTS.masked_fill(~allowed_B1TS, torch.finfo(wide).min)
        if request.scores.sinks is not None:
            sinks_H11 = request.scores.sinks.to(wide)[:, None, None]
            sinks_BHT1 = sinks_H11.expand(len(scores_BHTS), heads, request.queries, 1)
            scores_BHTS = torch.cat([scores_BHTS, sinks_BHT1], dim=-1)

        weights_BHTS = scores_BHTS.softmax(dim=-1)[..., : request.keys]
        weights_BHTS = weights_BHTS.masked_fill(~allowed_B1TS, 0.0).to(request.q_BHTD.dtype)
        dropped_BHTS = dropout(weights_BHTS, request.dropout) if request.dropout else weights_BHTS
        return Attended(
            values_BHTE=dropped_BHTS @ v_BHSE,
            weights_BHTS=weights_BHTS if request.wants_weights else None,
            lse_BHT=scores_BHTS.logsumexp(dim=-1) if request.wants_lse else None,
            kernel=self.name,
        )
