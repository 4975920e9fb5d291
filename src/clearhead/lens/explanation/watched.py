"""One forward pass of a network, seen at one site: what was announced, what passed around it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from ...attention import Announcement, CrossAttention, watching
from ...layers import WordInput
from .sites import Place


@dataclass(frozen=True)
class Passed:
    """What went into a part of the network, and what came out."""

    given: Tensor
    made: Tensor


@dataclass(frozen=True)
class Seen:
    """The attention at one site, and what passed through the parts around it, by name."""

    announced: Announcement
    parts: Mapping[str, Passed]


def see(place: Place, run: Callable[[], object], network: nn.Module) -> Seen:
    """Call `run`, a forward pass of `network`, and return what was seen at this place."""
    heard: list[Announcement] = []

    def watcher(announcement: Announcement) -> None:
        if announcement.module is place.attention:
            heard.append(announcement)

    with resting(network), watching(watcher), passing(_parts(place)) as parts:
        run()
    assert len(heard) == 1, f"{place.site} was heard {len(heard)} times in one forward pass"
    return Seen(heard[0], parts)


def _parts(place: Place) -> dict[str, nn.Module]:
    """What is worth watching beside attention itself."""
    parts: dict[str, nn.Module] = {"attention": place.attention}
    inputs = getattr(place.side, "input", None)
    if isinstance(inputs, WordInput) and inputs.positions is not None:
        parts["positions"] = inputs.positions
    block = place.block
    if block is not None:
        is_cross = isinstance(place.attention, CrossAttention)
        own = block.cross_residual if is_cross else block.attention_residual
        following = own_next(place)
        parts |= {"own": own, "own_norm": own.norm, "next": following, "next_norm": following.norm}
        parts["feed_forward"] = block.feed_forward
    return parts


def own_next(place: Place) -> Any:
    """The residual of the half that follows this attention: cross-attention, or feed-forward."""
    block = place.block
    assert block is not None
    if not isinstance(place.attention, CrossAttention) and hasattr(block, "cross"):
        return block.cross_residual
    return block.feed_forward_residual


@contextmanager
def passing(parts: Mapping[str, nn.Module]) -> Iterator[dict[str, Passed]]:
    """Remember what passes through these parts inside the block."""
    seen: dict[str, Passed] = {}

    def remember(name: str) -> Callable[[nn.Module, Sequence[Any], Any], None]:
        def hook(part: nn.Module, given: Sequence[Any], made: Any) -> None:
            seen[name] = Passed(given[0], made)

        return hook

    handles = [part.register_forward_hook(remember(name)) for name, part in parts.items()]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def resting(network: nn.Module) -> Iterator[None]:
    """Without dropout inside the block; every part trains afterwards if it did before."""
    before = [(part, part.training) for part in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training
