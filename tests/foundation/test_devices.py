"""A device and a precision are chosen with a reason, and never replaced in silence."""

import pytest
import torch

from clearhead.foundation.devices import choose_device, choose_precision
from clearhead.foundation.errors import CannotError, ConfigError

CPU, CUDA, MPS = torch.device("cpu"), torch.device("cuda", 0), torch.device("mps")


@pytest.fixture
def machine(monkeypatch):
    """Pretend to be a machine with so many CUDA devices, with or without an Apple GPU."""

    def pretend(*, gpus=0, apple=False, native_bfloat16=True):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(torch.cuda, "current_device", lambda: gpus - 1)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: apple)
        monkeypatch.setattr(
            torch.cuda, "is_bf16_supported", lambda including_emulation: native_bfloat16
        )

    return pretend


def test_auto_takes_cuda_then_mps_then_the_cpu_and_says_why(machine):
    machine(gpus=2, apple=True)
    assert choose_device().device == torch.device("cuda", 1)
    assert choose_device().reason == "GPU 1: CUDA comes first"
    machine(apple=True)
    assert choose_device().device == MPS
    assert "there is no CUDA device, and MPS comes second" in choose_device("auto").reason
    machine()
    assert choose_device("auto").device == CPU
    assert choose_device().reason.startswith("CPU with ")
    assert choose_device().reason.endswith("there is no CUDA or MPS device")


def test_a_device_asked_for_is_taken_or_refused_never_replaced(machine):
    machine(gpus=2, apple=True)
    assert choose_device("cpu").device == CPU
    assert choose_device("mps").device == MPS
    assert choose_device("cuda").device == torch.device("cuda")
    assert choose_device("cuda:1").device == torch.device("cuda", 1)
    assert choose_device("cuda:1").reason == "GPU 1, as asked for"
    with pytest.raises(CannotError, match=r"'cuda:2' was asked for, but torch sees 2 CUDA dev"):
        choose_device("cuda:2")
    machine()
    with pytest.raises(CannotError, match=r"torch sees 0 CUDA devices.*Use 'cpu' or 'auto'\."):
        choose_device("cuda")
    with pytest.raises(CannotError, match=r"'mps' was asked for, .* Use 'cpu' or 'auto'\."):
        choose_device("mps")


@pytest.mark.parametrize("name", ["cdua", "cpu:1", "cuda:x", "gpu", ""])
def test_a_name_that_is_no_device_is_refused_with_the_names_there_are(name):
    with pytest.raises(ConfigError) as refused:
        choose_device(name)
    assert f"There is no device {name!r}." in str(refused.value)
    assert "Choose one of: auto, cpu, cuda, mps, or one GPU" in str(refused.value)
    assert ("Did you mean 'cuda'?" in str(refused.value)) == (name in ("cdua", "cuda:x"))


def test_automatic_precision_is_bfloat16_only_where_a_gpu_computes_in_it(machine):
    machine(gpus=1)
    assert choose_precision(device=CUDA).dtype == torch.bfloat16
    assert choose_precision(device=CPU).dtype == torch.float32
    assert choose_precision(device=MPS).dtype == torch.float32
    machine(gpus=1, native_bfloat16=False)
    assert choose_precision(device=CUDA).dtype == torch.float32
    assert choose_precision(device=CUDA).reason.startswith("float32: ")


def test_a_precision_asked_for_is_taken_or_refused():
    for name in ("float64", "float32", "bfloat16", "float16"):
        chosen = choose_precision(name, device=CPU)
        assert (chosen.dtype, chosen.reason) == (getattr(torch, name), f"{name}, as asked for")
    with pytest.raises(CannotError, match=r"MPS\) has no float64. Use float32, or the CPU\."):
        choose_precision("float64", device=MPS)
    with pytest.raises(ConfigError, match=r"no precision 'flaot32'. Did you mean 'float32'\?"):
        choose_precision("flaot32", device=CPU)
