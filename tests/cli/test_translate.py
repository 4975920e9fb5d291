"""`clearhead translate`: a text is answered."""

import pytest
import ready
from typed import refused, typed

from clearhead import load


def test_a_text_is_translated(capsys, tmp_path):
    ready.translator(seed=3).save(tmp_path)
    model = load(tmp_path, device="cpu")
    text = "the red cat"
    answer = typed(capsys, "translate", tmp_path, text, "--device", "cpu")
    assert (answer.code, answer.out) == (0, model.translate([text])[0] + "\n")
    answer = typed(capsys, "translate", tmp_path, text, "--beams", 2, "--max-tokens", 3)
    wanted = model.translate([text], beams=2, max_tokens=3)[0]
    assert (answer.code, answer.out) == (0, wanted + "\n")


@pytest.mark.parametrize("spec", [ready.ENCODER, ready.DECODER])
def test_one_side_alone_is_asked_to_translate(capsys, tmp_path, spec):
    ready.model(spec).save(tmp_path)
    told = refused(typed(capsys, "translate", tmp_path, "the"))
    assert told.startswith("Only an encoder-decoder translates, and this model is an encoder or")


def test_a_model_without_a_tokenizer_is_asked_to_translate(capsys, tmp_path):
    ready.translator(tokens=None).save(tmp_path)
    assert "came without a tokenizer" in refused(typed(capsys, "translate", tmp_path, "the"))


def test_an_encoder_decoder_is_asked_to_generate(capsys, tmp_path):
    ready.translator().save(tmp_path)
    assert "call translate" in refused(typed(capsys, "generate", tmp_path, "the"))


def test_a_text_without_tokens_is_refused(capsys, tmp_path):
    ready.translator().save(tmp_path)
    told = refused(typed(capsys, "translate", tmp_path, ""))
    assert told.startswith("The text '' has no tokens, so there is nothing to translate")


@pytest.mark.parametrize("setting", ["--beams", "--max-tokens"])
def test_nothing_to_search_is_refused_by_the_command_line(capsys, tmp_path, setting):
    answer = typed(capsys, "translate", tmp_path, "the", setting, 0)
    assert answer.code == 2
    assert "greater than or equal to 1" in answer.err
    assert "Traceback" not in answer.err
