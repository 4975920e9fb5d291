"""Reading weight files: safetensors whole or in shards, and torch files without running code."""

import pickle
import struct
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from ..foundation.errors import FileError
from ..foundation.json_file import read_json

WHOLE = ("model.safetensors", "pytorch_model.bin")
# What torch raises at bytes that it did not write, and at those that would need code.
DAMAGED = (
    *(pickle.UnpicklingError, zipfile.BadZipFile, struct.error, RuntimeError, EOFError, OSError),
    *(ValueError, LookupError, TypeError, AttributeError, AssertionError),
)


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All weights of a folder, from whichever kind of file it has."""
    for name in WHOLE:
        index = folder / f"{name}.index.json"
        if index.is_file():
            return _merged([read_file(folder / shard) for shard in _shards(index)])
        if (folder / name).is_file():
            return read_file(folder / name)
    raise FileError(
        f"{folder} has no weights: model.safetensors (or its index and shards) or "
        "pytorch_model.bin was wanted. Copy the weights there."
    )


def _shards(index: Path) -> list[str]:
    """The files an index names."""
    places = read_json(index).get("weight_map")
    named = list(places.values()) if isinstance(places, Mapping) else []
    if not named or not all(isinstance(shard, str) for shard in named):
        raise FileError(
            f"{index} does not say which file holds which weight: it is damaged. Copy it again."
        )
    outside = [shard for shard in named if Path(shard).is_absolute() or ".." in Path(shard).parts]
    if outside:
        raise FileError(
            f"{index} names {outside[0]}, which lies outside {index.parent}, where no file is "
            "read. Copy the weights into the folder and correct the index."
        )
    return sorted(set(named))


def _merged(shards: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: tensor for shard in shards for name, tensor in shard.items()}


def read_file(path: Path) -> dict[str, Tensor]:
    """The weights in one file, memory-mapped where the format allows."""
    if not path.is_file():
        raise FileError(f"{path} is missing: the weights are not complete. Copy it there.")
    if path.suffix == ".safetensors":
        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise FileError(
                f"{path} cannot be read ({error}): the file is cut short or damaged "
                f"({path.stat().st_size:,} bytes). Copy it again."
            ) from error
    return _tensors(read_torch(path), path)


def read_torch(path: Path) -> Mapping[str, Any]:
    """What a .bin or .pt file holds, by torch's weights-only loader: no code runs."""
    try:
        # Only the newer form, a zip archive, can be mapped into memory.
        mapped = zipfile.is_zipfile(path)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Detected pickle protocol")
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except DAMAGED as error:
        raise FileError(
            f"{path} cannot be opened without running code it brings, or it is damaged "
            f"({_reason(error)}). Convert it to safetensors where you trust it: "
            "load it there and save with safetensors.torch.save_file."
        ) from error
    if not isinstance(found, Mapping):
        raise FileError(f"{path} holds {type(found).__name__} where named weights were wanted.")
    return found


def _reason(error: BaseException) -> str:
    """What torch met, without its advice to run the code after all."""
    met = str(error).partition("WeightsUnpickler error:")[2] or str(error)
    lines = [line.strip() for line in met.splitlines() if line.strip()]
    return lines[0].split(". ")[0] if lines else "it ends too early"


def _tensors(found: Mapping[str, Any], path: Path) -> dict[str, Tensor]:
    strange = [name for name, value in found.items() if not isinstance(value, Tensor)]
    if strange:
        raise FileError(f"{path} holds {strange[0]!r}, which is not a tensor: weights were wanted.")
    return dict(found)
