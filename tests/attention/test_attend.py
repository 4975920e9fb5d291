"""The front door, and what it says when it must refuse."""

import pytest
import torch
from doors import unchecked
from torch import Tensor

from clearhead.attention import Causal, Given, Scores, Window, attend, why
from clearhead.attention.attend import as_rule
from clearhead.attention.bias import Slopes
from clearhead.foundation.errors import ConfigError, NoKernelError, ShapeError


def tensors(
    *, heads: int = 4, groups: int = 4, queries: int = 3, keys: int = 3, width: int = 8
) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    q = torch.randn(2, heads, queries, width, generator=draw)
    k, v = (torch.randn(2, groups, keys, width, generator=draw) for _ in range(2))
    return q, k, v


def test_equal_scores_average_the_values():
    v = torch.arange(3.0).reshape(1, 1, 3, 1)
    q, k = torch.zeros(1, 1, 3, 2), torch.zeros(1, 1, 3, 2)
    assert attend(q, k, v).values_BHTE.flatten().tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_booleans_are_a_mask_where_true_means_may_look():
    q, k, v = tensors()
    allowed = torch.ones(3, 3).tril().bool()
    by_rule = attend(q, k, v, mask=Causal()).values_BHTE
    torch.testing.assert_close(attend(q, k, v, mask=allowed).values_BHTE, by_rule)
    each = allowed.expand(2, 3, 3)
    torch.testing.assert_close(attend(q, k, v, mask=each).values_BHTE, by_rule)


def test_weights_come_when_asked_for():
    q, k, v = tensors()
    assert attend(q, k, v).weights_BHTS is None
    weights = attend(q, k, v, wants_weights=True).weights_BHTS
    assert weights is not None
    assert weights.shape == (2, 4, 3, 3)


def test_first_moves_every_position():
    q, k, v = tensors(queries=1)
    seen = attend(q, k, v, mask=Window(1, 0) | Given(torch.zeros(1, 1, 3).bool()))
    moved = attend(q, k, v, mask=Window(1, 0), first=5)
    torch.testing.assert_close(moved.values_BHTE, seen.values_BHTE)


# What is wrong, and what is said of it. Tests check shapes at the door before we can: not here.
WRONG_SIZES = {
    "heads that do not divide": (
        lambda: attend(*tensors(heads=6)),
        r"6 query heads cannot be shared out over 4 key/value heads: the first must be a multiple "
        r"of the second. Try 4 or 8 heads",
    ),
    "fewer heads than groups": (
        lambda: attend(*tensors(heads=2)),
        r"2 query heads .* 4 key/value heads.* Try 4 heads",
    ),
    "no heads at all": (
        lambda: attend(*(x[:, :0] for x in tensors())),
        r"There are 0 query heads and 0 key/value heads: give at least one of each",
    ),
    "no key/value heads": (
        lambda: attend(tensors()[0], *(x[:, :0] for x in tensors()[1:])),
        r"There are 4 query heads and 0 key/value heads: give at least one of each",
    ),
    "widths that differ": (
        lambda: attend(tensors(width=16)[0], *tensors()[1:]),
        r"Queries are 16 wide and keys 8: a dot product needs the same width",
    ),
    "lengths that differ": (
        lambda: attend(tensors()[0], tensors()[1], tensors(keys=5)[2]),
        r"keys \(2, 4, 3, 8\) and values \(2, 4, 5, 8\) do not belong together.*"
        r"\[batch, heads, length, width\]",
    ),
    "batches that differ": (
        lambda: attend(tensors()[0][:1], *tensors()[1:]),
        r"Queries \(1, 4, 3, 8\), keys \(2, 4, 3, 8\)",
    ),
    "no batch": (
        lambda: attend(*(x[0] for x in tensors())),
        r"Queries \(4, 3, 8\), keys \(4, 3, 8\) and values \(4, 3, 8\) need four axes each: "
        r"\[batch, heads, length, width\]. Give one that is missing a size of 1",
    ),
    "values without a batch": (
        lambda: attend(*tensors()[:2], tensors()[2][0]),
        r"values \(4, 3, 8\) need four axes each",
    ),
    "a mask of the wrong size": (
        lambda: attend(*tensors(), mask=torch.ones(3, 4).bool()),
        r"The mask is \(1, 3, 4\) and the attention has 2 examples of 3 queries and 3 keys: give "
        r"\[3, 3\] or \[2, 3, 3\]",
    ),
    "a mask of numbers": (
        lambda: attend(*tensors(), mask=torch.zeros(3, 3)),
        r"A mask of torch.float32 and shape \(3, 3\) is not a rule about pairs: give booleans .*"
        r"Numbers to add to the scores go into scores=Scores\(bias=…\)",
    ),
    "a mask with heads": (
        lambda: attend(*tensors(), mask=torch.ones(2, 4, 3, 3).bool()),
        r"A mask of torch.bool and shape \(2, 4, 3, 3\) is not a rule",
    ),
    "a bias that does not stretch": (
        lambda: attend(*tensors(), scores=Scores(bias=torch.zeros(4, 3, 2))),
        r"A bias of \(4, 3, 2\) does not stretch to the scores \(2, 4, 3, 3\)",
    ),
    "a bias with too many axes": (
        lambda: attend(*tensors(), scores=Scores(bias=torch.zeros(1, 1, 1, 3, 3))),
        r"A bias of \(1, 1, 1, 3, 3\) does not stretch",
    ),
    "a bias of booleans": (
        lambda: attend(*tensors(), scores=Scores(bias=torch.ones(3, 3).bool())),
        r"A bias of torch.bool is nothing to add to a score.*go into mask=…",
    ),
    "slopes of other heads": (
        lambda: attend(*tensors(), scores=Scores(bias=Slopes(torch.ones(3)))),
        r"There are 3 slopes for 4 query heads",
    ),
    "sinks of other heads": (
        lambda: attend(*tensors(), scores=Scores(sinks=torch.ones(1))),
        r"Sinks of \(1,\) do not fit 4 query heads: give one score a head",
    ),
}


@pytest.mark.parametrize("case", WRONG_SIZES)
def test_sizes_that_do_not_fit_are_named_with_a_remedy(case):
    call, message = WRONG_SIZES[case]
    with unchecked(), pytest.raises(ShapeError, match=message):
        call()


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.5])
def test_a_dropout_out_of_range_is_told_its_range(share):
    message = f"A dropout of {share} is out of range: it must be at least 0 and below 1"
    with pytest.raises(ConfigError, match=message):
        attend(*tensors(), dropout=share)


def test_a_wrong_shape_is_caught_at_the_door():
    q, k, v = tensors()
    with pytest.raises(Exception, match="k_BGSD"):
        attend(q, k[0], v)


def test_a_mask_of_zeros_and_ones_is_taken_as_booleans():
    rule = as_rule(torch.tensor([[1, 0], [1, 1]]))
    assert isinstance(rule, Given)
    assert rule.allowed_BTS.tolist() == [[[True, False], [True, True]]]


def test_an_unknown_kernel_suggests_the_nearest_and_lists_all():
    with pytest.raises(NoKernelError, match=r"kernel 'block'. Did you mean 'blocks'\?"):
        attend(*tensors(), kernel="block")
    with pytest.raises(NoKernelError, match="are: auto, varlen, flex, blocks, sdpa, explicit"):
        attend(*tensors(), kernel="zzz")


def test_a_kernel_asked_for_by_name_is_the_only_one_that_runs():
    for name in ("explicit", "sdpa", "blocks"):
        assert attend(*tensors(), kernel=name).kernel == name
        assert why(*tensors(), kernel=name).kernel.name == name


def test_a_kernel_asked_for_by_name_that_must_refuse_says_why():
    with pytest.raises(
        NoKernelError,
        match=r"The sdpa kernel cannot serve this request: it has no softcap. Use kernel='auto'",
    ):
        attend(*tensors(), kernel="sdpa", scores=Scores(softcap=3.0))
    with pytest.raises(NoKernelError, match=r"varlen kernel .*: it runs on CUDA only"):
        attend(*tensors(), kernel="varlen")
