"""A model reads a text and is watched: everything its attention did, as a trace with labels."""

from collections.abc import Sequence

import torch

from ..foundation.errors import CannotError, InputError
from ..lens import watch
from ..models import EncoderDecoderNetwork, EncoderNetwork
from ..tokens import Encoded
from ..traces import Trace
from .model import Model


def seen_of(model: Model, text: str, target: str | None, *, name: str, top: int) -> Trace:
    """The trace of one text through the model; of a translator, with what it has written."""
    if not text.strip():
        raise InputError("The text is empty. Give at least one word.")
    vocabulary, network = model.vocabulary(), model.network
    encoded = vocabulary.encode(text)
    ids = torch.tensor([encoded.ids], device=model.device)
    labels = {"encoder token": labels_of(encoded, text)}
    given: tuple[torch.Tensor, ...] = (ids,)
    if isinstance(network, EncoderDecoderNetwork):
        written = written_ids(model, target)
        labels["decoder token"] = [vocabulary.target.piece(token) for token in written]
        given = (ids, torch.tensor([written], device=model.device))
    elif target is not None:
        raise CannotError("This model has one side only, so a target has no effect: leave it out.")
    elif not isinstance(network, EncoderNetwork):
        labels = {"decoder token": labels["encoder token"]}
    with torch.inference_mode(), watch(network) as seen:
        network(*given)
    return seen.trace(top=top, labels=labels, about={"model": name, "text": text})


def written_ids(model: Model, target: str | None) -> list[int]:
    """How a translator starts, and what it has written since."""
    vocabulary = model.vocabulary().target
    start = vocabulary.specials.start
    if target is None:
        raise InputError(
            "This model reads one text and writes another: give what it writes with --target."
        )
    ids = list(vocabulary.encode(target, specials=False).ids)
    return ids if start is None else [start, *ids]


def labels_of(encoded: Encoded, text: str) -> Sequence[str]:
    """What each token is called: its part of the text, or how the vocabulary spells it."""
    return [
        text[start:stop].strip() or piece
        for piece, (start, stop) in zip(encoded.pieces, encoded.spans, strict=True)
    ]
