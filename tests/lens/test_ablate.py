"""Heads of our own models switched off: against a copy whose weights leave those heads out."""

import threading

import pytest
import tiny
import torch
from doors import unchecked
from projections import columns_of, heads_of, means_of_columns, put, sites_of, without_columns
from torch import nn

from clearhead import ablate, watch
from clearhead.attention.announce import WATCHERS
from clearhead.attention.intervene import CHANGERS
from clearhead.foundation.errors import CannotError, ConfigError

MODELS = tiny.ENCODERS | tiny.DECODERS | tiny.TRANSLATORS
LENGTHS = torch.tensor([7, 4])


def network_of(name: str) -> nn.Module:
    return tiny.made(MODELS[name])


def run(network: nn.Module) -> torch.Tensor:
    ids = tiny.ids(1, 2, 7)
    with torch.no_grad():
        if hasattr(network, "encoder"):
            more = {"source_lengths_B": LENGTHS, "target_lengths_B": torch.tensor([3, 5])}
            return network(ids, tiny.ids(2, 2, 5), **more).hidden_BTM
        return network(ids, lengths_B=LENGTHS).hidden_BTM


@pytest.mark.parametrize("scale", [0.0, 0.3, -1.0])
@pytest.mark.parametrize("name", MODELS)
def test_a_scaled_head_is_as_if_the_projection_scaled_it(name, scale):
    network = network_of(name)
    heads = heads_of(network)
    wanted = run(without_columns(network, columns_of(network, heads), scale))
    before = run(network)
    with ablate(network, heads, scale=scale):
        found = run(network)
    tiny.close(found, wanted)
    assert (found - before).abs().max() > 1e-3
    assert torch.equal(run(network), before)


@pytest.mark.parametrize("name", MODELS)
def test_each_head_alone_is_its_own_columns(name):
    network = network_of(name)
    for site in sites_of(network):
        for head in range(4):
            wanted = run(without_columns(network, columns_of(network, [(site, head)])))
            with ablate(network, [(site, head)]):
                tiny.close(run(network), wanted)


def real_places(network: nn.Module) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """By projection and length, the tokens that are no padding."""
    found = {}
    for site, path in sites_of(network).items():
        writes = hasattr(network, "encoder") and site.startswith("decoder")
        lengths, longest = ((3, 5), 5) if writes else ((7, 4), 7)
        found[f"{path}.output", longest] = [
            (example, token) for example, length in enumerate(lengths) for token in range(length)
        ]
    return found


@pytest.mark.parametrize("scale", [0.0, 0.3])
@pytest.mark.parametrize("name", MODELS)
def test_the_mean_is_over_the_tokens_of_the_call_that_are_no_padding(name, scale):
    network = network_of(name)
    for site in sites_of(network):
        columns = columns_of(network, [(site, 3), (site, 1)])
        means = means_of_columns(network, columns, run, real_places(network))
        scaled = without_columns(network, columns, scale)
        for column, mean in means.items():
            with torch.no_grad():
                weight = network.get_submodule(column.path).weight[:, column.span]
                scaled.get_submodule(column.path).bias += (1 - scale) * weight @ mean
        with ablate(network, [(site, 3), (site, 1)], by="mean", scale=scale):
            tiny.close(run(network), run(scaled))


def other_run(network: nn.Module) -> torch.Tensor:
    """Other texts, of other lengths, in two calls."""
    with torch.no_grad():
        for seed, lengths in ((3, [6, 2, 5]), (4, [1, 6, 6])):
            ids = tiny.ids(seed, 3, 6)
            both = (ids, ids) if hasattr(network, "encoder") else (ids,)
            more = {"target_lengths_B" if len(both) > 1 else "lengths_B": torch.tensor(lengths)}
            more |= {"source_lengths_B": torch.tensor(lengths)} if len(both) > 1 else {}
            network(*both, **more)


def test_the_mean_of_a_reference_is_over_all_its_calls():
    network = network_of("encoder-decoder, shared words")
    heads = heads_of(network)
    columns = columns_of(network, heads)
    sums: dict = {}

    def note(path: str):
        def keep(part: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
            lengths = [(6, 2, 5), (1, 6, 6)][len(sums.setdefault(path, []))]
            rows = [given[0][row, :length] for row, length in enumerate(lengths)]
            sums[path].append(torch.cat(rows))

        return keep

    hooks = [
        network.get_submodule(path).register_forward_pre_hook(note(path))
        for path in {each.path for each in columns}
    ]
    other_run(network)
    for hook in hooks:
        hook.remove()
    means = {each: torch.cat(sums[each.path])[:, each.span].mean(0) for each in columns}
    with put(network, means):
        wanted = run(network)
    with ablate(network, heads, by="mean", reference=lambda: other_run(network)):
        tiny.close(run(network), wanted)


def test_decoding_step_by_step_leaves_the_heads_out_at_every_step():
    network = network_of("decoder, rotary, window")
    heads, ids = heads_of(network), tiny.ids(1, 2, 7)
    other = without_columns(network, columns_of(network, heads))
    with torch.no_grad():
        wanted = other(ids).logits_BTV
        past = network.past()
        with ablate(network, heads):
            found = [network(ids[:, at : at + 1], past=past).logits_BTV for at in range(7)]
    tiny.close(torch.cat(found, 1), wanted)


def test_ablations_add_up_and_end_one_by_one():
    network = network_of("decoder, rotary")
    outer, inner = ("decoder.0.self", 1), ("decoder.1.self", 2)
    with ablate(network, [outer]):
        alone = run(network)
        with ablate(network, [inner, outer], scale=0.5):
            both = run(network)
        assert torch.equal(run(network), alone)
    half = without_columns(network, columns_of(network, [inner]), 0.5)
    tiny.close(both, run(without_columns(half, columns_of(half, [outer]))))


@pytest.mark.parametrize("watched_first", [True, False])
def test_what_is_watched_is_what_attention_made_before_heads_were_replaced(watched_first):
    network, heads = network_of("decoder, rotary"), [("decoder.0.self", 1), ("decoder.0.self", 2)]
    other = without_columns(network, columns_of(network, heads))
    with watch(other) as wanted:
        run(other)
    if watched_first:
        with watch(network) as seen, ablate(network, heads):
            run(network)
    else:
        with ablate(network, heads), watch(network) as seen:
            run(network)
    for site in wanted.sites:  # those of layer 1 have read what layer 0 was changed to
        tiny.close(seen[site].weights().values, wanted[site].weights().values)
        tiny.close(seen.source(site).request.v_BGSE, wanted.source(site).request.v_BGSE)


def test_a_reference_is_not_heard_by_who_watches():
    network = network_of("decoder, rotary")
    with (
        watch(network) as seen,
        ablate(network, heads_of(network), by="mean", reference=lambda: other_run(network)),
    ):
        run(network)
    assert len(seen.runs) == 1
    assert seen.keeper.runs[0].beams.fed[0].shape == (2, 7)
    assert len(seen.keeper.runs[0].beams.fed) == 1


def test_another_thread_runs_with_all_heads_on():
    network = network_of("decoder, rotary")
    before, found = run(network), []
    with ablate(network, heads_of(network)):
        other = threading.Thread(target=lambda: found.append(run(network)))
        other.start()
        other.join()
        run(network)
    assert torch.equal(found[0], before)


def test_an_error_leaves_the_model_as_it_was():
    network = network_of("decoder, rotary")
    before = run(network)
    with pytest.raises(RuntimeError, match="on purpose"), ablate(network, heads_of(network)):
        raise RuntimeError("on purpose")
    assert not CHANGERS
    assert not WATCHERS
    assert torch.equal(run(network), before)


def test_a_gradient_flows_past_a_head_that_is_off_and_through_what_is_left_of_it():
    network, ids = network_of("decoder, rotary"), tiny.ids(1, 2, 5)
    heads = [("decoder.1.self", 1)]
    (column,) = columns_of(network, heads)
    for scale, flows in ((0.0, False), (0.5, True)):
        network.zero_grad()
        with ablate(network, heads, scale=scale):
            network(ids).logits_BTV.square().sum().backward()
        grad = network.get_submodule(column.path).weight.grad
        assert bool(grad[:, column.span].any()) is flows
        assert grad[:, : column.start].any()


def test_a_head_that_is_infinite_is_off_all_the_same():
    network = network_of("encoder, nothing")
    part = network.stack.blocks[0].attention
    with torch.no_grad():
        part.inputs.bias[-part.spec.head_width :] = torch.inf  # the values of the last head
        with ablate(network, [("encoder.0.self", 3)]):
            assert run(network).isfinite().all()
        with ablate(network, [("encoder.0.self", 3)], scale=1.0):
            assert not run(network).isfinite().all()


def test_all_of_a_head_leaves_every_bit():
    network = network_of("decoder, rotary")
    before = run(network)
    with ablate(network, heads_of(network), by="mean", scale=1.0):
        assert torch.equal(run(network), before)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([], "No heads were given, so nothing would be switched off: give some"),
        (["decoder.0.self"], r"'decoder.0.self' is no head: give its site and its number, as in"),
        ([("decoder.0.self", 1.0)], r"\('decoder.0.self', 1.0\) is no head"),
        ([("decoder.0.self", True)], "True.* is no head"),
        ([("decoder.0.sell", 1)], "no attention 'decoder.0.sell'. Did you mean 'decoder.0.self'"),
        ([("decoder.9.self", 1)], "There are: decoder.0.self, decoder.1.self"),
    ],
)
def test_heads_that_cannot_be(heads, message):
    network = network_of("decoder, rotary")
    with unchecked(), pytest.raises(ConfigError, match=message), ablate(network, heads):
        raise AssertionError


@pytest.mark.parametrize("number", [4, -1])
def test_a_head_that_is_not_there_is_refused(number):
    network = network_of("decoder, rotary")
    message = rf"decoder.1.self has heads 0 to 3 and heads \[{number}\] were asked for"
    with pytest.raises(CannotError, match=message), ablate(network, [("decoder.1.self", number)]):
        run(network)
    assert not CHANGERS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "meen"}, "by='meen' is no way to switch a head off. Did you mean 'mean'"),
        ({"reference": print}, "A reference has no effect on by='zero'"),
    ],
)
def test_settings_of_switching_off_that_cannot_be(settings, message):
    network = network_of("decoder, rotary")
    with (
        pytest.raises(ConfigError, match=message),
        ablate(network, [("decoder.0.self", 0)], **settings),
    ):
        raise AssertionError


def test_a_reference_that_shows_nothing_of_a_head_is_refused():
    network, heads = network_of("decoder, rotary"), [("decoder.0.self", 0)]
    with (
        pytest.raises(CannotError, match=r"decoder.0.self did not run in the reference"),
        ablate(network, heads, by="mean", reference=lambda: None),
    ):
        raise AssertionError

    def only_padding() -> None:
        network(tiny.ids(1, 1, 3), lengths_B=torch.tensor([0]))

    with (
        pytest.raises(CannotError, match=r"The reference has only padding at decoder.0.self"),
        ablate(network, heads, by="mean", reference=only_padding),
    ):
        raise AssertionError


def test_the_mean_of_a_single_token_is_refused():
    network = network_of("decoder, rotary")
    message = r"this call of decoder.0.self has 1: nothing would change. Give reference="
    with (
        pytest.raises(CannotError, match=message),
        ablate(network, [("decoder.0.self", 0)], by="mean"),
    ):
        network(tiny.ids(1, 1, 1))


def test_a_block_in_which_nothing_was_switched_off_is_an_error():
    network = network_of("decoder, rotary")
    message = "decoder.1.self did not run while its heads were switched off, so nothing changed"
    with pytest.raises(CannotError, match=message), ablate(network, [("decoder.1.self", 0)]):
        network.stack.blocks[0](torch.zeros(1, 2, 16).double(), _scene())


def _scene() -> object:
    from clearhead.attention import Scene

    return Scene()


@pytest.mark.filterwarnings("ignore:`torch.jit")  # torch's own, when its compiler is loaded
def test_a_compiled_model_is_refused():
    compiled = torch.compile(network_of("decoder, rotary"), backend="eager")
    with (
        pytest.raises(CannotError, match=r"This model is compiled.* model._orig_mod"),
        ablate(compiled, [("decoder.0.self", 0)]),
    ):
        raise AssertionError
