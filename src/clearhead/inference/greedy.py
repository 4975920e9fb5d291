"""The likeliest token, again and again."""

from collections.abc import Collection

import torch
from jaxtyping import Int
from torch import Tensor

from .step import Step


@torch.inference_mode()
def greedy(
    step: Step,
    prompts_BT: Int[Tensor, "b t"],
    *,
    max_tokens: int,
    stops: Collection[int],
) -> list[list[int]]:
    """The ids that follow each prompt, up to the first of `stops`, which is left out.

    A text that has ended leaves the batch, and the others go on without it.
    """
    found: list[list[int]] = [[] for _ in prompts_BT]
    running, rows, newest_BT = found, None, prompts_BT
    for _ in range(max_tokens):
        if not running:
            break
        tokens = step(newest_BT, rows).argmax(dim=-1).tolist()
        staying = [row for row, token in enumerate(tokens) if token not in stops]
        for row in staying:
            running[row].append(tokens[row])
        rows = None if len(staying) == len(running) else staying
        running = [running[row] for row in staying]
        newest_BT = prompts_BT.new_tensor([[tokens[row]] for row in staying])
    return found
