"""Which modules of a `transformers` model attend, and what we call each place."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from ...foundation.errors import CannotError

TABLE = "ALL_ATTENTION_FUNCTIONS"
CROSS = re.compile(r"cross|encoder_attn|encdec|encoder_decoder", re.IGNORECASE)
# Families whose code does not ask the table for its attention. (A test reads their source.)
OUTSIDE = frozenset(
    """
    autoformer bark big_bird bloom canine codegen convbert cpmant deberta deberta-v2 falcon flaubert
    fsmt funnel gpt_neo gpt_neox_japanese gptj ibert imagegpt layoutlmv2 layoutlmv3 led levit lilt
    longformer luke lxmert megatron-bert mpnet mpt mra mvp nystromformer openai-gpt perceiver
    prophetnet reformer rembert roformer rwkv squeezebert swinv2 tapas trocr visual_bert wavlm xglm
    xlm xlnet yoso
    """.split()  # noqa: SIM905 - a list of words, not of lines
)


@dataclass(frozen=True)
class Sites:
    """The attentions of a model by site, and the layers that have none."""

    modules: Mapping[str, nn.Module]
    without: tuple[str, ...]


def table_of(module: nn.Module) -> Any | None:
    """The attention table that this module's own code asks, if it asks one."""
    for function in _functions(type(module)):
        if TABLE in function.__code__.co_names and TABLE in function.__globals__:
            return function.__globals__[TABLE]
    return None


def eager_of(module: nn.Module) -> Callable[..., Any]:
    """The function this module's own code falls back on when it is set to eager."""
    for function in _functions(type(module)):
        names = function.__code__.co_names
        if TABLE not in names:
            continue
        eager = [name for name in names if "eager" in name and name in function.__globals__]
        if len(eager) == 1:
            found: Callable[..., Any] = function.__globals__[eager[0]]
            return found
    raise CannotError(
        f"{type(module).__name__} does not say which function its eager attention is, so it "
        "cannot be watched in eager. Use model.set_attn_implementation('sdpa')."
    )


def _functions(kind: type) -> Iterator[Any]:
    """Every method of the class, without what decorates it."""
    for base in kind.__mro__:
        # What every model inherits knows the table too, and attends to nothing itself.
        if base is nn.Module or base.__module__ == "transformers.modeling_utils":
            return
        for attribute in vars(base).values():
            function = inspect.unwrap(attribute) if callable(attribute) else attribute
            if inspect.isfunction(function):
                yield function


def foreign_sites(model: nn.Module) -> Sites:
    """Every attention of the model that asks the table, or a refusal that says why there is none.

    A site is named as the model reads: `encoder.0.self`, `decoder.5.cross`. Where two would have
    one name, each is called by its whole path.
    """
    kind = getattr(getattr(model, "config", None), "model_type", "")
    found = {path: part for path, part in model.named_modules() if table_of(part) is not None}
    if kind in OUTSIDE or not found:
        raise CannotError(
            f"{type(model).__name__} does not take its attention from the table of transformers, "
            "so what it does cannot be overheard. Models that do can be watched: BERT, GPT-2, "
            "Llama, Mistral, Qwen, Gemma, T5, BART, Marian, Whisper, ViT and most others."
        )
    named: dict[str, list[str]] = {}
    for path, part in found.items():
        named.setdefault(_site(path, part), []).append(path)
    modules = {
        (site if len(paths) == 1 else path): found[path]
        for site, paths in named.items()
        for path in paths
    }
    return Sites(modules, _layers_without(model, list(found)))


def _site(path: str, part: nn.Module) -> str:
    """`model.layers.3.self_attn` is `decoder.3.self`."""
    words = path.split(".")
    numbers = [word for word in words if word.isdigit()]
    if not numbers:
        return path
    before = words[: words.index(numbers[0])]
    sides = [word for word in before if word in ("encoder", "decoder")]
    is_cross = any(CROSS.search(word) for word in words[words.index(numbers[0]) :])
    reads_back = bool(getattr(part, "is_causal", False) or getattr(part, "is_decoder", False))
    side = sides[-1] if sides else "decoder" if reads_back or is_cross else "encoder"
    return f"{side}.{numbers[0]}.{'cross' if is_cross else 'self'}"


def _layers_without(model: nn.Module, attending: list[str]) -> tuple[str, ...]:
    """Layers that have no attention, in stacks where others have one (hybrid models).

    A list inside a layer that has one holds its parts, as T5's blocks do.
    """
    without: list[str] = []
    stacks: list[str] = []
    for path, part in model.named_modules():
        if not isinstance(part, nn.ModuleList) or path.startswith(tuple(stacks)):
            continue
        layers = [f"{path}.{number}" for number in range(len(part))]
        has = [any(each.startswith(f"{layer}.") for each in attending) for layer in layers]
        if any(has):
            stacks.append(f"{path}.")
            without += [layer for layer, has_one in zip(layers, has, strict=True) if not has_one]
    return tuple(without)
