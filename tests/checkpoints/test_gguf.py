"""GGUF files say what the model they were made from says in `transformers`."""

import sys

import gguf
import numpy as np
import pytest
import small_vocabularies as small
import torch
from published import TOLERANCE, Published, text
from small_gguf import written

from clearhead.checkpoints.foreign.gguf import Dequantised, read_gguf
from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.foundation.errors import (
    CannotError,
    FileError,
    MissingPartError,
    UnknownModelError,
)

SIZES = {
    "vocab_size": 40,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 24,
    "rms_norm_eps": 0.01,
}
PLAIN = {"rope_theta": 500.0}
LLAMA_3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
CASES = {
    "llama": Published(
        "LlamaForCausalLM",
        "LlamaConfig",
        SIZES | {"rope_parameters": PLAIN | {"rope_type": "default"}},
    ),
    "llama, tied": Published(
        "LlamaForCausalLM", "LlamaConfig", SIZES | {"tie_word_embeddings": True}
    ),
    "llama, biases, wide heads": Published(
        "LlamaForCausalLM", "LlamaConfig", SIZES | {"attention_bias": True, "head_dim": 10}
    ),
    "llama, linear": Published(
        "LlamaForCausalLM",
        "LlamaConfig",
        SIZES | {"rope_parameters": PLAIN | {"rope_type": "linear", "factor": 3.0}},
    ),
    "llama, llama 3": Published(
        "LlamaForCausalLM",
        "LlamaConfig",
        SIZES | {"head_dim": 32, "rope_parameters": {"rope_theta": 500000.0} | LLAMA_3},
    ),
    "llama, window": Published(
        "MistralForCausalLM", "MistralConfig", SIZES | {"sliding_window": 3}
    ),
    "qwen2": Published("Qwen2ForCausalLM", "Qwen2Config", SIZES),
    "qwen3": Published("Qwen3ForCausalLM", "Qwen3Config", SIZES | {"head_dim": 12}),
}


@pytest.fixture
def llama():
    return CASES["llama"].draw()


@pytest.mark.parametrize("name", CASES)
def test_logits_are_those_of_the_model_it_was_made_from(name, tmp_path):
    theirs, kind = CASES[name].draw(), name.partition(",")[0]
    window = {"attention.sliding_window": 3} if "window" in name else {}
    parts = read_gguf(written(tmp_path / "a.gguf", theirs, kind, **window))
    ids = text(1, 3, 14)
    with torch.no_grad():
        ours, expected = parts.network(ids).logits_BTV, theirs(ids).logits
    torch.testing.assert_close(ours, expected, atol=TOLERANCE, rtol=0)
    assert parts.provenance.published_as == CASES[name].model


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_1", "BF16", "F16"])
def test_quantised_weights_are_those_the_gguf_package_makes(llama, kind, tmp_path):
    quantised = gguf.GGMLQuantizationType[kind]
    parts = read_gguf(written(tmp_path / "a.gguf", llama, "llama", quantised=quantised))
    with torch.no_grad():
        for weight in llama.parameters():
            if weight.ndim > 1:
                coarse = gguf.dequantize(gguf.quantize(weight.numpy(), quantised), quantised)
                assert not np.array_equal(coarse, weight.numpy())
                weight.copy_(torch.from_numpy(coarse))
        ids = text(1, 3, 14)
        ours, expected = parts.network(ids).logits_BTV, llama(ids).logits
    torch.testing.assert_close(ours, expected, atol=TOLERANCE, rtol=0)


def test_it_can_be_written_as_a_hugging_face_folder(llama, tmp_path):
    parts = read_gguf(written(tmp_path / "a.gguf", llama, "llama"))
    write_folder(parts, tmp_path / "folder")
    again = type(llama).from_pretrained(tmp_path / "folder")
    for (name, mine), theirs in zip(again.named_parameters(), llama.parameters(), strict=True):
        assert torch.equal(mine, theirs), name
    assert again.config.max_position_embeddings == 24
    assert read_folder(tmp_path / "folder").architecture == parts.architecture


def test_its_vocabulary_comes_along(llama, tmp_path):
    small.byte_level(tmp_path, "gpt2", ("<|endoftext|>",))
    said = words_of(tmp_path) | {"tokenizer.ggml.pre": "gpt-2"}
    parts = read_gguf(written(tmp_path / "a.gguf", llama, "llama", **said))
    assert parts.vocabulary.decode(parts.vocabulary.encode("Hello 去🙂").ids) == "Hello 去🙂"


def words_of(folder):
    """A vocab.json and a merges.txt as GGUF metadata."""
    vocabulary = small.read(folder)
    tokens = sorted(vocabulary, key=vocabulary.get)
    merges = (folder / "merges.txt").read_text(encoding="utf-8").split("\n")
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.merges": [merge for merge in merges if merge and merge[0] != "#"],
    }


def test_a_vocabulary_that_is_not_known_is_left_out_with_a_note(llama, tmp_path):
    said = {"tokenizer.ggml.model": "t5", "tokenizer.ggml.tokens": ["a", "b"]}
    parts = read_gguf(written(tmp_path / "a.gguf", llama, "llama", **said))
    assert parts.vocabulary is None
    assert "vocabulary is of kind 't5'" in parts.provenance.notes["vocabulary"]


def test_another_architecture_is_refused_with_those_we_know(llama, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "gemma2")
    expected = r"architecture 'gemma2', which is not read.*Known in GGUF files: llama, mistral"
    with pytest.raises(UnknownModelError, match=expected):
        read_gguf(path)


def test_a_model_with_experts_is_refused(llama, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama", expert_count=8)
    with pytest.raises(UnknownModelError, match=r"'llama' with experts, which is not read"):
        read_gguf(path)


@pytest.mark.parametrize("lost", ["feed_forward_length", "context_length"])
def test_a_file_without_its_sizes_is_refused(llama, lost, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama", leave_out=(lost,))
    with pytest.raises(FileError, match=rf"does not have its {lost}: it is not complete"):
        read_gguf(path)


def test_a_file_without_embeddings_is_refused(llama, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama", leave_out=("token_embd.weight",))
    with pytest.raises(FileError, match=r"does not have its embeddings: it is not complete"):
        read_gguf(path)


def test_a_file_without_a_weight_is_refused(llama, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama", leave_out=("blk.1.ffn_up.weight",))
    with pytest.raises(FileError, match=r"have no model.layers.1.mlp.up_proj.weight"):
        read_gguf(path)


def test_turning_a_part_of_each_head_is_refused(llama, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama", **{"rope.dimension_count": 4})
    with pytest.raises(CannotError, match=r"turns 4 of 8 coordinates of a head"):
        read_gguf(path)


def test_slowing_down_in_another_way_than_llama_3_is_refused(tmp_path):
    theirs = CASES["llama, llama 3"].draw()
    theirs.model.rotary_emb.inv_freq[3] *= 0.9
    path = written(tmp_path / "a.gguf", theirs, "llama")
    with pytest.raises(CannotError, match=r"slows turning down .* not Llama 3's"):
        read_gguf(path)


def test_a_kind_of_numbers_nobody_can_undo_is_refused(llama, tmp_path, monkeypatch):
    path = written(tmp_path / "a.gguf", llama, "llama")
    architecture = read_gguf(path).architecture
    stored = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}

    def fail(*_):
        raise NotImplementedError

    monkeypatch.setattr(gguf, "dequantize", fail)
    weights = Dequantised(stored, "llama", architecture)
    with pytest.raises(CannotError, match=r"is quantised as F32, which .* cannot undo. Use .*Q8_0"):
        weights["model.norm.weight"]


@pytest.mark.parametrize("size", [0, 3, 30, 300, 3000, -1000])
def test_a_file_cut_short_is_refused(llama, size, tmp_path):
    path = written(tmp_path / "a.gguf", llama, "llama")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(FileError, match=r"a.gguf cannot be read as a GGUF file .* Copy it again"):
        read_gguf(path)


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"no gguf file " * 100)
    with pytest.raises(FileError, match=r"cannot be read as a GGUF file \(GGUF magic invalid\)"):
        read_gguf(tmp_path / "a.gguf")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingPartError, match=r"Reading a GGUF file needs the package gguf"):
        read_gguf(tmp_path / "a.gguf")
