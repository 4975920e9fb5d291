"""The facts about a model: where it is from, what it takes to hold and to run."""

from typing import Any

from ..config import to_plain
from ..layers import Words
from ..models import Architecture, EncoderDecoder
from ..models.formulas import cache_bytes_per_token, flops_per_token, parameters
from ..models.paper import NAMED
from .load import load
from .model import Model


def about(name: str, *, length: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts of a model by name or path, and its architecture as plain settings.

    Args:
        name: What `load` takes, or one of the paper's own.
        length: How many tokens of context the FLOPs are for.
    """
    loaded = None if name in NAMED else load(name, device="cpu")
    architecture = NAMED[name]() if loaded is None else loaded.config
    facts = {"model": name, **origin(loaded), **costs(architecture, length)}
    return facts | vocabulary(loaded, architecture), to_plain(architecture)


def origin(model: Model | None) -> dict[str, Any]:
    """Where the model is from."""
    if model is None:
        return {"source": "a paper's table: no weights"}
    provenance = model.provenance
    named = {"family": provenance.family, "published_as": provenance.published_as}
    return {"source": provenance.source} | {key: value for key, value in named.items() if value}


def costs(architecture: Architecture, length: int) -> dict[str, int]:
    """What it takes to hold and to run."""
    return {
        "parameters": parameters(architecture),
        "bytes_in_float32": 4 * parameters(architecture),
        "flops_a_token": flops_per_token(architecture, length=length),
        "flops_at_length": length,
        "cache_bytes_a_token": cache_bytes_per_token(architecture),
    }


def vocabulary(model: Model | None, architecture: Architecture) -> dict[str, Any]:
    """How many words the network knows, and how many its tokenizer does, where there are any."""
    side = architecture.decoder if isinstance(architecture, EncoderDecoder) else architecture
    tokens = model.tokens if model is not None else None
    return {
        "vocabulary": side.input.vocabulary if isinstance(side.input, Words) else None,
        "tokenizer": None if tokens is None else tokens.size,
    }
