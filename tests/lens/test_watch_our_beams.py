"""Our own searches, watched: what is seen is the text that came back, or a sentence why not."""

import pytest
import ready
import torch

from clearhead import watch
from clearhead.foundation.errors import CannotError
from clearhead.inference.session import Session

TEXTS = ["the red cat sat on the mat", "a dog ran"]


def translator(seed=0):
    return ready.translator(seed=seed)


def whole(model, text, answer):
    """What is seen when text and answer go through the model once."""
    vocabulary = model.vocabulary()
    source = torch.tensor([vocabulary.encode(text).ids])
    start = vocabulary.specials.start
    target = torch.tensor([[start, *answer]])
    with torch.no_grad(), watch(model) as seen:
        model.network(source, target)
    return seen


@pytest.mark.parametrize("beams", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_translation_is_one_picture_of_the_answer_that_came_back(beams, seed, monkeypatch):
    from clearhead.tasks import translating

    model, found = translator(seed), []
    really = translating.beam_search

    def noted(*args, **kwargs):
        found.extend(really(*args, **kwargs))
        return found[-1:]

    monkeypatch.setattr(translating, "beam_search", noted)
    with watch(model) as seen:
        model.translate(TEXTS[:1], beams=beams, max_tokens=6)
    wanted = whole(model, TEXTS[0], found[0][0].ids)
    for site in wanted.sites:
        # The last token of an answer is never read when the answer was cut at its length.
        size = min(seen[site].shape[2], wanted[site].shape[2])
        assert size >= wanted[site].shape[2] - 1
        keys = size if site.startswith("decoder") and site.endswith("self") else None
        ours = seen[site].weights(rows=slice(0, size)).values[..., :keys]
        theirs = wanted[site].weights(rows=slice(0, size)).values[..., :keys]
        assert ours.shape == theirs.shape, site
        assert (ours - theirs).abs().max() < 1e-5, site


def test_rows_that_a_session_moves_are_followed():
    model = translator()
    network, ids = model.network, torch.tensor([[2, 3, 4]])
    with torch.no_grad():
        memory = network.encoder(ids).hidden_BTM
    steps = [torch.tensor([[2]]), torch.tensor([[3], [4]]), torch.tensor([[5], [6]])]
    with torch.no_grad(), watch(network) as seen:
        session = Session(network.decoder, memory)
        for step, rows in zip(steps, [None, [0, 0], [1, 1]], strict=True):
            session(step, rows)
    both = torch.tensor([[2, 4, 5], [2, 4, 6]])
    with torch.no_grad(), watch(network) as wanted:
        network.decoder(both, memory_BSM=memory.expand(2, -1, -1))
    for site in wanted.sites:
        off = seen[site].weights().values - wanted[site].weights().values
        assert off.abs().max() < 1e-5, site


def test_several_texts_that_leave_one_by_one_are_refused():
    model = translator(1)
    with watch(model) as seen:
        answers = model.translate(TEXTS, beams=3, max_tokens=5)
    assert len(answers) == 2
    with pytest.raises(CannotError, match=r"Several texts were searched together, .* one at a"):
        seen["decoder.0.self"].weights()
    with pytest.raises(CannotError, match=r"Several texts were searched together"):
        seen.rollout()


def test_another_model_in_the_block_moves_nothing():
    model, other = translator(), translator(2)
    given = torch.tensor([[2, 3], [4, 5]]), torch.tensor([[2, 4, 5], [2, 6, 7]])
    with torch.no_grad(), watch(model) as alone:
        model.network(*given)
    with torch.no_grad(), watch(model) as seen:
        model.network(*given)
        other.translate(TEXTS, beams=3, max_tokens=4)
    for site in alone.sites:
        assert torch.equal(seen[site].weights().values, alone[site].weights().values)
