"""How pictures or sound become what a model takes, found in its folder."""

from pathlib import Path

from .pictures import Pictures, read_pictures
from .sound import Sounds, read_sounds

Preparation = Pictures | Sounds


def read_preparation(folder: Path) -> Preparation | None:
    """How a folder's model takes pictures or sound; None when the folder does not say."""
    return read_pictures(folder) or read_sounds(folder)
