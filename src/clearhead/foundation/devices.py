"""Where to compute and in which number format: chosen with a reason one can print."""

from dataclasses import dataclass

import torch

from .errors import CannotError, ConfigError, nearest

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


@dataclass(frozen=True)
class Choice:
    """A device, and why it is this one."""

    device: torch.device
    reason: str


@dataclass(frozen=True)
class Precision:
    """A number format, and why it is this one."""

    dtype: torch.dtype
    reason: str


def choose_device(name: str = "auto") -> Choice:
    """Return the device of this name; `auto` is the first that is there of CUDA, MPS and CPU.

    `cuda:1` names one GPU of several. A device that is not there is refused, never replaced.
    """
    kind, _, index = name.partition(":")
    if kind not in DEVICES or (index and (kind != "cuda" or not index.isdecimal())):
        raise ConfigError(
            f"There is no device {name!r}.{nearest(kind, DEVICES)} "
            f"Choose one of: {', '.join(DEVICES)}, or one GPU of several, such as cuda:1."
        )
    if name == "auto":
        return choose_automatically()
    if kind == "cuda":
        refuse_missing_gpu(name, int(index or 0))
    if kind == "mps" and not torch.backends.mps.is_available():
        raise CannotError(
            "Device 'mps' was asked for, but torch sees no Apple GPU here. Use 'cpu' or 'auto'."
        )
    return Choice(torch.device(name), f"{described(torch.device(name))}, as asked for")


def choose_automatically() -> Choice:
    """Return the best device of this machine."""
    if torch.cuda.is_available():
        device = torch.device("cuda", torch.cuda.current_device())
        return Choice(device, f"{described(device)}: CUDA comes first")
    if torch.backends.mps.is_available():
        device = torch.device("mps")
        return Choice(device, f"{described(device)}: there is no CUDA device, and MPS comes second")
    device = torch.device("cpu")
    return Choice(device, f"{described(device)}: there is no CUDA or MPS device")


def refuse_missing_gpu(name: str, index: int) -> None:
    """Refuse a GPU that torch cannot use, and say what it can."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if index >= count:
        build = "" if torch.version.cuda else f" (torch {torch.__version__} is built without CUDA)"
        raise CannotError(
            f"Device {name!r} was asked for, but torch sees {count} CUDA devices here{build}. "
            "Use 'cpu' or 'auto'."
        )


def described(device: torch.device) -> str:
    """Name a device the way people know it."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    if device.type == "mps":
        return "Apple GPU (MPS)"
    return f"CPU with {torch.get_num_threads()} threads"


def choose_precision(name: str = "auto", *, device: torch.device) -> Precision:
    """Return the number format of this name; `auto` is bfloat16 on a GPU that has it."""
    if name == "auto":
        if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
            return Precision(torch.bfloat16, "bfloat16: this GPU computes in it, and it is fast")
        return Precision(
            torch.float32, f"float32: exact, and no slower way is sure to pay on {device}"
        )
    if name not in PRECISIONS:
        raise ConfigError(
            f"There is no precision {name!r}.{nearest(name, PRECISIONS)} "
            f"Choose one of: auto, {', '.join(PRECISIONS)}."
        )
    if name == "float64" and device.type == "mps":
        raise CannotError("An Apple GPU (MPS) has no float64. Use float32, or the CPU.")
    return Precision(PRECISIONS[name], f"{name}, as asked for")
