"""Translating: texts through an encoder-decoder, and what is refused."""

from dataclasses import replace

import pytest
import ready
import tiny
import torch
from doors import unchecked
from searched import by_hand

from clearhead import load
from clearhead.attention.positions import Learned
from clearhead.foundation.errors import CannotError, ConfigError, InputError
from clearhead.inference.beam import Search
from clearhead.inference.lengths import average
from clearhead.tasks import Model, translating

TEXTS = ["the cat sat on a mat", "a dog", "red", "the red cat and the blue dog ran on a mat", "a"]


class Asked:
    """The scores of a whole answer so far, from the network, as the plain loops ask for them."""

    def __init__(self, model: Model, text: str) -> None:
        self.network, self.vocabulary = model.network, len(ready.WORDS)
        self.source = torch.tensor([[ready.SPELLED[word] for word in text.split()]])

    @torch.no_grad()
    def scores(self, text: tuple[int, ...]) -> list[float]:
        return self.network(self.source, torch.tensor([text])).logits_BTV[0, -1].double().tolist()


def wanted(model: Model, text: str, *, beams: int, limit: int, alpha: float, never=()) -> str:
    search = Search(stops=(0,), beams=beams, never=never, divide=average(alpha))
    best = by_hand(Asked(model, text), (1,), search, limit)[0]
    return model.vocabulary().decode(best.ids)


@pytest.mark.parametrize("seed", [20, 26])
@pytest.mark.parametrize(
    ("beams", "most", "alpha"), [(4, 6, 1.0), (1, 5, 1.0), (3, 9, 0.0), (5, 7, 2.0)]
)
def test_each_text_gets_the_best_answer_of_a_beam_search(seed, beams, most, alpha):
    model = ready.translator(seed=seed)
    found = model.translate(TEXTS, beams=beams, max_tokens=most, alpha=alpha)
    assert found == [wanted(model, text, beams=beams, limit=most, alpha=alpha) for text in TEXTS]


def test_left_out_settings_are_four_beams_and_fifty_tokens_more_than_the_source(monkeypatch):
    assert translating.LONGER == 50
    monkeypatch.setattr(translating, "LONGER", 4)
    model = ready.translator(seed=26)
    by_loops = [
        wanted(model, text, beams=4, limit=len(text.split()) + 4, alpha=1.0) for text in TEXTS
    ]
    assert model.translate(TEXTS) == by_loops


def never_ending(**changes) -> Model:
    """A translator that will not say the end."""
    spec = replace(ready.TRANSLATOR.decoder, output=replace(OUTPUT, bias=True))
    architecture = replace(ready.TRANSLATOR, decoder=replace(spec, **changes))
    model = ready.model(architecture, tokens=ready.STARTING)
    with torch.no_grad():
        model.network.decoder.output.bias[0] = -1e4
    return model


OUTPUT = ready.TRANSLATOR.decoder.output


def test_an_answer_without_end_is_cut():
    model = never_ending()
    assert [len(each.split()) for each in model.translate(TEXTS, max_tokens=7)] == [7] * len(TEXTS)
    lengths = [len(text.split()) for text in TEXTS]
    assert [len(each.split()) for each in model.translate(TEXTS)] == [each + 50 for each in lengths]


def test_left_out_an_answer_stays_within_the_positions_the_model_learned():
    decoder = ready.TRANSLATOR.decoder
    model = never_ending(input=replace(decoder.input, positions=Learned(length=52)))
    found = model.translate(["a", "a dog", "the red cat sat"])
    assert [len(each.split()) for each in found] == [51, 52, 52]
    assert len(model.translate(["a"], max_tokens=52)[0].split()) == 52
    with pytest.raises(InputError, match=r"may have 53 tokens and .* made for 52: give a max_tok"):
        model.translate(["a"], max_tokens=53)


def test_neighbours_change_nothing_and_the_order_is_kept(monkeypatch):
    model = ready.translator(seed=26)
    together = model.translate(TEXTS, max_tokens=12)
    assert together == [model.translate([text], max_tokens=12)[0] for text in TEXTS]
    assert model.translate(TEXTS[::-1], max_tokens=12) == together[::-1]
    monkeypatch.setattr(translating, "TEXTS", 2)
    assert model.translate(TEXTS, max_tokens=12) == together
    assert len(set(together)) > 2


def test_batches_hold_texts_of_like_length_and_so_many_tokens():
    lengths = [3, 700, 5, 3000, 5, 1, *[2] * 70]
    batches = list(translating.in_batches(lengths))
    assert batches[:2] == [[3], [1, 2]]
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    in_order = [lengths[place] for batch in batches for place in batch]
    assert in_order == sorted(lengths, reverse=True)
    for batch in batches:
        assert len(batch) <= 64
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= 2048


def test_a_source_is_read_once(monkeypatch):
    model, read = ready.translator(), []
    model.network.encoder.register_forward_hook(lambda *_: read.append(1))
    model.translate(TEXTS, max_tokens=6)
    assert read == [1]


def test_padding_and_ids_without_a_spelling_are_never_said():
    words = dict(vocabulary=len(ready.WORDS) + 3)
    decoder = ready.TRANSLATOR.decoder
    spec = replace(
        ready.TRANSLATOR,
        shared_words=False,
        decoder=replace(
            decoder,
            input=replace(decoder.input, **words),
            output=replace(OUTPUT, bias=True, **words),
        ),
    )
    tokens = ready.vocabulary(decoder_start_token_id=1, pad_token_id=7)
    model = ready.model(spec, tokens=tokens)
    with torch.no_grad():
        model.network.decoder.output.bias[[7, 13, 14, 15]] = 50.0
    found = model.translate(TEXTS, max_tokens=8)
    assert all("on" not in each.split() for each in found)
    assert found != [""] * len(TEXTS)


def test_where_padding_ends_an_answer_it_may_be_said():
    tokens = ready.vocabulary(decoder_start_token_id=1, pad_token_id=0)
    model = ready.translator(tokens=tokens)
    assert model.translate(TEXTS) == ready.translator().translate(TEXTS)


def test_what_is_saved_and_loaded_translates_the_same(tmp_path):
    model = ready.translator(seed=1)
    model.save(tmp_path)
    assert load(tmp_path, device="cpu").translate(TEXTS) == model.translate(TEXTS)


@pytest.mark.parametrize("spec", [ready.ENCODER, ready.DECODER])
def test_one_side_alone_does_not_translate(spec):
    with pytest.raises(CannotError, match=r"Only an encoder-decoder translates, .* can generate"):
        ready.model(spec).translate(TEXTS)


def test_sound_is_not_translated_as_text():
    model = ready.model(tiny.OTHERS["sound to text"], tokens=ready.STARTING)
    with pytest.raises(
        CannotError, match=r"reads pictures or sound and not text.*: call \.network"
    ):
        model.translate(TEXTS)


def test_a_model_without_a_vocabulary_does_not_translate():
    with pytest.raises(CannotError, match=r"came without a tokenizer, so it cannot read or write"):
        ready.translator(tokens=None).translate(TEXTS)


def test_a_vocabulary_without_a_start_or_an_end_does_not_translate():
    with pytest.raises(CannotError, match=r"which token an answer starts after: put decoder_start"):
        ready.translator(tokens=ready.vocabulary()).translate(TEXTS)
    endless = ready.vocabulary(decoder_start_token_id=1)
    endless.specials = replace(endless.specials, end=None, ends=())
    with pytest.raises(CannotError, match=r"no token that ends an answer.*: put eos_token_id into"):
        ready.translator(tokens=endless).translate(TEXTS)


def test_a_model_without_scores_does_not_translate():
    spec = replace(ready.TRANSLATOR, decoder=replace(ready.TRANSLATOR.decoder, output=None))
    with pytest.raises(CannotError, match=r"no output over words: load it with its head"):
        ready.model(spec, tokens=ready.STARTING).translate(TEXTS)


def test_what_is_no_list_of_texts_is_refused():
    model = ready.translator()
    with pytest.raises(InputError, match=r"No texts were given: give at least one"):
        model.translate([])
    with pytest.raises(InputError, match=r"One text was given, 'the cat', where a list of texts"):
        model.translate("the cat")
    with pytest.raises(InputError, match=r"The text ' ' has no tokens, so there is nothing to tr"):
        model.translate(["the cat", " "])


def test_settings_beyond_all_sense_are_refused():
    model = ready.translator()
    with pytest.raises(ConfigError, match=r"A search with 0 beams finds nothing"):
        model.translate(TEXTS, beams=0)
    with pytest.raises(InputError, match=r"0 tokens at most and needs 1 at least"):
        model.translate(TEXTS, max_tokens=0)
    with unchecked(), pytest.raises(ConfigError, match=r"An alpha of nan"):
        model.translate(TEXTS, alpha=float("nan"))


def test_blank_texts_and_absurd_beams_are_refused():
    model = ready.translator()
    for text in ("", "   "):
        with pytest.raises(InputError, match="has no tokens, so there is nothing to translate"):
            model.translate([text])
    with pytest.raises(InputError, match="100000 beams would fill the memory"):
        model.translate(["the cat"], beams=100_000)
