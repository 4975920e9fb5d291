"""Sound to vectors: a spectrogram, two convolutions, the second halving the time (Whisper)."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu

from ..foundation.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Frames:
    """How a spectrogram becomes tokens.

    Args:
        bands: Frequencies of the spectrogram.
        length: Tokens of the longest sound; two frames of the spectrogram make one.
    """

    kind: Literal["frames"] = "frames"
    bands: int = 80
    length: int = 1500
    dropout: float = 0.0


class FrameInput(nn.Module):
    """The input layer of a sound model."""

    def __init__(self, spec: Frames, width: int) -> None:
        super().__init__()
        self.spec = spec
        self.near = nn.Conv1d(spec.bands, width, kernel_size=3, padding=1)
        self.halve = nn.Conv1d(width, width, kernel_size=3, stride=2, padding=1)
        self.positions = nn.Parameter(torch.zeros(spec.length, width))
        self.dropout = nn.Dropout(spec.dropout)

    def forward(self, bands_BCT: Float[Tensor, "b c t"]) -> Float[Tensor, "b s m"]:
        """Vectors of the sound, one for every two frames."""
        bands, length = bands_BCT.shape[1:]
        if bands != self.spec.bands or (length + 1) // 2 > self.spec.length:
            raise InputError(
                f"The spectrogram has {bands} bands and {length} frames; this model takes "
                f"{self.spec.bands} bands and at most {2 * self.spec.length} frames: cut the "
                "sound into shorter pieces."
            )
        x_BMT = gelu(self.halve(gelu(self.near(bands_BCT))))
        x_BTM: Tensor = self.dropout(x_BMT.transpose(1, 2) + self.positions[: x_BMT.shape[-1]])
        return x_BTM
