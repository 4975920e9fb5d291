"""What was seen, saved: opens without torch, to the last bit, and says any weight again."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from project import PACKAGE
from typed import typed

from clearhead import open_trace, watch
from clearhead.foundation.errors import CannotError, FileError, InputError, ShapeError
from clearhead.lens import Look
from clearhead.traces import Array, Trace
from clearhead.visuals.heads import chosen, gazes, heads_of

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


def seen_in(dtype: torch.dtype = torch.float32, **settings):
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=dtype)
    with torch.no_grad(), watch(network, **settings) as seen:
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


def test_sites_that_were_not_kept_are_in_no_trace(tmp_path):
    seen_in(sites=["decoder.1.self"]).save(tmp_path / "run.trace")
    assert list(open_trace(tmp_path / "run.trace").about["sites"]) == ["decoder.1.self"]
    with pytest.raises(CannotError, match=r"Of decoder.0.self only statistics were kept"):
        seen_in(keep="summaries").trace()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0}, "A map of 0 blocks shows nothing: ask for size=1 or more"),
        ({"top": 0}, "The top 0 keys show nothing: ask for top=1 or more"),
        ({"top": -1}, "The top -1 keys show nothing"),
    ],
)
def test_a_trace_of_nothing_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        seen_in().trace(**settings)


def test_as_many_keys_are_kept_as_there_are():
    assert seen_in().trace(top=99)["decoder.0.self.top_keys"].values.shape == (2, 4, 9, 9)


def test_a_wrong_lse_is_not_what_a_trace_says(monkeypatch):
    seen = seen_in()
    look, site = seen["decoder.1.self"], "decoder.1.self"
    wanted = look.rows.lse_BHT.numpy()
    wrong = Look(replace(look.source, lse_BHT=look.source.lse_BHT + 0.1))
    monkeypatch.setattr(seen, "look", lambda name: wrong)
    trace = seen.trace(sites=[site], exact=True)
    assert trace.about["sites"][site]["lse"] == "recomputed"
    np.testing.assert_allclose(trace[f"{site}.lse"].values, wanted, atol=1e-5)


def test_heads_keep_their_numbers_in_a_trace(tmp_path, capsys):
    whole, some = seen_in(), seen_in(heads=[3, 1])
    some.save(tmp_path / "run.trace")
    trace, site = open_trace(tmp_path / "run.trace"), "decoder.0.self"
    assert trace.about["sites"][site]["numbers"] == [3, 1]
    every = {(head.site, head.head): head for head in heads_of(whole.trace())}
    assert [head.head for head in heads_of(trace)] == [3, 1, 3, 1]
    for head in heads_of(trace):
        assert head.entropy == pytest.approx(every[head.site, head.head].entropy, abs=1e-5)
    told = [gazes(of, chosen(of, site, 3), slice(5, 6))[0] for of in (trace, whole.trace())]
    assert [key for key, _ in told[0].keys] == [key for key, _ in told[1].keys]
    with pytest.raises(InputError, match=r"There is no head 2: give one of 1, 3\."):
        chosen(trace, site, 2)
    answer = typed(capsys, "see", tmp_path / "run.trace", "--head", 3, "--json")
    assert json.loads(answer.out)["shown"]["head"] == 3
    answer = typed(capsys, "see", tmp_path / "run.trace", "--site", site, "--head", 3)
    assert "decoder.0.self, head 3" in answer.out


def test_a_trace_that_does_not_say_which_heads_it_has_holds_all_of_them(tmp_path):
    trace = seen_in().trace()
    for facts in trace.about["sites"].values():
        del facts["numbers"]
    trace.save(tmp_path / "old.trace")
    assert [head.head for head in heads_of(open_trace(tmp_path / "old.trace"))] == [0, 1, 2, 3] * 2


@pytest.mark.parametrize(
    ("language", "title"), [("en", "What a model looks at"), ("zh", "模型 在看什么")]
)
def test_a_trace_without_the_name_of_a_model_is_of_a_model(tmp_path, capsys, language, title):
    seen_in().save(tmp_path / "run.trace")
    answer = typed(capsys, "see", tmp_path / "run.trace", "--language", language)
    assert answer.out.splitlines()[0] == title


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
