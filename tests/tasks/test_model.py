"""The verbs of a model: batch, embed, generate, save; and what each refuses."""

from dataclasses import replace

import pytest
import ready
import tiny
import torch
from doors import unchecked

from clearhead import load
from clearhead.foundation.errors import CannotError, ConfigError, FileError, InputError
from clearhead.tasks import Batch, Model
from clearhead.tokens import Sounds

TEXTS = ["the cat sat on a mat", "a dog", "red"]


def test_a_batch_is_padded_on_the_right():
    batch = ready.model(ready.ENCODER).batch(TEXTS)
    assert isinstance(batch, Batch)
    assert batch.lengths_B.tolist() == [6, 2, 1]
    assert batch.ids_BT.tolist() == [[2, 3, 5, 7, 10, 8], [10, 4, 0, 0, 0, 0], [11, 0, 0, 0, 0, 0]]
    assert batch.types_BT.tolist() == [[0] * 6] * 3


@torch.no_grad()
def test_a_vector_is_the_mean_of_what_the_network_says_of_the_tokens():
    model = ready.model(ready.ENCODER)
    found = model.embed(TEXTS)
    for row, text in enumerate(TEXTS):
        ids = torch.tensor([[ready.SPELLED[word] for word in text.split()]])
        mean = model.network(ids).hidden_BTM[0].mean(0)
        torch.testing.assert_close(found[row], mean / mean.norm(), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.norm(dim=-1), torch.ones(3))


def test_a_vector_does_not_depend_on_its_neighbours():
    model = ready.model(ready.resized(tiny.ENCODERS["encoder, nothing"]))
    together = model.embed(TEXTS)
    alone = torch.cat([model.embed([text]) for text in TEXTS])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def by_hand(model: Model, ids: list[int], count: int) -> list[int]:
    """The likeliest next word of the whole text so far, every time anew."""
    found: list[int] = []
    while len(found) < count:
        logits = model.network(torch.tensor([[*ids, *found]])).logits_BTV
        newest = int(logits[0, -1].argmax())
        if newest == 0:
            break
        found.append(newest)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_generating_continues_with_the_likeliest_word(seed):
    model = ready.model(ready.DECODER, seed=seed)
    found = model.generate("the red cat", max_tokens=12)
    wanted = by_hand(model, [2, 11, 3], 12)
    assert found == model.tokens.decode(wanted)
    assert model.generate([2, 11, 3], max_tokens=12) == found


def test_a_prompt_may_be_ids():
    model = ready.model(ready.DECODER)
    assert len(model.generate([2, 3], max_tokens=3).split()) <= 3


def test_an_encoder_is_asked_to_generate():
    with pytest.raises(CannotError, match=r"is an encoder: it reads text and cannot .* smollm2"):
        ready.model(ready.ENCODER).generate("the")


def test_an_encoder_decoder_is_asked_to_generate():
    spec = tiny.TRANSLATORS["encoder-decoder, shared words"]
    with pytest.raises(
        CannotError, match=r"answers a text and does not continue one: call translate"
    ):
        ready.model(spec).generate("the")


def test_a_decoder_without_scores_is_asked_to_generate():
    model = ready.model(replace(ready.DECODER, output=None))
    with pytest.raises(CannotError, match=r"no output over words: load it with its head"):
        model.generate("the")


def test_a_decoder_is_asked_for_a_vector():
    with pytest.raises(CannotError, match=r"Only an encoder makes one vector .* minilm"):
        ready.model(ready.DECODER).embed(["the"])


@pytest.mark.parametrize("prompt", ["", []])
def test_an_empty_prompt_is_refused(prompt):
    with pytest.raises(InputError, match=r"prompt has no tokens to continue: give at least one"):
        ready.model(ready.DECODER).generate(prompt)


def test_nothing_to_embed_is_refused():
    model = ready.model(ready.ENCODER)
    with pytest.raises(InputError, match=r"No texts were given: give at least one"):
        model.embed([])
    with pytest.raises(InputError, match=r"The text ' ' has no tokens, so it has no vector"):
        model.embed(["the cat", " "])


def test_one_text_is_not_taken_for_a_list_of_letters():
    model = ready.model(ready.ENCODER)
    for verb in (model.embed, model.batch):
        with pytest.raises(
            InputError, match=r"One text was given, 'the cat', where a list .*: put it in brackets"
        ):
            verb("the cat")


def test_a_prompt_outside_the_vocabulary_is_refused():
    with pytest.raises(InputError, match=r"Id 99 is outside the vocabulary of 13"):
        ready.model(ready.DECODER).generate([2, 99])


def test_a_model_without_a_tokenizer_refuses_text_and_nothing_else(tmp_path):
    ready.model(ready.ENCODER, tokens=None).save(tmp_path)
    model = load(tmp_path, device="cpu")
    assert model.tokens is None
    assert model.network(torch.tensor([[1, 2, 3]])).hidden_BTM.shape == (1, 3, 16)
    with pytest.raises(
        CannotError, match=r"came without a tokenizer, so it cannot read or write text\. Put"
    ):
        model.embed(["the cat"])


def test_what_is_saved_and_loaded_says_the_same(tmp_path):
    model = ready.model(ready.ENCODER, preparation=Sounds(bands=8, seconds=1))
    model.save(tmp_path)
    again = load(str(tmp_path), device="cpu")
    assert isinstance(again, Model)
    assert torch.equal(again.embed(TEXTS), model.embed(TEXTS))
    assert (again.config, again.provenance) == (model.config, model.provenance)
    assert again.preparation == model.preparation
    assert not again.network.training


def test_a_model_is_loaded_where_and_how_one_asks(tmp_path):
    ready.model(ready.ENCODER).save(tmp_path)
    model = load(tmp_path, device="cpu", precision="bfloat16")
    assert model.device == torch.device("cpu")
    assert {weight.dtype for weight in model.network.parameters()} == {torch.bfloat16}
    assert model.embed(TEXTS).shape == (3, 16)
    with pytest.raises(ConfigError, match=r"no precision 'float33'. Did you mean 'float32'"):
        load(tmp_path, precision="float33")
    with pytest.raises(ConfigError, match=r"no device 'gpu'"):
        load(tmp_path, device="gpu")


def test_a_model_of_our_own_has_no_foreign_form(tmp_path):
    with pytest.raises(FileError, match=r"does not come from a family others publish.* Save it as"):
        ready.model(ready.ENCODER).save(tmp_path / "new", form="huggingface")
    assert not (tmp_path / "new").exists()


def test_an_unknown_form_is_refused(tmp_path):
    with (
        unchecked(),
        pytest.raises(
            InputError,
            match=r"no form 'onnx' to save a model in. There are: clearhead, huggingface",
        ),
    ):
        ready.model(ready.ENCODER).save(tmp_path, form="onnx")
