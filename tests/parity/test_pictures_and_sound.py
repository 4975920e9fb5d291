"""Every published class of picture and sound model says what it says in `transformers`."""

import copy
import inspect
import json

import pytest
import torch
import transformers
from published import TOLERANCE, VOCABULARY, Published, bounds, padded, real, text
from safetensors.torch import load_file, save_file

from clearhead.checkpoints.foreign.huggingface import read_folder, write_folder
from clearhead.foundation.errors import CannotError, FileError, InputError
from clearhead.models.families import FAMILIES

PICTURE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "image_size": 12,
    "patch_size": 4,
    "num_channels": 2,
    "layer_norm_eps": 0.01,
    "hidden_act": "gelu_new",
    "hidden_dropout_prob": 0.21,
    "attention_probs_dropout_prob": 0.22,
    "num_labels": 3,
}
SOUND = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "num_mel_bins": 8,
    "max_source_positions": 10,
    "max_target_positions": 20,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 28,
    "dropout": 0.21,
    "attention_dropout": 0.22,
    "activation_dropout": 0.24,
    "activation_function": "gelu_new",
    "pad_token_id": 1,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "decoder_start_token_id": 2,
}
LOOSE = {"tie_word_embeddings": False}
PICTURES = [
    Published("ViTModel", "ViTConfig", PICTURE),
    Published("ViTModel", "ViTConfig", PICTURE | {"pooler_act": "relu"}, "relu"),
    Published("ViTForImageClassification", "ViTConfig", PICTURE),
    Published("ViTForImageClassification", "ViTConfig", PICTURE | {"qkv_bias": False}, "no bias"),
    Published("DeiTModel", "DeiTConfig", PICTURE),
    Published("DeiTForImageClassification", "DeiTConfig", PICTURE),
    Published("DeiTForImageClassificationWithTeacher", "DeiTConfig", PICTURE),
]
SOUNDS = [
    Published("WhisperForConditionalGeneration", "WhisperConfig", SOUND),
    Published("WhisperModel", "WhisperConfig", SOUND),
    Published("WhisperForConditionalGeneration", "WhisperConfig", SOUND | LOOSE, "untied"),
]
LENGTHS, LONGEST = (5, 9, 2), 9


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=TOLERANCE, rtol=0)


def pixels(seed=1):
    return torch.randn(3, 2, 12, 12, generator=torch.Generator().manual_seed(seed))


def bands(seed=1, frames=20):
    return torch.randn(3, 8, frames, generator=torch.Generator().manual_seed(seed))


def base(model):
    """The published model without its head."""
    return getattr(model, model.base_model_prefix, model)


def test_every_published_class_is_compared():
    families = [family for family in FAMILIES if family.name in ("vit", "deit", "whisper")]
    wanted = {name for family in families for name in family.architectures}
    assert {case.model for case in PICTURES + SOUNDS} == wanted


@pytest.mark.parametrize("case", PICTURES, ids=str)
def test_a_picture_is_seen_the_same(opened, case):
    models = opened(case)
    with torch.no_grad():
        ours = models.ours.network(pixels())
        close(ours.hidden_BTM, base(models.theirs)(pixels()).last_hidden_state)
        theirs = models.theirs(pixels())
    if "logits" in theirs:
        close(ours.labels_BC, theirs.logits)
        assert ours.labels_BC.std() > 0.1
    else:
        close(ours.pooled_BM, theirs.pooler_output)


@pytest.mark.parametrize("case", SOUNDS, ids=str)
def test_sound_is_heard_the_same(opened, case):
    models, ids = opened(case), text(2, 3, LONGEST)
    with torch.no_grad():
        ours = models.ours.network(bands(), ids)
        theirs = models.theirs(bands(), decoder_input_ids=ids, output_hidden_states=True)
    close(ours.memory_BSM, theirs.encoder_last_hidden_state)
    close(ours.hidden_BTM, theirs.decoder_hidden_states[-1])
    if "logits" in theirs:
        close(ours.logits_BTV, theirs.logits)
        assert ours.logits_BTV.std() > 0.1


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("case", SOUNDS, ids=str)
def test_padded_text_is_read_the_same(opened, case, side):
    models, ids = opened(case), padded(text(2, 3, LONGEST), LENGTHS, side, 1)
    seen = padded(torch.ones_like(ids), LENGTHS, side, 0)
    where = (seen.cumsum(1) - 1).clamp(min=0)
    inputs = {"decoder_input_ids": ids, "decoder_attention_mask": seen}
    assert "decoder_position_ids" in inspect.signature(models.theirs.forward).parameters
    with torch.no_grad():
        theirs = models.theirs(
            bands(), **inputs, decoder_position_ids=where, output_hidden_states=True
        )
        ours = models.ours.network(bands(), ids, **bounds(LENGTHS, LONGEST, side, "target_"))
        apart = models.ours.network(
            bands(),
            ids,
            target_positions_BT=where,
            **bounds(LENGTHS, LONGEST, side, "target_"),
        )
    for row, length in enumerate(LENGTHS):
        there = row, real(length, LONGEST, side)
        close(ours.hidden_BTM[there], theirs.decoder_hidden_states[-1][there])
        close(apart.hidden_BTM[there], ours.hidden_BTM[there])


def test_a_transcript_step_by_step_is_the_transcript_at_once(opened):
    network, ids = opened(SOUNDS[0]).ours.network, text(2, 3, LONGEST)
    past = network.past()
    with torch.no_grad():
        whole = network(bands(), ids)
        memory, steps = None, []
        for each in ids.split(1, dim=1):
            found = network(bands(), each, past=past, memory_BSM=memory)
            memory = found.memory_BSM
            steps.append(found.logits_BTV)
    close(torch.cat(steps, 1), whole.logits_BTV)


def test_a_shorter_spectrogram_is_heard_by_itself(opened):
    """It is not padded, and every frame keeps its position."""
    models = opened(SOUNDS[0])
    theirs = copy.deepcopy(models.theirs.get_encoder())
    theirs.config.max_source_positions = 7
    theirs.embed_positions = torch.nn.Embedding.from_pretrained(theirs.embed_positions.weight[:7])
    with torch.no_grad():
        ours = models.ours.network.encoder(bands(frames=14))
        close(ours.hidden_BTM, theirs(bands(frames=14)).last_hidden_state)


@pytest.mark.parametrize("case", PICTURES + SOUNDS, ids=str)
def test_what_is_written_is_bit_for_bit_what_was_read(opened, case, tmp_path):
    models = opened(case)
    write_folder(models.ours, tmp_path)
    before = load_file(models.folder / "model.safetensors")
    after = load_file(tmp_path / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    again = getattr(transformers, case.model).from_pretrained(tmp_path)
    kept, changed = models.theirs.config.to_dict(), again.config.to_dict()
    for told in ("_name_or_path", "transformers_version"):
        kept.pop(told, None)
        changed.pop(told, None)
    assert kept == changed
    assert read_folder(tmp_path).architecture == models.ours.architecture


def changed_folder(models, tmp_path, *, weights=None, **settings):
    """The folder of a model with other weights or settings."""
    config = json.loads((models.folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | settings))
    stored = load_file(models.folder / "model.safetensors")
    save_file({**stored, **(weights or {})}, tmp_path / "model.safetensors")
    return tmp_path


def test_height_and_width_may_be_given_one_by_one(opened, tmp_path):
    models = opened(PICTURES[2])
    folder = changed_folder(models, tmp_path, image_size=[12, 12], patch_size=(4, 4))
    assert read_folder(folder).architecture == models.ours.architecture


def test_pictures_that_are_not_square_are_refused(opened, tmp_path):
    folder = changed_folder(opened(PICTURES[2]), tmp_path, image_size=[12, 16])
    with pytest.raises(CannotError, match=r"sets image_size to \[12, 16\], and only squares"):
        read_folder(folder)


def test_a_picture_of_another_size_is_refused(opened):
    network = opened(PICTURES[0]).ours.network
    with pytest.raises(InputError, match=r"\(2, 12, 8\) and this model takes \(2, 12, 12\)"):
        network(pixels()[..., :8])


def test_a_spectrogram_that_is_too_long_is_refused(opened):
    network = opened(SOUNDS[0]).ours.network
    with pytest.raises(InputError, match=r"8 bands and 22 frames; .* 8 bands and at most 20"):
        network(bands(frames=22), text(2, 3, 4))


def test_older_folders_store_the_tied_scores_a_second_time(opened, tmp_path):
    models = opened(SOUNDS[0])
    words = load_file(models.folder / "model.safetensors")["model.decoder.embed_tokens.weight"]
    read_folder(changed_folder(models, tmp_path, weights={"proj_out.weight": words.clone()}))
    folder = changed_folder(models, tmp_path, weights={"proj_out.weight": words + 1})
    with pytest.raises(FileError, match=r"no proj_out.weight of its own .* tie_word_embeddings"):
        read_folder(folder)
