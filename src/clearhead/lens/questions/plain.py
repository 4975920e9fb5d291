"""One pass for all summaries in plain torch: any device, any mask, any bias, any precision."""

from .collectors import Blocks, Distance, Entropy, Mass, Peak, Received, Top
from .edges import Edges
from .scores import weights_on
from .source import Source
from .summaries import Rows, Summaries
from .sweep import sweep

ROW_BLOCKS = 128  # blocks of keys that a pass over whole rows works in


def summaries(
    source: Source, rows: Rows, *, size: int | None = None, top: int | None = None
) -> Summaries:
    """All of them in one pass, with a map of `size` blocks and the `top` keys where asked for."""
    _, _, queries, keys = source.sizes
    edges = Edges.of(slice(0, keys), ROW_BLOCKS if size is None else size)
    received, entropy, mass = Received(source), Entropy(source), Mass(source)
    peak, distance = Peak(source), Distance(source)
    blocks = None if size is None else Blocks(source, Edges.of(slice(0, queries), size), edges)
    best = None if top is None else Top(source, top)
    collectors = [received, entropy, mass, peak, distance, *(x for x in (blocks, best) if x)]
    sweep(source, collectors, rows=slice(0, queries), columns=edges, lse_BHT=rows.lse_BHT)
    return Summaries(
        received_BHS=received.sums_BHS,
        entropy_BHT=entropy.sums_BHT,
        peak_BHT=peak.logs_BHT.exp(),
        signed_BHT=distance.signed_BHT,
        absolute_BHT=distance.absolute_BHT,
        mass_BHT=mass.sums_BHT,
        sink_BHT=weights_on(source, rows.lse_BHT, source.first_seen_BT),
        blocks=blocks,
        top=best,
    )
