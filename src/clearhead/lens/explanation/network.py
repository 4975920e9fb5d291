"""The walk through one attention of a network: real numbers, checked against the definition."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...attention import CrossAttention
from ...attention.positions import Alibi, Buckets, Rotary
from ...foundation.errors import ConfigError, InputError
from ...layers import FrameInput, PatchInput, WordInput
from ...models import EncoderDecoderNetwork
from .agreement import compare, project
from .given import Tokens
from .picks import pick_number, pick_query
from .sites import Place
from .steps import walk
from .story import Story
from .watched import Seen, see


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which of a network's attentions, for what."""

    place: Place
    source: Tokens
    target: Tokens | None
    has_target: bool
    head: int | None
    query: str | int | None


def walk_network(network: nn.Module, asked: Asked, about: Mapping[str, object]) -> Story:
    """The thirteen steps at this place, and what follows them in the block."""
    place = asked.place
    queries, seen = _run(network, asked)
    request, kernel = seen.announced.request, seen.announced.attended.kernel
    head = pick_number("head", asked.head, request.q_BHTD.shape[1], f"the attention {place.site}")
    is_cross = isinstance(place.attention, CrossAttention)
    labels = {
        "query": queries.labels_for(request.queries),
        "key": (asked.source if is_cross else queries).labels_for(request.keys),
    }
    chosen = pick_query(labels["query"], asked.query, otherwise=queries.first_word)
    story = Story(labels, {"source": "model", **about, "site": place.site, "query": chosen})

    _tell_inputs(story, place, queries, seen)
    steps = walk(request, head)
    story.attention(request, head, steps)
    if is_cross:
        story.note("k", "from_memory")
    elif isinstance(_stack_positions(place), Rotary):
        story.note("q", "turned")
    made_TM = seen.parts["attention"].made[0]
    output = place.attention.output
    story.step("output", project(output, steps.joined_TM), "query", "model")
    verdict = compare(request, steps, output, made_TM)
    story.note(
        "output",
        "agrees" if verdict.agrees else "disagrees",
        difference=verdict.difference,
        allowed=verdict.allowed,
        kernel=kernel,
    )
    _tell_rest(story, place, seen)
    return story


def _run(network: nn.Module, asked: Asked) -> tuple[Tokens, Seen]:
    """Run what has to run for this place; the tokens whose vectors are its queries."""
    place = asked.place
    device = next((part.device for part in network.parameters()), torch.device("cpu"))
    _check_source(network, asked.source.tensor)
    source = asked.source.tensor.to(device)
    alone = _reads_alone(network, place)
    if alone is not None:
        if asked.has_target:
            raise ConfigError(
                f"{place.site} sees the source alone, so a target has no effect: leave it out."
            )
        return asked.source, see(place, lambda: alone(source), alone)
    if asked.target is None:
        raise InputError(
            f"{place.site} stands in the decoder, which needs to know what it has written so far, "
            "and this model does not say how it starts: give a target."
        )
    target = asked.target.tensor.to(device)
    return asked.target, see(place, lambda: network(source, target), network)


def _check_source(network: nn.Module, source: Tensor) -> None:
    """Refuse words for a model of pictures or sound, and the other way round."""
    reader = network.encoder if isinstance(network, EncoderDecoderNetwork) else network
    inputs = getattr(reader, "input", None)
    if isinstance(inputs, WordInput) and source.is_floating_point():
        raise InputError(
            "This model reads words and was given numbers that are no ids: give a text, or token "
            "ids as whole numbers."
        )
    if isinstance(inputs, PatchInput | FrameInput) and not source.is_floating_point():
        what = "pictures" if isinstance(inputs, PatchInput) else "sound"
        raise InputError(
            f"This model reads {what}, not words. From Python, give one as the tensor its network "
            "takes, with a batch axis of 1 in front."
        )


def _reads_alone(network: nn.Module, place: Place) -> nn.Module | None:
    """The network that reads the source and nothing else on its way to this place."""
    if not isinstance(network, EncoderDecoderNetwork):
        return network
    return network.encoder if place.side is network.encoder else None


def _tell_inputs(story: Story, place: Place, tokens: Tokens, seen: Seen) -> None:
    """Embeddings, positions, and what they became when they reached this attention."""
    words = getattr(place.side, "input", None)
    if isinstance(words, WordInput) and not tokens.tensor.is_floating_point():
        ids_T = tokens.tensor[0].to(words.words.weight.device)
        embedded_TM = words.words.weight.detach()[ids_T] * words.spec.scale
        story.step("embeddings", embedded_TM, "query", "embedding")
        if words.spec.scale != 1.0:
            story.note("embeddings", "embedding_scaled", scale=words.spec.scale)
    else:
        story.step("embeddings", None)
        story.note("embeddings", "not_words")
    _tell_positions(story, place, seen)
    story.step("inputs", seen.parts["attention"].given[0], "query", "model")
    if isinstance(words, WordInput) and words.types is not None:
        story.note("inputs", "types_added")
    if isinstance(words, WordInput) and words.norm is not None:
        story.note("inputs", "embedding_norm")
    if place.layer:
        story.note("inputs", "after_layers", layers=place.layer)
    if place.block is not None and place.block.attention_residual.before:
        story.note("inputs", "normed_before")


def _tell_positions(story: Story, place: Place, seen: Seen) -> None:
    if "positions" in seen.parts:
        made = seen.parts["positions"].made
        story.step("positions", made[0] if made.dim() == 3 else made, "query", "embedding")
        return
    story.step("positions", None)
    own = _stack_positions(place)
    kinds = ((Rotary, "rotary"), (Alibi, "alibi"), (Buckets, "buckets"))
    kind = next((name for cls, name in kinds if isinstance(own, cls)), None)
    story.note("positions", f"positions_{kind}" if kind else "no_positions")


def _stack_positions(place: Place) -> object:
    spec = getattr(getattr(place.side, "stack", None), "spec", None)
    return getattr(spec, "positions", None)


def _tell_rest(story: Story, place: Place, seen: Seen) -> None:
    """Residual, norm and feed-forward, as far as they follow this attention."""
    block, parts = place.block, seen.parts
    if block is None:
        return
    axes = ("query", "model")
    cross_follows = not isinstance(place.attention, CrossAttention) and hasattr(block, "cross")
    if block.attention_residual.before:
        story.step("residual", parts["own"].made[0], *axes)
        story.step("norm", parts["next_norm"].made[0], *axes)
    else:
        story.step("residual", parts["own_norm"].given[0], *axes)
        story.step("norm", parts["own_norm"].made[0], *axes)
    if cross_follows:
        story.note("norm", "cross_follows", site=f"{place.site.removesuffix('self')}cross")
        return
    story.step("feed_forward", parts["feed_forward"].made[0], *axes)
    if block.attention_residual.before:
        story.step("feed_forward_residual", parts["next"].made[0], *axes)
    else:
        story.step("feed_forward_residual", parts["next_norm"].given[0], *axes)
        story.step("feed_forward_norm", parts["next_norm"].made[0], *axes)
