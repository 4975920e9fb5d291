"""`clearhead generate`: a text goes on."""

import ready
import tiny
from typed import refused, typed

from clearhead import load


def test_a_text_goes_on(capsys, tmp_path):
    ready.model(ready.DECODER, seed=3).save(tmp_path)
    answer = typed(
        capsys, "generate", tmp_path, "the red cat", "--max-tokens", 5, "--device", "cpu"
    )
    assert answer.code == 0
    wanted = load(tmp_path, device="cpu").generate("the red cat", max_tokens=5)
    assert answer.out == wanted + "\n"
    assert 1 <= len(wanted.split()) <= 5


def test_an_encoder_is_asked_to_generate(capsys, tmp_path):
    ready.model(ready.ENCODER).save(tmp_path)
    told = refused(typed(capsys, "generate", tmp_path, "the"))
    assert told.startswith("This model is an encoder: it reads text and cannot write any.")


def test_a_model_without_a_tokenizer_is_asked_to_generate(capsys, tmp_path):
    ready.model(tiny.DECODERS["decoder, rotary"], tokens=None).save(tmp_path)
    assert "came without a tokenizer" in refused(typed(capsys, "generate", tmp_path, "the"))


def test_a_text_longer_than_the_learned_positions_is_refused(capsys, tmp_path):
    ready.model(ready.resized(tiny.DECODERS["decoder, learned"])).save(tmp_path)
    told = refused(typed(capsys, "generate", tmp_path, "the " * 41))
    assert told.startswith("The sequence reaches position 41 and this model learned 40 positions")


def test_no_tokens_to_write_is_refused_by_the_command_line(capsys, tmp_path):
    answer = typed(capsys, "generate", tmp_path, "the", "--max-tokens", 0)
    assert answer.code == 2
    assert "greater than or equal to 1" in answer.err
    assert "Traceback" not in answer.err
