"""The one door: an example, matrices, or a model and a text; out comes a trace."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...foundation.errors import CannotError, ConfigError, InputError
from ...traces import Trace
from .examples import walk_example
from .given import source_of, target_of, vocabulary_of
from .matrices import Matrices, read_matrices
from .network import Asked, walk_network
from .products import walk_matrices
from .sites import place_of


def explain(
    what: object,
    text: str | Sequence[int] | Tensor | None = None,
    *,
    target: str | Sequence[int] | None = None,
    layer: int | None = None,
    head: int | None = None,
    query: str | int | None = None,
    site: str | None = None,
) -> Trace:
    """One attention step by step, with real numbers, as a trace.

        explain("five-rows")                                  a built-in example
        explain(Path("mine.toml"))                            matrices in a file
        explain({"embeddings": [[1.0, 0.0]], "W_q": …})       matrices in memory
        explain(model, "I sat on the bank", layer=3, head=2)  a model and a text

    Args:
        text: What the model reads; ids, a picture or a spectrogram where it has no vocabulary.
        target: What the decoder of an encoder-decoder has written so far; nothing when left out.
        layer: The layer whose self-attention is meant, from 0; the first when left out.
        head: Which head, from 0; the first when left out.
        query: The token to look from, or its number; the first word when left out.
        site: Instead of a layer, any attention by its name: `decoder.5.cross`.
    """
    given = {"text": text, "target": target, "layer": layer, "site": site}
    if isinstance(what, str) and not what.endswith(".toml"):
        _refuse("A built-in example", given)
        return walk_example(what, head=head, query=query).trace()
    if isinstance(what, str | Path | Mapping | Matrices):
        _refuse("Matrices", given)
        title = Path(what).name if isinstance(what, str | Path) else "matrices"
        matrices = what if isinstance(what, Matrices) else read_matrices(what)
        return walk_matrices(matrices, head=head, query=query, about={"title": title}).trace()

    network = getattr(what, "network", what)
    if not isinstance(network, nn.Module):
        raise CannotError(
            f"A {type(what).__name__} cannot be explained. Give the name of a built-in example, "
            "the path of a TOML file, matrices, or a model."
        )
    if text is None:
        raise InputError("A model can be explained only at work: give it a text.")
    vocabulary = vocabulary_of(what)
    asked = Asked(
        place=place_of(network, site=site, layer=layer),
        source=source_of(text, vocabulary),
        target=target_of(target, vocabulary),
        has_target=target is not None,
        head=head,
        query=query,
    )
    with torch.no_grad():
        return walk_network(network, asked, {"title": _title(what, network)}).trace()


def _refuse(what: str, given: Mapping[str, Any]) -> None:
    """A setting that has no effect is an error."""
    for name, value in given.items():
        if value is not None:
            raise ConfigError(
                f"{what} has no {name}, so {name} has no effect here. It belongs to a model; "
                "leave it out."
            )


def _title(what: object, network: nn.Module) -> str:
    """Where the model comes from, if it says so."""
    source = getattr(getattr(what, "provenance", None), "source", None)
    return str(source or type(network).__name__)
