"""The settings of watching: what cannot be is said at the door, and where things are kept."""

from dataclasses import replace

import pytest
import tiny
import torch
from doors import unchecked

from clearhead import watch
from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.lens.look import Look
from clearhead.lens.summed import Summed
from clearhead.lens.watching import keeper
from clearhead.lens.watching.budget import Budget

SITE = "decoder.0.self"


def network_of():
    return tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)


def seen_with(**settings):
    network = network_of()
    with torch.no_grad(), watch(network, **settings) as seen:
        network(tiny.ids(1, 2, 7))
    return seen


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "exakt"}, "no 'exakt' to keep.* Did you mean 'exact'"),
        ({"keep": ["entropi"]}, "no 'entropi' to keep.* Did you mean 'entropy'"),
        ({"keep": ("exact", "map")}, "'exact' in a list, and 'exact' stands alone: give keep='ex"),
        ({"keep": ["summaries", "top"]}, "'summaries' stands alone: give keep='summaries'"),
        ({"keep": None}, "keep=None names nothing: give keep='exact'"),
        ({"keep": ["map", 3]}, "keep has 3 in it, which is no name"),
        ({"sites": ["decoder.9.self"]}, "no attention 'decoder.9.self'.* There are: decoder.0"),
        ({"sites": SITE}, r"is one name and no list: give sites=\['decoder.0.self'\]"),
        ({"sites": 3}, r"sites=3 names nothing: give a list of names, sites=\['decoder.0.self'\]"),
        ({"sites": [3]}, "sites has 3 in it, which is no name"),
        ({"heads": []}, r"heads=\[\] keeps no head at all: give the numbers"),
        ({"heads": 3}, r"heads=3 is no list of whole numbers: .*heads=\[0, 3\]"),
        ({"heads": [0.5]}, r"heads=\[0.5\] is no list of whole numbers"),
        ({"heads": [-1]}, r"heads=\[-1\] has a number below 0"),
        ({"heads": [1, 1]}, r"heads=\[1, 1\] has a head twice"),
        ({"on": "disk"}, "on='disk' is no place"),
        ({"keep": "top", "top": 0}, "top=0 keeps no key: give a whole number from 1"),
        ({"keep": ["top"], "top": -1}, "top=-1 keeps no key"),
        ({"keep": ["top"], "top": 2.5}, "top=2.5 keeps no key"),
        ({"top": 8}, r"top=8 has no effect .* leave it out, or name them, keep=\('top', …\)"),
        ({"keep": "summaries", "top": 4}, "top=4 has no effect"),
    ],
)
def test_settings_of_watching_that_cannot_be(settings, message):
    with (
        unchecked(),
        pytest.raises(ConfigError, match=message),
        watch(network_of(), **settings),
    ):
        raise AssertionError


def test_eight_keys_are_kept_where_nothing_else_is_said():
    assert seen_with(keep="top")[SITE].top().keys_BHTk.shape == (2, 4, 7, 8)


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        (
            {},
            r"keep only statistics \(keep='summaries'\), keep on the host \(on='host'\), or",
        ),
        ({"on": "host"}, r"keep only statistics \(keep='summaries'\), or allow more"),
        ({"keep": "summaries"}, r"keep fewer statistics \(keep=\(…\) with their names\), keep on"),
    ],
)
def test_too_much_to_keep_is_refused_with_the_arithmetic(settings, advice):
    start = r"Keeping decoder.0.self takes .* kB \(\[2, 4, 7.*\] × 4 .*2 kB may be kept\. You can "
    fewer = r"watch fewer sites or heads \(sites=…, heads=…\), "
    with pytest.raises(CannotError, match=start + fewer + advice + ".*budget=bytes"):
        seen_with(budget=2000, **settings)


def test_what_is_kept_can_be_kept_on_the_host():
    seen = seen_with(on="host")
    for site in seen.sites:
        assert seen.look(site).source.device.type == "cpu"


@pytest.mark.parametrize("keep", ["exact", ["entropy", "received", "map", "top"]])
def test_what_is_moved_to_the_host_is_what_is_counted(keep, monkeypatch):
    """As from another device: what comes back from the move is other memory."""
    moved = []

    def copied(tensor):
        moved.append(tensor.clone())
        return moved[-1]

    monkeypatch.setattr(
        keeper,
        "piece_on_host",
        lambda piece: replace(
            piece, **{name: copied(getattr(piece, name)) for name in ("q_BHTD", "k_BGND", "v_BGNE")}
        ),
    )
    monkeypatch.setattr(keeper, "tally_on_host", lambda tally: tally.moved(copied))
    seen = seen_with(keep=keep, on="host")
    kept = [each for site in seen.keeper.runs[0].sites.values() for each in site.calls]
    tensors = {tensor.data_ptr(): tensor for each in kept for tensor in each.tensors()}
    assert moved
    assert {tensor.data_ptr() for tensor in moved} <= set(tensors)
    assert seen.keeper.budget.counted == set(tensors)
    assert seen.keeper.budget.used == sum(t.numel() * t.element_size() for t in tensors.values())


def test_memory_that_two_results_share_is_counted_once():
    budget, shared = Budget(100, ("allow more",)), torch.zeros(20)
    budget.take("here", [shared, shared.view(4, 5)])
    budget.take("here", [shared])
    assert budget.used == 80


def test_statistics_answer_to_the_same_names_and_refuse_what_they_let_go_of():
    look = seen_with(keep="summaries")[SITE]
    asked = {name for name in vars(Look) if not name.startswith("_")} - {"projection"}
    assert asked <= {*dir(Summed), *Summed.__annotations__}
    assert look.shape == (2, 4, 7, 7)
    for name, ask in {
        "mass": look.mass,
        "weight_on": lambda: look.weight_on(torch.zeros(2, 7, dtype=torch.long)),
        "summaries": lambda: look.summaries,
        "rows": lambda: look.rows,
    }.items():
        with pytest.raises(CannotError, match=f"alone, so {name} cannot be answered. Watch with"):
            ask()


@pytest.mark.parametrize("count", [0, -1])
def test_no_key_at_all_is_refused_where_statistics_were_kept(count):
    look = seen_with(keep="top", top=3)[SITE]
    with pytest.raises(InputError, match=f"top {count} keys of decoder.0.self .* ask for 1 to 3"):
        look.top(count)


def test_a_question_asked_before_all_was_heard_does_not_answer_for_later():
    network = network_of()
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 2, 7))
        assert seen[SITE].shape == (2, 4, 7, 7)
        network(tiny.ids(1, 2, 9))
        assert seen[SITE].shape == (2, 4, 9, 9)
        past = network.past()
        for at in range(2):
            network(tiny.ids(1, 2, 4)[:, at : at + 1], past=past)
            assert seen[SITE].shape == (2, 4, at + 1, at + 1)


def test_padded_queries_give_nothing_in_cross_attention_either():
    network = tiny.made(next(iter(tiny.TRANSLATORS.values())), dtype=torch.float32)
    found = []
    for keep in ("exact", "summaries"):
        with torch.no_grad(), watch(network, keep=keep) as seen:
            network(tiny.ids(1, 2, 7), tiny.ids(2, 2, 5), target_lengths_B=torch.tensor([5, 3]))
        found.append(seen["decoder.0.cross"].received())
    exact, summed = found
    assert exact.left_out == summed.left_out == ((1, 3), (1, 4))
    assert (exact.values - summed.values).abs().max() < 1e-5


@pytest.mark.parametrize("wrong", [[1.7], 1.5, None, ["a"]])
def test_what_is_no_whole_number_is_never_rounded(wrong):
    network = tiny.made(tiny.DECODERS["decoder, rotary"], dtype=torch.float32)
    with torch.no_grad(), watch(network) as seen:
        network(tiny.ids(1, 1, 5))
    with unchecked(), pytest.raises(InputError, match=r"is no position: give a whole number"):
        seen.rollout(to=wrong)
    look = seen["decoder.0.self"]
    if wrong is not None:
        with unchecked(), pytest.raises(InputError, match=r"is no head: give a whole number"):
            look.weights(heads=wrong)
    with unchecked():
        assert seen.rollout(to=torch.tensor(2)).to == (2,)
