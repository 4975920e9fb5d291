"""Where in a network attention takes place, and what stands around it."""

from dataclasses import dataclass
from difflib import get_close_matches

from torch import nn

from ...attention import CrossAttention, SelfAttention
from ...foundation.errors import CannotError, ConfigError
from ...layers import Block

Attention = SelfAttention | CrossAttention


@dataclass(frozen=True)
class Place:
    """One attention of a network: its site, its module, and the block it stands in.

    `side` is the encoder or decoder it belongs to; the network itself where there is only one.
    """

    site: str
    attention: Attention
    block: Block | None
    side: nn.Module

    @property
    def layer(self) -> int | None:
        """Which block of its stack this is; None where the site does not say."""
        number = _parts(self.site)[1]
        return int(number) if number.isdecimal() else None


def place_of(network: nn.Module, *, site: str | None, layer: int | None) -> Place:
    """The attention asked for: by its site, or by its layer; the first one when left out."""
    found = {part.site: part for part in network.modules() if isinstance(part, Attention)}
    if not found:
        raise CannotError(
            f"{type(network).__name__} has no attention of ours in it, so there is nothing to "
            "explain. Give a model that clearhead.load returns, or one built of clearhead.layers."
        )
    if site is not None and layer is not None:
        raise ConfigError(
            f"The site {site!r} names its layer already, so layer {layer} has no effect: "
            "give the site or the layer."
        )
    name = _site_of_layer(found, layer) if site is None else site
    if name not in found:
        close = get_close_matches(name, found, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise ConfigError(f"There is no attention {name!r}.{meant} There are: {_listed(found)}.")
    attention = found[name]
    return Place(name, attention, _block_of(network, attention), _side_of(network, name))


def _site_of_layer(found: dict[str, Attention], layer: int | None) -> str:
    """The self-attention of this layer, in the first of the stacks."""
    first = next(iter(found))
    if layer is None:
        return first
    start = _parts(first)[0]
    own = [name for name in found if (_parts(name)[0], _parts(name)[2]) == (start, "self")]
    wanted = f"{start}.{layer}.self"
    if wanted not in own:
        raise ConfigError(f"There is no layer {layer}: the {start} has layers 0 to {len(own) - 1}.")
    return wanted


def _parts(site: str) -> tuple[str, str, str]:
    """The stack, the layer, and which attention of it: `decoder`, `5`, `cross`."""
    rest, _, end = site.rpartition(".")
    start, _, layer = rest.rpartition(".")
    return start, layer, end


def _listed(found: dict[str, Attention]) -> str:
    """Every kind of site with the range of its layers: `decoder.0.cross to decoder.5.cross`."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in found:
        start, _, end = _parts(name)
        kinds.setdefault((start, end), []).append(name)
    return ", ".join(
        names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names in kinds.values()
    )


def _block_of(network: nn.Module, attention: Attention) -> Block | None:
    blocks = (part for part in network.modules() if isinstance(part, Block))
    return next((block for block in blocks if attention in block.children()), None)


def _side_of(network: nn.Module, site: str) -> nn.Module:
    side = getattr(network, _parts(site)[0], None)
    return side if isinstance(side, nn.Module) else network
