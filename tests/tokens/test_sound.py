"""Sound becomes the spectrogram that `transformers` makes of it."""

import json
import sys

import numpy as np
import pytest
import soundfile
import torch
from transformers import WhisperFeatureExtractor
from transformers.audio_utils import mel_filter_bank

from clearhead.foundation.errors import InputError, MissingPartError
from clearhead.tokens import Sounds, read_preparation
from clearhead.tokens.sound import mel_bands

CLOSE = 1e-4


def tune(seconds, rate=16000, seed=0):
    """A rising tone with noise: something in every band."""
    times = np.arange(int(seconds * rate)) / rate
    noise = np.random.default_rng(seed).normal(size=len(times))
    sweep = 0.5 * np.sin(2 * np.pi * (100 + 500 * times) * times) + 0.01 * noise
    return sweep.astype(np.float32)


@pytest.mark.parametrize("settings", [{}, {"feature_size": 128, "chunk_length": 5}])
def test_spectrograms_are_those_of_transformers(settings, tmp_path):
    theirs = WhisperFeatureExtractor(**settings)
    theirs.save_pretrained(tmp_path)
    ours = read_preparation(tmp_path)
    sounds = [tune(3), tune(5, seed=1), np.zeros(100, dtype=np.float32)]
    expected = theirs(sounds, sampling_rate=16000, return_tensors="pt")["input_features"]
    found = ours.encode(sounds)
    assert found.shape == (3, ours.bands, ours.frames)
    torch.testing.assert_close(found, expected, rtol=0, atol=CLOSE)


def test_settings_of_other_sizes_are_read(tmp_path):
    given = {"feature_size": 20, "n_fft": 256, "hop_length": 64, "chunk_length": 2}
    theirs = WhisperFeatureExtractor(**given)
    theirs.save_pretrained(tmp_path)
    ours = read_preparation(tmp_path)
    assert ours == Sounds(bands=20, window=256, hop=64, seconds=2)
    expected = theirs([tune(1)], sampling_rate=16000, return_tensors="pt")["input_features"]
    torch.testing.assert_close(ours.encode([tune(1)]), expected, rtol=0, atol=CLOSE)


def test_bands_are_those_of_transformers():
    for bands in (20, 80, 128):
        expected = mel_filter_bank(201, bands, 0.0, 8000.0, 16000, "slaney", "slaney").T
        found = mel_bands(Sounds(bands=bands)).numpy()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_what_is_saved_reads_back_here_and_in_transformers(tmp_path):
    ours = Sounds(bands=40, seconds=2)
    ours.save(tmp_path)
    assert read_preparation(tmp_path) == ours
    theirs = WhisperFeatureExtractor.from_pretrained(tmp_path)
    expected = theirs([tune(1)], sampling_rate=16000, return_tensors="pt")["input_features"]
    torch.testing.assert_close(ours.encode([tune(1)]), expected, rtol=0, atol=CLOSE)


def test_a_folder_that_does_not_say_has_none(tmp_path):
    assert read_preparation(tmp_path) is None
    (tmp_path / "preprocessor_config.json").write_text(
        json.dumps({"feature_extractor_type": "Wav2Vec2FeatureExtractor"})
    )
    assert read_preparation(tmp_path) is None


def test_a_file_sounds_like_its_samples(tmp_path):
    ours, samples = Sounds(seconds=1), tune(0.5)
    soundfile.write(tmp_path / "a.wav", samples, 16000, subtype="FLOAT")
    expected = ours.encode([samples])
    assert torch.equal(ours.encode([tmp_path / "a.wav"]), expected)
    soundfile.write(tmp_path / "b.wav", np.stack([samples, samples], 1), 16000, subtype="FLOAT")
    assert torch.equal(ours.encode([str(tmp_path / "b.wav")]), expected)


def test_a_file_of_another_rate_is_refused_with_the_command_that_converts_it(tmp_path):
    soundfile.write(tmp_path / "a.wav", tune(0.5), 44100)
    expected = (
        r"has 44,100 samples a second and this model takes 16,000.*ffmpeg -i .*a.wav -ar 16000"
    )
    with pytest.raises(InputError, match=expected):
        Sounds().encode([tmp_path / "a.wav"])


def test_a_file_that_is_no_sound_is_refused(tmp_path):
    (tmp_path / "a.wav").write_text("no sound")
    for name in ("a.wav", "b.wav"):
        with pytest.raises(InputError, match=rf"{name} cannot be read as sound .* Give a WAV"):
            Sounds().encode([tmp_path / name])


@pytest.mark.parametrize("samples", [tune(2), np.zeros(0), np.zeros((2, 100))])
def test_sound_too_long_too_short_or_of_two_channels_is_refused(samples):
    with pytest.raises(InputError, match=r"one channel of 1 to 16,000 samples \(1 seconds\)"):
        Sounds(seconds=1).encode([samples])


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(MissingPartError, match=r"sound file needs the package soundfile.*media"):
        Sounds().encode(["a.wav"])
