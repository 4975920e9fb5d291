"""The projection behind an attention: what each head's values become in the stream."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn

from ..foundation.errors import CannotError

# What families call it; where it stands beside the module that attends, the last one.
NAMES = ("output", "o_proj", "out_proj", "c_proj", "o", "out_lin", "dense")
BESIDE = "output.dense"


def projection_of(
    network: nn.Module, module: nn.Module, heads: int, numbers: Sequence[int] | None = None
) -> Float[Tensor, "h e m"]:
    """The part of the projection that belongs to each head; a view of the model's own weights.

    Args:
        heads: How many the module has.
        numbers: Which of them; all when left out.
    """
    found = next((part for name in NAMES if (part := _part(module, name)) is not None), None)
    if found is None:
        found = _beside(network, module)
    weight = getattr(found, "weight", None)
    if not isinstance(weight, Tensor) or weight.dim() != 2 or not weight.is_floating_point():
        raise CannotError(
            f"{type(module).__name__} has no output projection that is known by name (it would be "
            f"{', '.join(NAMES)}), so how long its heads' vectors are cannot be said."
        )
    turned = type(found).__name__ == "Conv1D"  # GPT-2 keeps its weights the other way round
    weight_NM = weight.detach() if turned else weight.detach().T
    weight_HEM = weight_NM.reshape(heads, -1, weight_NM.shape[1])
    return weight_HEM if numbers is None else weight_HEM[list(numbers)]


def _part(module: nn.Module, path: str) -> nn.Module | None:
    try:
        return module.get_submodule(path)
    except AttributeError:
        return None


def _beside(network: nn.Module, module: nn.Module) -> nn.Module | None:
    path = next(path for path, part in network.named_modules() if part is module)
    return _part(network.get_submodule(path.rpartition(".")[0]), BESIDE)
