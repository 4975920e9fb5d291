"""What was seen, saved: opens without torch, to the last bit, and says any weight again."""

import subprocess
import sys

import numpy as np
import pytest
import tiny
import torch
from project import PACKAGE

from clearhead import open_trace, watch
from clearhead.foundation.errors import FileError, ShapeError
from clearhead.traces import Array, Trace

OPEN = """
import sys
sys.modules["torch"] = None  # importing it would fail
import numpy as np
from clearhead import open_trace
trace = open_trace(sys.argv[1])
q, k, lse = (trace[f"decoder.1.self.{name}"] for name in ("q", "k", "lse"))
scale = trace.about["sites"]["decoder.1.self"]["scale"]
shared = q.values.shape[1] // k.values.shape[1]
scores = scale * q.numbers @ np.repeat(k.numbers, shared, 1).swapaxes(-1, -2)
weights = np.exp(scores - lse.numbers[..., None])
np.save(sys.argv[2], np.tril(weights.astype(np.float64)))
"""


def seen_in(dtype: torch.dtype = torch.float32):
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=dtype)
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 2, 9))
    return seen


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_trace_says_every_weight_again_without_torch(tmp_path, dtype):
    seen = seen_in(dtype)
    seen.save(tmp_path / "run.trace", exact=True)
    command = [sys.executable, "-c", OPEN, tmp_path / "run.trace", tmp_path / "weights.npy"]
    ran = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    wanted = seen["decoder.1.self"].weights().values.double().numpy()
    found = np.load(tmp_path / "weights.npy")
    assert np.abs(found - wanted).max() < (1e-5 if dtype == torch.float32 else 1e-2)


def test_a_trace_holds_what_every_site_answers(tmp_path):
    seen = seen_in()
    labels = [f"t{number}" for number in range(9)]
    seen.save(tmp_path / "run.trace", size=4, top=3, labels={"decoder token": labels})
    trace = open_trace(tmp_path / "run.trace")
    assert trace.kind == "attention"
    assert trace.labels == {"decoder token": tuple(labels)}
    assert list(trace.about["sites"]) == ["decoder.0.self", "decoder.1.self"]
    look, site = seen["decoder.0.self"], "decoder.0.self"
    pairs = {
        "received": look.received().values,
        "entropy": look.entropy().values,
        "peak": look.peak().values,
        "sink": look.sink().values,
        "distance": look.distance().signed_BHT,
        "absolute_distance": look.distance().absolute_BHT,
        "map_mean": look.map(size=4).mean_BHRC,
        "map_maximum": look.map(size=4).maximum_BHRC,
        "map_count": look.map(size=4).count_BRC,
        "top_keys": look.top(3).keys_BHTk,
        "top_weights": look.top(3).weights_BHTk,
        "top_left_out": look.top(3).mass_left_out,
    }
    for name, values in pairs.items():
        np.testing.assert_allclose(trace[f"{site}.{name}"].values, values.numpy(), atol=2e-6)


def test_sites_can_be_chosen_and_labels_must_fit():
    seen = seen_in()
    trace = seen.trace(sites=["decoder.1.self"], size=2)
    assert {name.rsplit(".", 1)[0] for name in trace.arrays} == {"decoder.1.self"}
    with pytest.raises(ShapeError, match="2 labels for the decoder tokens and 9 of them"):
        seen.trace(labels={"decoder token": ["a", "b"]})


def test_sixteen_bits_of_bfloat16_are_the_numbers_they_were(tmp_path):
    numbers = torch.tensor([1.5, -2.0, 3.0e38, 1e-40, torch.inf]).bfloat16()
    bits = numbers.view(torch.int16).numpy().view(np.uint16)
    Trace(kind="x", arrays={"a": Array(bits, ("n",), "bfloat16")}).save(tmp_path / "x.trace")
    again = open_trace(tmp_path / "x.trace")["a"]
    assert again.stored_as == "bfloat16"
    np.testing.assert_array_equal(again.numbers, numbers.float().numpy())
    with pytest.raises(ShapeError, match="float64 was said to be stored as 'bfloat16'"):
        Array(np.zeros(2), ("n",), "bfloat16")


def test_a_trace_cut_short_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "run.trace"
    seen_in().save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FileError, match="is damaged, or is no trace"):
        open_trace(path)
