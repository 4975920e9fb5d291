"""The stream of a decoder: what stands behind each of its blocks, and what its head says of it.

Whatever follows the last block (final norm, projection, head, scaling, cap) is the model's own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ..foundation.errors import CannotError, InputError
from ..models import DecoderNetwork, EncoderDecoderNetwork
from .watching.attach import is_foreign
from .watching.foreign_sites import foreign_sites

OWN = re.compile(r"decoder\.\d+\.self")
Ran = Callable[[], Any]


@dataclass(frozen=True)
class Told:
    """Scores of words at chosen positions: by every layer's stream, and what the model says.

    `through` names the parts that stand between the last block and the scores.
    """

    scores_LBtV: Float[Tensor, "l b t v"]
    own_BtV: Float[Tensor, "b t v"]
    positions: tuple[int, ...]
    through: tuple[str, ...]


@dataclass
class Stream:
    """Hears what stands behind each block, at chosen positions, while the model runs.

    Args:
        append: After the last block, the chosen states of all blocks go on beside its own, as
            more examples of the batch: so the model's own head scores them.
    """

    blocks: Sequence[nn.Module]
    positions: Sequence[int]
    append: bool
    states: list[Tensor] = field(default_factory=list)
    through: dict[str, None] = field(default_factory=dict)
    size: tuple[int, int] = (0, 0)

    def run(self, network: nn.Module, run: Ran) -> Any:
        """Run the model, once, heard."""
        with ExitStack() as stack, torch.no_grad():
            for block in self.blocks:
                hook = block.register_forward_hook(self._hear)
                stack.callback(hook.remove)
            for name, part in network.named_modules():
                if not any(part.children()) and not isinstance(part, nn.Dropout | nn.Identity):
                    note = part.register_forward_pre_hook(partial(self._note, name))
                    stack.callback(note.remove)
            found = run()
        if len(self.states) != len(self.blocks):
            raise CannotError(
                f"{len(self.states)} of the model's {len(self.blocks)} layers ran, where each was "
                "to run once. Layers may be dropped in training: call model.eval()."
            )
        return found

    def _note(self, name: str, module: nn.Module, given: object) -> None:
        if len(self.states) == len(self.blocks):
            self.through[name] = None

    def _hear(self, module: nn.Module, given: object, made: Any) -> Any:
        hidden = made[0] if isinstance(made, tuple) else made
        if not isinstance(hidden, Tensor) or hidden.dim() != 3:
            raise CannotError(
                f"{type(module).__name__} hands on something other than one vector a token, so "
                "there is no stream to read. Models with one vector a token can be read."
            )
        self.size = (hidden.shape[0], hidden.shape[1])
        self.positions = counted_from_0(self.positions, hidden.shape[1])
        self.states.append(hidden[:, list(self.positions)].clone())
        if not self.append or len(self.states) < len(self.blocks):
            return None
        both = torch.cat([hidden, self._as_examples(hidden)])
        return (both, *made[1:]) if isinstance(made, tuple) else both

    def _as_examples(self, hidden_BTM: Tensor) -> Tensor:
        """All chosen states, in rows as long as the text, the last filled up with zeros."""
        rows_NM = torch.stack(self.states).to(hidden_BTM).flatten(0, 2)
        length = hidden_BTM.shape[1]
        missing = -len(rows_NM) % length
        filled_NM = nn.functional.pad(rows_NM, (0, 0, 0, missing))
        return filled_NM.reshape(-1, length, hidden_BTM.shape[-1])


def counted_from_0(positions: Sequence[int], length: int) -> tuple[int, ...]:
    """Positions, those counted from the end counted from the beginning."""
    wrong = [each for each in positions if not -length <= each < length]
    if wrong or not positions:
        raise InputError(
            f"There is no position {wrong[0] if wrong else 'in an empty list'}: give numbers from "
            f"0 to {length - 1}, or from -1 to {-length}, counted from the end."
        )
    return tuple(each % length for each in positions)


def told_by(network: nn.Module, run: Ran, positions: Sequence[int]) -> Told:
    """What every layer would say at these positions, for one run of the network."""
    told = told_by_ours(network, run, positions)
    if told is None:
        told = told_by_theirs(network, run, positions)
    refuse_another_head(network, told)
    return told


def told_by_ours(network: nn.Module, run: Ran, positions: Sequence[int]) -> Told | None:
    """Our own decoders: final norm where there is one, and the output; None for other networks."""
    decoder = network.decoder if isinstance(network, EncoderDecoderNetwork) else network
    if not isinstance(decoder, DecoderNetwork):
        return None
    stream = Stream(list(decoder.stack.blocks), positions, append=False)
    result = stream.run(network, run)
    if result.logits_BTV is None or decoder.output is None:
        raise CannotError(
            f"This {type(network).__name__} gives no scores of words, so its layers have nothing "
            "to say. Give a decoder whose output is logits."
        )
    norm, output = decoder.stack.final_norm, decoder.output
    states_NtM = torch.cat(stream.states)
    with torch.no_grad():
        normed_NtM = states_NtM if norm is None else norm(states_NtM)
        scores_NtV = output(normed_NtM, decoder.input.words.weight)
    return Told(
        scores_NtV.reshape(len(stream.blocks), -1, *scores_NtV.shape[1:]),
        result.logits_BTV[:, list(stream.positions)],
        tuple(stream.positions),
        tuple(stream.through),
    )


def told_by_theirs(network: nn.Module, run: Ran, positions: Sequence[int]) -> Told:
    """Decoders of transformers: their own head scores the states as more examples."""
    stream = Stream(foreign_blocks(network), positions, append=True)
    logits = getattr(stream.run(network, run), "logits", None)
    batch, length = stream.size
    layers, count = len(stream.blocks), len(stream.positions)
    more = -(-layers * batch * count // length)
    if not isinstance(logits, Tensor) or logits.shape[:2] != (batch + more, length):
        raise CannotError(
            f"{type(network).__name__} returned no scores of words for every token, so its layers "
            "cannot be read. Take the class that writes (…ForCausalLM, …ForConditionalGeneration) "
            "and leave out logits_to_keep and return_dict."
        )
    scores_NV = logits[batch:].flatten(0, 1)[: layers * batch * count]
    return Told(
        scores_NV.reshape(layers, batch, count, -1),
        logits[:batch, list(stream.positions)],
        tuple(stream.positions),
        tuple(stream.through),
    )


def foreign_blocks(network: nn.Module) -> list[nn.Module]:
    """The layers of a decoder of transformers: the list that holds its self-attentions."""
    if not is_foreign(network):
        raise CannotError(
            f"{type(network).__name__} is no decoder of clearhead.models and none of transformers, "
            "so its layers cannot be read. Give a model of either."
        )
    paths: Mapping[int, str] = {id(part): path for path, part in network.named_modules()}
    stacks = {
        _stack(paths[id(module)])
        for site, module in foreign_sites(network).modules.items()
        if OWN.fullmatch(site)
    }
    found = [network.get_submodule(path) for path in stacks]
    if len(found) != 1 or not isinstance(found[0], nn.ModuleList):
        raise CannotError(
            f"{type(network).__name__} has no one list of layers that writes from left to right, "
            "so they cannot be read. GPT-2, Llama, Mistral, Qwen, Gemma, GPT-NeoX, OPT, T5, BART, "
            "Marian and Whisper have."
        )
    return list(found[0])


def _stack(path: str) -> str:
    """`model.layers` of `model.layers.3.self_attn`."""
    words = path.split(".")
    first = next((place for place, word in enumerate(words) if word.isdigit()), 0)
    return ".".join(words[:first])


def refuse_another_head(network: nn.Module, told: Told) -> None:
    """Refuse where the last layer, read this way, does not say what the model says.

    Half the digits of the precision: the same products, in another order, agree to more.
    """
    last_BtV, own_BtV = told.scores_LBtV[-1], told.own_BtV
    off = torch.finfo(own_BtV.dtype).eps ** 0.5
    finite = own_BtV[own_BtV.isfinite()]
    most = float(finite.abs().max()) if finite.numel() else 0.0
    if not torch.allclose(last_BtV, own_BtV, rtol=off, atol=off * most):
        raise CannotError(
            f"What follows the last layer of {type(network).__name__} is more than a head that "
            "reads each token by itself, so other layers cannot be put in its place. Watch its "
            "attention instead: clearhead.watch(model)."
        )
