"""`clearhead info`: the numbers, the structure, and JSON for programs."""

import json

import pytest
import ready
import tiny
from architectures import architectures
from hypothesis import given, settings
from rich.console import Console
from typed import typed

from clearhead.config import from_plain, to_plain
from clearhead.models import EncoderDecoder
from clearhead.models.formulas import cache_bytes_per_token, flops_per_token, parameters
from clearhead.models.paper import transformer_big
from clearhead.visuals.structure import structure


def drawn(spec) -> str:
    console = Console(width=200, no_color=True)
    with console.capture() as captured:
        console.print(structure("it", to_plain(spec)))
    return captured.get()


def test_the_paper_s_big_model_in_json(capsys):
    answer = typed(capsys, "info", "transformer-big", "--json", "--length", 100)
    found = json.loads(answer.out)
    assert answer.code == 0
    assert found["model"] == "transformer-big"
    assert found["parameters"] == 214_245_376
    assert found["bytes_in_float32"] == 4 * 214_245_376
    assert found["flops_at_length"] == 100
    assert found["flops_a_token"] == flops_per_token(transformer_big(), length=100)
    assert found["cache_bytes_a_token"] == 2 * 6 * 1024 * 4
    assert found["vocabulary"] == 37_000
    assert found["tokenizer"] is None
    assert from_plain(EncoderDecoder, found["architecture"]) == transformer_big()


def test_a_model_on_disk_in_json(capsys, tmp_path):
    ready.model(ready.DECODER).save(tmp_path)
    found = json.loads(typed(capsys, "info", tmp_path, "--json").out)
    assert found["source"] == "a test"
    assert found["parameters"] == parameters(ready.DECODER)
    assert found["cache_bytes_a_token"] == cache_bytes_per_token(ready.DECODER)
    assert found["vocabulary"] == found["tokenizer"] == len(ready.WORDS)
    assert found["architecture"] == to_plain(ready.DECODER)


def test_the_paper_s_big_model_for_people(capsys):
    out = typed(capsys, "info", "transformer-big").out
    for part in (
        "transformer-big  encoder-decoder",
        "37,000 words, × 32, + sinusoidal (interleaved) positions → 1024",
        "6 × block, width 1024",
        "encoder.*.self   16 heads × 64, every token sees all",
        "decoder.*.self   16 heads × 64, every token sees those before it",
        "decoder.*.cross  16 heads × 64, reads the encoder",
        "feed-forward  4096 wide, relu",
        "parameters  214,245,376",
        "flops at length  512",
        "tokenizer  none",
    ):
        assert part in out


def test_a_name_with_brackets_is_printed_as_it_is(capsys, tmp_path):
    folder = tmp_path / "[red]v1[/x]"
    ready.model(ready.ENCODER, provenance=ready.Provenance(source="[bold]there")).save(folder)
    out = typed(capsys, "info", folder).out
    assert "[red]v1[/x]" in out.replace("\n", "")
    assert "[bold]there" in out


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("encoder, learned, types, masked", ["40 learned positions", "3 segment types", "Layer"]),
        ("encoder, sinusoidal, labels", ["23 words, × 4, + sinusoidal", "3 labels"]),
        (
            "encoder, rotary, pooled",
            ["rotary, base 100", "one vector for the whole", "RMSNorm bef"],
        ),
        ("encoder, alibi, narrow words", ["8 wide → 16", "falling with distance"]),
        ("encoder, buckets", ["8 buckets up to 11"]),
        ("decoder, rotary", ["llama3 scaling × 4", "over 2 key/value heads, q and k normed"]),
        ("decoder, rotary, window", ["the last 3 only", "gated silu", "by the input's embeddings"]),
        ("decoder, rotary, window from layer 1", ["the last 3 only from layer 1"]),
        ("decoder, buckets", ["3 labels for each token"]),
        ("encoder-decoder, buckets, grouped", ["scores of 19 words, by weights of its own"]),
        ("pictures", ["picture 8², squares of 4², 2 special"]),
        ("sound", ["spectrogram of 5 bands, at most 14 frames"]),
    ],
)
def test_what_is_special_about_a_model_is_in_its_drawing(name, parts):
    found = drawn(tiny.ALL[name])
    assert [part for part in parts if part not in found] == []


@settings(max_examples=60)
@given(spec=architectures())
def test_everything_that_can_be_built_can_be_drawn(spec):
    assert f"{spec.kind.replace('_', '-')}\n" in drawn(spec)
