"""Which kernel serves what, and the reason that is given."""

from types import SimpleNamespace

import pytest
import torch
from attention_cases import make_request
from doors import unchecked

from clearhead.attention import (
    Blocks,
    Causal,
    Documents,
    Global,
    Padding,
    Request,
    Scores,
    Window,
    why,
)
from clearhead.attention import choose as choosing
from clearhead.attention.kernels import KERNELS
from clearhead.foundation.errors import NoKernelError

LONG = 2048
SPARSE = {
    "window": Window(64, 64),
    "causal window": Causal() & Window(128, None),
    "window and padding": Window(64, 0) & Padding(torch.tensor([1500])),
    "longformer": Window(64, 64) | Global((0,)),
    "documents": Documents.packed([256] * 8),
    "blocks": Blocks.of(torch.eye(8, dtype=torch.bool), size=256),
}


def chosen(mask=None, *, length: int = LONG, **settings):
    q = torch.zeros(1, 2, length, 8)
    return why(q, q, q, mask=mask, **settings)


@pytest.mark.parametrize("mask", [None, Causal(), Padding(torch.tensor([900])), ~Window(3, 3)])
def test_full_causal_and_dense_masks_go_to_sdpa(mask):
    assert chosen(mask).kernel.name == "sdpa"


@pytest.mark.parametrize("rule", SPARSE)
def test_sparse_masks_over_many_keys_go_to_blocks_on_a_cpu(rule):
    assert chosen(SPARSE[rule]).kernel.name == "blocks"


def test_sparse_masks_over_few_keys_are_not_worth_it():
    assert chosen(Window(8, 8), length=512).kernel.name == "sdpa"


def test_what_the_fast_kernels_cannot_do_goes_to_the_one_that_shows_all():
    assert chosen(scores=Scores(softcap=1.0)).kernel.name == "explicit"
    assert chosen(wants_weights=True).kernel.name == "explicit"
    assert chosen(Window(8, 8), scores=Scores(sinks=torch.zeros(2))).kernel.name == "explicit"


def test_dropout_goes_where_it_can_be_had():
    assert chosen(dropout=0.1).kernel.name == "sdpa"


def test_the_reason_says_what_the_mask_is_and_in_which_order_kernels_are_tried():
    assert chosen().reason == "sdpa: the mask is full, so the order is sdpa → explicit."
    assert chosen(Causal()).reason == "sdpa: the mask is causal, so the order is sdpa → explicit."
    assert chosen(Window(63, 64)).reason == (
        "blocks: the mask allows at most 6% of all pairs, so the order is blocks → sdpa → explicit."
    )


def test_the_reason_says_who_was_passed_over_and_why():
    assert chosen(scores=Scores(softcap=1.0)).reason == (
        "explicit: the mask is full, so the order is sdpa → explicit. "
        "sdpa was passed over: it has no softcap."
    )


def test_the_reason_for_a_kernel_asked_for_is_that_it_was():
    assert chosen(kernel="explicit").reason == "explicit: it was asked for by name."


def test_why_takes_a_later_start_as_attend_does():
    q = torch.zeros(1, 2, 4, 8)
    assert why(q, q, q, mask=Documents.packed([6]), first=2).kernel.name == "sdpa"


def test_what_nobody_can_serve_lists_every_kernel_with_its_reason(monkeypatch):
    monkeypatch.setitem(KERNELS, "explicit", Unwilling())
    request = make_request("softcap")
    with pytest.raises(NoKernelError) as caught:
        choosing.choose(request)
    assert str(caught.value) == (
        "No attention kernel can serve this request:\n"
        "  sdpa: it has no softcap\n"
        "  explicit: it is tired\n"
        "Ask for less (for example wants_weights=False)."
    )


class Unwilling:
    name = "explicit"

    def refuses(self, request: Request) -> str | None:
        return "it is tired"

    def __call__(self, request: Request):
        raise AssertionError("a kernel that refuses is never called")


@pytest.mark.parametrize(
    ("mask", "queries", "wanted"),
    [
        (Causal(), LONG, "varlen sdpa flex explicit"),
        (Causal(), 1, "varlen sdpa explicit"),
        (Window(64, 64), LONG, "varlen flex blocks sdpa explicit"),
        (Window(64, 64), 1, "varlen blocks sdpa explicit"),
    ],
)
def test_on_cuda_a_kernel_is_compiled_only_for_many_queries(mask, queries, wanted):
    pretended = SimpleNamespace(
        q_BHTD=SimpleNamespace(is_cuda=True), mask=mask, queries=queries, keys=LONG
    )
    with unchecked():
        assert choosing.order(pretended) == tuple(wanted.split())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="these orders are CUDA's")
def test_on_cuda_packed_documents_go_to_varlen_and_sparse_masks_to_flex():
    q = torch.zeros(1, 2, LONG, 64, device="cuda", dtype=torch.bfloat16)
    documents = Documents.packed([256] * 8, device="cuda")
    assert why(q, q, q, mask=documents).kernel.name == "varlen"
    assert why(q, q, q, mask=Window(64, 64)).kernel.name == "flex"
    assert why(q, q, q, mask=Causal()).kernel.name == "sdpa"
