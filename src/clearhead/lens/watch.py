"""`with watch(model) as seen:` hears every attention of a model, and changes nothing about it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from ..attention import following, watching
from .seen import Seen
from .watching.attach import attached, is_foreign, network_of
from .watching.budget import Budget
from .watching.fed import doors_of
from .watching.keeper import Keeper
from .watching.wanted import Keep, wanted_of


@contextmanager
def watch(
    model: object,
    *,
    keep: Keep = "exact",
    sites: Sequence[str] | None = None,
    heads: Sequence[int] | None = None,
    top: int | None = None,
    on: str = "device",
    budget: int | None = None,
) -> Iterator[Seen]:
    """Inside the block, hear what every attention of the model does; outputs stay bit for bit.

    Args:
        model: What `clearhead.load` returns, a network of ours, or a model of transformers.
        keep: `exact` keeps queries, keys and values, so every later question is exact.
            `summaries` works statistics out inside each call and keeps those: O(n). Or the names
            of statistics. Nothing at all when empty.
        sites: Keep these only.
        heads: Keep these only, of every site.
        top: How many of the strongest keys to keep, where `top` is among the names; 8 when left
            out.
        on: Where it is kept: `device`, or `host`.
        budget: How many bytes may be kept; half of what is free there when left out.
    """
    network = network_of(model)
    with ExitStack() as stack:
        place = stack.enter_context(attached(network))
        wanted = wanted_of(keep, place, sites=sites, heads=heads, top=top, on=on)
        modules = {id(module): site for site, module in place.modules.items()}
        doors = doors_of(network)
        limit = Budget(budget, wanted.savings)
        keeper = Keeper(
            modules, wanted, limit, two_sided=doors.reads is not None, decodes=doors.writes
        )
        stack.enter_context(watching(keeper.hear))
        stack.enter_context(following(keeper))
        hook = doors.writes.register_forward_pre_hook(keeper.feed, with_kwargs=True)
        stack.callback(hook.remove)
        if doors.reads is not None:
            hook = doors.reads.register_forward_pre_hook(keeper.feed_source, with_kwargs=True)
            stack.callback(hook.remove)
        if is_foreign(network):
            from .watching.generation import overhearing_generation

            stack.enter_context(overhearing_generation(network, keeper))
        yield Seen(keeper, place.modules, network, place.without)
