"""Reading weight files: safetensors whole or in shards, and torch files without running any code."""

import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from ..foundation.errors import FileError

WHOLE = ("model.safetensors", "pytorch_model.bin")


def read_json(path: Path) -> dict[str, Any]:
    """The settings in a JSON file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FileError(
            f"{path} is not JSON ({error}): the file is damaged. Copy it again."
        ) from error
    if not isinstance(found, dict):
        raise FileError(f"{path} holds {type(found).__name__} where settings were wanted.")
    return found


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All weights of a folder, from whichever kind of file it has."""
    for name in WHOLE:
        index = folder / f"{name}.index.json"
        if index.is_file():
            shards = sorted(set(read_json(index)["weight_map"].values()))
            return _merged([read_file(folder / shard) for shard in shards])
        if (folder / name).is_file():
            return read_file(folder / name)
    raise FileError(
        f"{folder} has no weights: model.safetensors (or its index and shards) or "
        "pytorch_model.bin was wanted. Copy the weights there."
    )


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
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        raise FileError(
            f"{path} cannot be opened without running code it brings, or it is damaged "
            f"({str(error).splitlines()[0]}). Convert it to safetensors where you trust it: "
            "load it there and save with safetensors.torch.save_file."
        ) from error
    if not isinstance(found, Mapping):
        raise FileError(f"{path} holds {type(found).__name__} where named weights were wanted.")
    return found


def _tensors(found: Mapping[str, Any], path: Path) -> dict[str, Tensor]:
    strange = [name for name, value in found.items() if not isinstance(value, Tensor)]
    if strange:
        raise FileError(f"{path} holds {strange[0]!r}, which is not a tensor: weights were wanted.")
    return dict(found)
