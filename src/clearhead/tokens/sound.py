"""Sound to a log-mel spectrogram, as Whisper takes it (Radford et al. 2022, section 2.2).

samples ─▶ |short-time Fourier|² ─▶ mel bands ─▶ log10, 8 below the loudest at least ─▶ (· + 4) / 4
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..foundation.errors import InputError
from ..foundation.json_file import read_json_if_there, write_json
from ..foundation.optional import need


@dataclass(frozen=True, kw_only=True)
class Sounds:
    """How sound becomes a spectrogram.

    Args:
        bands: Frequencies of the spectrogram, spaced as we hear them.
        rate: Samples a second.
        window: Samples that one frame looks at.
        hop: Samples from one frame to the next.
        seconds: How long a spectrogram is; silence fills up what is shorter.
    """

    bands: int = 80
    rate: int = 16000
    window: int = 400
    hop: int = 160
    seconds: int = 30

    @property
    def frames(self) -> int:
        """Frames of a spectrogram."""
        return self.seconds * self.rate // self.hop

    def encode(self, sounds: Sequence[Any]) -> Float[Tensor, "b c t"]:
        """The spectrograms of sound files, or of samples from -1 to 1 at this rate."""
        samples_BN = torch.stack([self._samples(each) for each in sounds])
        wave = torch.stft(
            samples_BN,
            self.window,
            self.hop,
            window=torch.hann_window(self.window),
            return_complex=True,
        )
        power_BFT = wave[..., :-1].abs().square()
        bands_BCT = (mel_bands(self) @ power_BFT).clamp(min=1e-10).log10()
        loudest_B11 = bands_BCT.amax(dim=(1, 2), keepdim=True)
        return (bands_BCT.maximum(loudest_B11 - 8.0) + 4.0) / 4.0

    def _samples(self, sound: Any) -> Float[Tensor, " n"]:
        found = _read(sound, self.rate) if isinstance(sound, str | Path) else sound
        samples = torch.as_tensor(np.asarray(found, dtype=np.float32))
        wanted = self.seconds * self.rate
        if samples.ndim != 1 or not 0 < len(samples) <= wanted:
            raise InputError(
                f"The sound has samples {tuple(samples.shape)}; one channel of 1 to {wanted:,} "
                f"samples ({self.seconds} seconds) was wanted: cut it into pieces first."
            )
        return torch.nn.functional.pad(samples, (0, wanted - len(samples)))

    def save(self, folder: Path) -> None:
        """Write preprocessor_config.json, which `transformers` reads too."""
        folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "feature_extractor_type": "WhisperFeatureExtractor",
            "feature_size": self.bands,
            "sampling_rate": self.rate,
            "n_fft": self.window,
            "hop_length": self.hop,
            "chunk_length": self.seconds,
            "padding_value": 0.0,
        }
        write_json(folder / "preprocessor_config.json", settings)


def read_sounds(folder: Path) -> Sounds | None:
    """How a folder's model takes sound; None when the folder does not say."""
    settings = read_json_if_there(folder / "preprocessor_config.json")
    settings = settings or read_json_if_there(folder / "processor_config.json").get(
        "feature_extractor", {}
    )
    if settings.get("feature_extractor_type") != "WhisperFeatureExtractor":
        return None
    return Sounds(
        bands=settings.get("feature_size", 80),
        rate=settings.get("sampling_rate", 16000),
        window=settings.get("n_fft", 400),
        hop=settings.get("hop_length", 160),
        seconds=settings.get("chunk_length", 30),
    )


def mel_bands(spec: Sounds) -> Float[Tensor, "c f"]:
    """How much every frequency counts in every band: triangles of equal area (Slaney 1998)."""
    top = torch.tensor(spec.rate / 2, dtype=torch.float64)
    edges = _hertz(torch.linspace(0.0, float(_mels(top)), spec.bands + 2, dtype=torch.float64))
    heard_F = torch.linspace(0.0, float(top), spec.window // 2 + 1, dtype=torch.float64)
    rise_CF = (heard_F - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall_CF = (edges[2:, None] - heard_F) / (edges[2:] - edges[1:-1])[:, None]
    area_C1 = 2.0 / (edges[2:] - edges[:-2])[:, None]
    return (rise_CF.minimum(fall_CF).clamp(min=0.0) * area_C1).float()


# The mel scale: straight to 1,000 hertz, then logarithmic.
STRAIGHT, BEND, STEP = 200.0 / 3.0, 1000.0, float(np.log(6.4)) / 27.0


def _mels(hertz: Tensor) -> Tensor:
    bent = BEND / STRAIGHT + (hertz.clamp(min=BEND) / BEND).log() / STEP
    return torch.where(hertz < BEND, hertz / STRAIGHT, bent)


def _hertz(mels: Tensor) -> Tensor:
    bent = BEND * ((mels - BEND / STRAIGHT) * STEP).exp()
    return torch.where(mels < BEND / STRAIGHT, mels * STRAIGHT, bent)


def _read(path: str | Path, rate: int) -> Any:
    """The samples of a file, the mean of its channels."""
    library = need("soundfile", extra="media", purpose="Reading a sound file")
    try:
        samples, found = library.read(str(path), dtype="float32", always_2d=True)
    except (library.SoundFileError, OSError) as error:
        raise InputError(
            f"{path} cannot be read as sound ({error}). Give a WAV, FLAC or OGG file."
        ) from error
    if found != rate:
        raise InputError(
            f"{path} has {found:,} samples a second and this model takes {rate:,}. Convert it "
            f"first, for example: ffmpeg -i {path} -ar {rate} converted.wav"
        )
    return samples.mean(axis=1)
