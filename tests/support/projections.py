"""Heads switched off another way: at the projection behind attention, of whoever's model.

A head owns as many columns of what goes into that projection as it is wide.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import nn


class Columns(NamedTuple):
    """Some columns of what goes into the projection at this path."""

    path: str
    start: int
    stop: int

    @property
    def span(self) -> slice:
        """Which columns."""
        return slice(self.start, self.stop)


def sites_of(network: nn.Module) -> dict[str, str]:
    """By site, the path of its module."""
    return {part.site: path for path, part in network.named_modules() if hasattr(part, "site")}


def columns_of(network: nn.Module, heads: list[tuple[str, int]]) -> list[Columns]:
    """What these heads of one of our networks own."""
    found = []
    for site, head in heads:
        path = sites_of(network)[site]
        width = network.get_submodule(path).spec.head_width
        found.append(Columns(f"{path}.output", head * width, (head + 1) * width))
    return found


def heads_of(network: nn.Module) -> list[tuple[str, int]]:
    """Two heads of every site."""
    return [(site, head) for site in sites_of(network) for head in (1, 2)]


def without_columns(model: nn.Module, columns: list[Columns], scale: float = 0.0) -> nn.Module:
    """A copy that multiplies these columns with `scale`, by its weights."""
    other = copy.deepcopy(model)
    for column in columns:
        part = other.get_submodule(column.path)
        turned = type(part).__name__ == "Conv1D"  # GPT-2 keeps its weights the other way round
        with torch.no_grad():
            (part.weight.T if turned else part.weight)[:, column.span] *= scale
    return other


def means_of_columns(
    model: nn.Module, columns: list[Columns], run: Callable[[nn.Module], Any], real: Mapping
) -> dict[Columns, torch.Tensor]:
    """The mean of these columns over the (example, token) pairs that are `real`, token by token."""
    found = {}

    def note(column: Columns) -> Callable[..., None]:
        def keep(part: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
            states = given[0].reshape(*given[0].shape[:2], -1)
            rows = [states[place][column.span] for place in real[column.path, states.shape[1]]]
            found[column] = sum(rows) / len(rows)

        return keep

    with ExitStack() as stack, torch.no_grad():
        for column in columns:
            hook = model.get_submodule(column.path).register_forward_pre_hook(note(column))
            stack.callback(hook.remove)
        run(model)
    return found


@contextmanager
def put(model: nn.Module, values: Mapping[Columns, torch.Tensor]) -> Iterator[None]:
    """Inside the block these columns are these values, whatever goes in."""

    def putting(span: slice, value: torch.Tensor) -> Callable[..., Any]:
        def change(part: nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            states = given[0].clone()
            states[..., span] = value
            return (states, *given[1:])

        return change

    with ExitStack() as stack:
        for column, value in values.items():
            part = model.get_submodule(column.path)
            hook = part.register_forward_pre_hook(putting(column.span, value))
            stack.callback(hook.remove)
        yield
