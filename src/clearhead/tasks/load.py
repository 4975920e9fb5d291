"""From a name to a model that is ready to run."""

from pathlib import Path

from ..checkpoints.open import open_parts
from ..foundation.devices import choose_device, choose_precision
from .model import Model


def load(name: str | Path, *, device: str = "auto", precision: str = "float32") -> Model:
    """Open a model: a folder, a `.gguf` file, an installed name, or `hf:owner/name`.

    Args:
        device: `auto` takes the first there is of CUDA, MPS, CPU.
        precision: The number format of the weights: float32, bfloat16, …
    """
    parts = open_parts(name)
    where = choose_device(device).device
    dtype = choose_precision(precision, device=where).dtype
    return Model(
        network=parts.network.to(where, dtype),
        tokens=parts.vocabulary,
        preparation=parts.preparation,
        config=parts.architecture,
        provenance=parts.provenance,
    )
