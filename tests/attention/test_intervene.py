"""Whoever intervenes decides what attention hands on; what is announced stays what it made."""

import threading

import pytest
import torch
from doors import unchecked
from torch import Tensor

from clearhead.attention import Announcement, Site, attend, changing, unheard, watching
from clearhead.attention.intervene import CHANGED_HERE, CHANGERS

PLACE = Site("decoder.0.self")


def tensors() -> list[Tensor]:
    draw = torch.Generator().manual_seed(0)
    return [torch.randn((2, heads, 6, 8), generator=draw) for heads in (4, 2, 2)]


def doubled(told: Announcement) -> Tensor:
    return told.attended.values_BHTE * 2


def one_more(told: Announcement) -> Tensor:
    return told.attended.values_BHTE + 1


def test_what_is_handed_on_is_what_the_changer_returns_and_the_rest_stays():
    plain = attend(*tensors(), wants_weights=True)
    with changing(doubled):
        found = attend(*tensors(), wants_weights=True)
    assert torch.equal(found.values_BHTE, plain.values_BHTE * 2)
    assert torch.equal(found.weights_BHTS, plain.weights_BHTS)
    assert found.kernel == plain.kernel
    assert torch.equal(attend(*tensors()).values_BHTE, attend(*tensors()).values_BHTE)


def test_one_inside_another_is_given_what_the_outer_one_returned():
    plain = attend(*tensors()).values_BHTE
    with changing(doubled), changing(one_more):
        found = attend(*tensors()).values_BHTE
    assert torch.equal(found, plain * 2 + 1)


@pytest.mark.parametrize("watched_inside", [False, True])
def test_what_is_announced_is_what_attention_made_by_itself(watched_inside):
    told: list[Announcement] = []
    blocks = [watching(told.append), changing(doubled)]
    first, second = reversed(blocks) if watched_inside else blocks
    with watching(told.append):
        attend(*tensors(), site=PLACE)
    with first, second:
        attend(*tensors(), site=PLACE)
    plain, changed = told
    assert torch.equal(plain.attended.values_BHTE, changed.attended.values_BHTE)
    assert torch.equal(plain.attended.lse_BHT, changed.attended.lse_BHT)


def test_another_thread_is_not_changed():
    found: list[Tensor] = []
    with changing(doubled):
        worker = threading.Thread(target=lambda: found.append(attend(*tensors()).values_BHTE))
        worker.start()
        worker.join()
    assert torch.equal(found[0], attend(*tensors()).values_BHTE)


def test_an_error_leaves_nobody_who_changes():
    with pytest.raises(ZeroDivisionError), changing(doubled):
        raise ZeroDivisionError
    assert not CHANGERS
    assert not CHANGED_HERE.get()


def test_compiled_it_changes_and_stops_changing():
    compiled = torch.compile(attend, backend="eager")
    inputs = tensors()
    with unchecked():
        before = compiled(*inputs, site=PLACE).values_BHTE
        with changing(doubled):
            during = compiled(*inputs, site=PLACE).values_BHTE
        after = compiled(*inputs, site=PLACE).values_BHTE
    assert torch.equal(during, before * 2)
    assert torch.equal(after, before)


def test_unheard_nobody_hears_who_watched_before_and_afterwards_they_do_again():
    outer: list[Announcement] = []
    inner: list[Announcement] = []
    with watching(outer.append):
        with unheard(), watching(inner.append):
            attend(*tensors())
        assert (len(outer), len(inner)) == (0, 1)
        attend(*tensors())
    assert (len(outer), len(inner)) == (1, 1)
