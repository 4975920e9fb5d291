"""What is put in place around a model while it is watched, and taken away after."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn

from ...attention import CrossAttention, SelfAttention
from ...foundation.errors import CannotError, ConfigError, nearest
from ...foundation.log import log


@dataclass(frozen=True)
class Place:
    """Where a model's attentions are: by site, with the layers that have none."""

    modules: dict[str, nn.Module]
    without: tuple[str, ...] = ()

    def refuse_unknown(self, sites: Iterable[str]) -> None:
        """Refuse a name that no attention here has."""
        for site in sites:
            if site not in self.modules:
                raise ConfigError(
                    f"There is no attention {site!r}.{nearest(site, self.modules)} There are: "
                    f"{', '.join(self.modules)}."
                )


@contextmanager
def attached(model: nn.Module) -> Iterator[Place]:
    """Make the model announce, if it does not by itself."""
    own: dict[str, nn.Module] = {
        part.site: part
        for part in model.modules()
        if isinstance(part, SelfAttention | CrossAttention)
    }
    if own:
        if is_compiled(model):
            log("lens").warning(
                "The model is compiled: it compiles once more now, and again when watching ends."
            )
        yield Place(own)
        return
    if is_compiled(model):
        raise CannotError(
            "This model is compiled, and a compiled model of transformers cannot be overheard. "
            "Watch the one it was compiled from: clearhead.watch(model._orig_mod)."
        )
    if not is_foreign(model):
        raise CannotError(
            f"{type(model).__name__} is built neither of clearhead.layers nor of transformers, so "
            "its attention cannot be heard. Give a model of either."
        )
    from .huggingface import announcing

    with announcing(model) as sites:
        yield Place(dict(sites.modules), sites.without)


def is_compiled(model: nn.Module) -> bool:
    """Whether torch.compile made it, without asking torch: that would load its whole compiler."""
    return type(model).__name__ == "OptimizedModule" and hasattr(model, "_orig_mod")


def is_foreign(model: nn.Module) -> bool:
    """Whether a class of the model, or of one of its bases, comes from transformers."""
    return any(base.__module__.startswith("transformers.") for base in type(model).__mro__)


def network_of(model: object) -> nn.Module:
    """The module behind anything that has a `.network`, or the module itself."""
    network = getattr(model, "network", model)
    if not isinstance(network, nn.Module):
        raise ConfigError(
            f"{type(model).__name__} is nothing that can be watched: give a model that "
            "clearhead.load returns, or a torch module."
        )
    devices = {parameter.device for parameter in network.parameters()}
    if len(devices) > 1:
        told = " and ".join(sorted(str(device) for device in devices))
        raise CannotError(
            f"The model's weights are on {told}: a model on two devices cannot be watched yet. "
            "Move it to one with model.to(…)."
        )
    return network
