"""Where the token of each query came up before."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

NOWHERE = -1


def last_before(ids_BS: Int[Tensor, "b s"]) -> Int[Tensor, "b s"]:
    """For each token the last place before it that has the same id, or `NOWHERE`."""
    sorted_BS, places_BS = ids_BS.sort(dim=1, stable=True)
    same_BS = sorted_BS[:, 1:] == sorted_BS[:, :-1]
    found_BS = torch.full_like(places_BS, NOWHERE)
    before_BS = torch.where(same_BS, places_BS[:, :-1], NOWHERE)
    return found_BS.scatter(1, places_BS[:, 1:], before_BS)


def places_before(
    ids_BS: Int[Tensor, "b s"], queries: int, most: int
) -> Iterator[Int[Tensor, "b t"]]:
    """For each of the last tokens, the queries: where it was last, where before that, and so on.

    Ends when none of them was anywhere more often, and after `most` places.
    """
    before_BS = last_before(ids_BS)
    at_BT = before_BS[:, before_BS.shape[1] - queries :]
    for _ in range(most):
        if not bool((at_BT >= 0).any()):
            return
        yield at_BT
        further_BT = before_BS.gather(1, at_BT.clamp(min=0))
        at_BT = torch.where(at_BT >= 0, further_BT, NOWHERE)
