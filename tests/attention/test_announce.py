"""Attention tells whoever watches what it did, without changing what it does."""

import asyncio
import threading

import pytest
import torch
from attention_cases import CASES, leaves, make_request
from doors import unchecked
from rounding import forward_rounding
from torch import Tensor, nn

from clearhead.attention import (
    Announcement,
    Attended,
    Causal,
    Scores,
    Site,
    attend,
    reference,
    watching,
)
from clearhead.attention.announce import WATCHERS
from clearhead.attention.kernels import KERNELS

PLACE = Site("decoder.5.cross", nn.Identity())


def tensors(*, keys: int = 6, width: int = 8, trains: bool = False) -> list[Tensor]:
    draw = torch.Generator().manual_seed(0)
    shapes = ((2, 4, 6, width), (2, 2, keys, width), (2, 2, keys, width))
    return [torch.randn(shape, generator=draw).requires_grad_(trains) for shape in shapes]


def heard(*inputs: Tensor, **settings) -> list[Announcement]:
    told: list[Announcement] = []
    with watching(told.append):
        attend(*inputs, **settings)
    return told


def test_an_announcement_says_where_what_was_asked_and_what_came_out():
    q, k, v = tensors()
    mask, scores = Causal(), Scores(scale=0.3)
    told: list[Announcement] = []
    with watching(told.append):
        attended = attend(q, k, v, mask=mask, scores=scores, site=PLACE)
    (said,) = told
    assert (said.site, said.module) == ("decoder.5.cross", PLACE.module)
    assert said.attended is attended
    assert said.request.q_BHTD is q
    assert said.request.k_BGSD is k
    assert said.request.v_BGSE is v
    assert said.request.mask is mask
    assert said.request.scores is scores


def test_an_announcement_names_the_kernel_that_ran_and_brings_its_lse():
    (said,) = heard(*tensors(), mask=Causal())
    assert said.attended.kernel == "sdpa:flash"
    assert said.attended.lse_BHT is not None
    exact = reference.attend(said.request).lse_BHT
    assert exact is not None
    budget = forward_rounding(said.request).lse_BHT
    assert ((said.attended.lse_BHT.double() - exact).abs() <= budget).all()
    (said,) = heard(*tensors(), scores=Scores(softcap=2.0))
    assert said.attended.kernel == "explicit"
    assert said.attended.lse_BHT is not None


def test_what_nobody_named_takes_place_nowhere_in_particular():
    (said,) = heard(*tensors())
    assert (said.site, said.module) == ("attend", None)


def test_unwatched_nothing_is_told_and_no_lse_is_worked_out():
    told: list[Announcement] = []
    with watching(told.append):
        pass
    attended = attend(*tensors())
    assert not told
    assert attended.lse_BHT is None
    assert attended.kernel == "sdpa"


def test_all_who_watch_hear_in_the_order_they_came():
    told: list[str] = []
    with (
        watching(lambda said: told.append(f"outer {said.site}")),
        watching(lambda said: told.append(f"inner {said.site}")),
    ):
        attend(*tensors(), site=Site("encoder.0.self"))
    assert told == ["outer encoder.0.self", "inner encoder.0.self"]


def test_the_inner_watcher_leaves_first_and_the_outer_goes_on():
    outer: list[Announcement] = []
    inner: list[Announcement] = []
    with watching(outer.append):
        with watching(inner.append):
            attend(*tensors())
        attend(*tensors())
    assert (len(outer), len(inner)) == (2, 1)


def test_one_who_watches_twice_hears_twice_and_leaves_once_at_a_time():
    told: list[Announcement] = []
    hear = told.append
    with watching(hear):
        with watching(hear):
            attend(*tensors())
        assert len(told) == 2
        attend(*tensors())
    assert len(told) == 3
    assert not WATCHERS


def test_another_thread_is_not_heard():
    told: list[Announcement] = []
    with watching(told.append):
        worker = threading.Thread(target=lambda: attend(*tensors()))
        worker.start()
        worker.join()
    assert not told


def test_another_thread_hears_only_itself():
    sites: dict[str, list[str]] = {"here": [], "there": []}

    def there() -> None:
        with watching(lambda said: sites["there"].append(said.site)):
            attend(*tensors(), site=Site("there"))

    with watching(lambda said: sites["here"].append(said.site)):
        worker = threading.Thread(target=there)
        worker.start()
        worker.join()
        attend(*tensors(), site=Site("here"))
    assert sites == {"here": ["here"], "there": ["there"]}


def test_tasks_side_by_side_hear_only_themselves():
    async def watched(name: str) -> list[str]:
        told: list[str] = []
        with watching(lambda said: told.append(said.site)):
            await asyncio.sleep(0)
            attend(*tensors(), site=Site(name))
            await asyncio.sleep(0)
        return told

    async def both() -> list[list[str]]:
        return await asyncio.gather(watched("one"), watched("two"))

    assert asyncio.run(both()) == [["one"], ["two"]]
    assert not WATCHERS


def test_an_error_inside_leaves_nobody_watching():
    def fall_over() -> None:
        with watching(lambda said: None):
            assert len(WATCHERS) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fall_over()
    assert not WATCHERS


def test_a_watcher_that_fails_is_not_hidden_and_leaves_nobody_watching():
    def fail(said: Announcement) -> None:
        raise RuntimeError("the watcher fell over")

    with pytest.raises(RuntimeError, match="fell over"), watching(fail):
        attend(*tensors())
    assert not WATCHERS


@pytest.mark.parametrize("kernel", ["auto", "explicit", "sdpa", "blocks"])
@pytest.mark.parametrize("case", CASES)
def test_watched_values_and_gradients_are_the_same_bits(case, kernel):
    request = make_request(case, trains=True)
    if kernel != "auto" and KERNELS[kernel].refuses(request):
        kernel = "auto"

    def once() -> tuple[Attended, tuple[Tensor, ...]]:
        attended = attend(
            request.q_BHTD,
            request.k_BGSD,
            request.v_BGSE,
            mask=request.mask,
            scores=request.scores,
            first=request.first,
            kernel=kernel,
        )
        values = attended.values_BHTE
        return attended, torch.autograd.grad(values, list(leaves(request).values()), values * 2)

    unwatched, gradients = once()
    with watching(lambda said: None):
        watched, again = once()
    assert torch.equal(watched.values_BHTE, unwatched.values_BHTE)
    assert all(torch.equal(one, two) for one, two in zip(gradients, again, strict=True))


def test_compiled_and_watched_it_still_tells():
    compiled = torch.compile(attend, backend="eager")
    inputs, told = tensors(), []
    with unchecked():
        silent = compiled(*inputs, mask=Causal(), site=PLACE)
        with watching(told.append):
            loud = compiled(*inputs, mask=Causal(), site=PLACE)
        after = compiled(*inputs, mask=Causal(), site=PLACE)
    assert [said.site for said in told] == ["decoder.5.cross"]
    assert told[0].attended.lse_BHT is not None
    for attended in (loud, after):
        assert torch.equal(attended.values_BHTE, silent.values_BHTE)
