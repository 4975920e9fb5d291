"""FlexAttention through its compiler: a few cases, because each costs seconds; and its tiles."""

from dataclasses import replace

import pytest
import torch
from attention_cases import CASES, DEVICES, doubled, leaves, make_request, with_leaves
from doors import unchecked
from rounding import backward_rounding, forward_rounding
from torch._dynamo.utils import counters

from clearhead.attention import Causal, Window, reference
from clearhead.attention.kernels.flex import TILE, Flex, block_mask, has_compiler, has_triton
from clearhead.attention.masks import grid

COMPILED = {
    "cpu": ["several tiles, buckets and window", "bigbird"],
    "cuda": [
        "several tiles, buckets and window",
        "several tiles, longformer",
        "several tiles, documents",
        "bigbird",
        "three heads a group",
        "softcap, sinks and window",
        "softcap, bias and scale",
        "a later start",
        "one query with a cache",
    ],
}
# While it loads, torch's compiler warns of torch's own old parts (2.13, November 2026).
of_torch_itself = pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
CAN_COMPILE = {"cpu": has_compiler(), "cuda": has_triton()}


@of_torch_itself
@pytest.mark.parametrize(
    ("case", "device"),
    [
        pytest.param(
            case,
            device,
            marks=pytest.mark.skipif(not CAN_COMPILE[device], reason="there is no compiler"),
        )
        for device in DEVICES
        for case in COMPILED[device]
    ],
)
def test_compiled_it_matches_the_definition_and_compiles_once(case, device):
    flex, request = Flex(), make_request(case, device=device)
    exact = reference.attend(doubled(request)[0]).values_BHTE.detach()
    with unchecked():
        values = flex(request).values_BHTE
    assert ((values - exact).abs() <= forward_rounding(request).value_BHTE).all()

    graphs = counters["stats"]["unique_graphs"]
    again = {leaf: tensor * 0.5 for leaf, tensor in leaves(request).items()}
    with unchecked():
        flex(replace(with_leaves(request, again), mask=CASES[case].mask(device)))
    assert counters["stats"]["unique_graphs"] == graphs


@of_torch_itself
@pytest.mark.skipif(not torch.cuda.is_available(), reason="flex has its gradient on CUDA only")
@pytest.mark.parametrize("case", COMPILED["cuda"])
def test_compiled_gradients_match_the_definition(case):
    request = make_request(case, device="cuda", trains=True)
    exact, wide = doubled(request)
    upstream = torch.randn_like(request.q_BHTD)[..., : request.v_BGSE.shape[-1]]
    with unchecked():
        values = Flex()(request).values_BHTE
    found = torch.autograd.grad(values, list(leaves(request).values()), upstream)
    truth = torch.autograd.grad(
        reference.attend(exact).values_BHTE, list(wide.values()), upstream.double()
    )
    budgets = backward_rounding(request, upstream)
    for leaf, ours, theirs in zip(wide, found, truth, strict=True):
        assert (ours.double() - theirs).norm() <= budgets[leaf]


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("no keys", "no queries")])
def test_it_visits_every_tile_in_which_anything_is_allowed_and_masks_what_is_not(case):
    request = make_request(case)
    allowed_BTS = grid(
        request.mask,
        batch=len(request.q_BHTD),
        queries=request.queries,
        keys=request.keys,
        first=request.first,
        device=torch.device("cpu"),
    )
    tiles = block_mask(request)
    if tiles is None:
        assert allowed_BTS.all()
        return
    rows = torch.arange(-(-request.queries // TILE))
    whole = counted(tiles.full_kv_num_blocks, tiles.full_kv_indices)
    partly = counted(tiles.kv_num_blocks, tiles.kv_indices)
    assert not (whole & partly).any()
    for row in rows:
        for column in range(whole.shape[-1]):
            tile = allowed_BTS[
                :, row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE
            ]
            visited = (whole | partly)[:, row, column]
            assert not tile[~visited.expand(len(tile))].any()
            assert tile[whole[:, row, column].expand(len(tile))].all()


def counted(numbers_B1R: torch.Tensor, indices_B1RC: torch.Tensor) -> torch.Tensor:
    """Which tiles are listed: the first so many of each row's numbers."""
    size = indices_B1RC.shape[-1]
    listed = torch.arange(size) < numbers_B1R[..., None]
    found = torch.zeros(indices_B1RC.shape, dtype=torch.bool)
    return found.scatter(-1, indices_B1RC.long(), listed)[:, 0]


def test_a_window_skips_the_tiles_beyond_it():
    request = replace(make_request("several tiles"), mask=Window(left=50, right=0))
    tiles = block_mask(request)
    assert tiles is not None
    assert tiles.kv_num_blocks.flatten().tolist() == [1, 2, 2, 2, 2]
    causal = block_mask(replace(request, mask=Causal()))
    assert causal is not None
    assert causal.kv_num_blocks.flatten().tolist() == [1, 1, 1, 1, 1]
    assert causal.full_kv_num_blocks.flatten().tolist() == [0, 1, 2, 3, 4]
