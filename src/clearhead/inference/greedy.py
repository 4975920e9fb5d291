"""The likeliest token, again and again."""

from collections.abc import Callable, Collection

import torch
from jaxtyping import Float, Int
from torch import Tensor

Step = Callable[[Tensor], Tensor]  # the newest ids [1, T] → scores of the next [1, V]


@torch.inference_mode()
def greedy(
    step: Callable[[Int[Tensor, "1 t"]], Float[Tensor, "1 v"]],
    prompt_BT: Int[Tensor, "1 t"],
    *,
    max_tokens: int,
    stops: Collection[int],
) -> list[int]:
    """The ids that follow the prompt, up to the first of `stops`, which is left out."""
    found: list[int] = []
    newest_BT = prompt_BT
    while len(found) < max_tokens:
        newest_BT = step(newest_BT).argmax(dim=-1, keepdim=True)
        token = int(newest_BT)
        if token in stops:
            break
        found.append(token)
    return found
