"""Who may read a file that was written for others."""

import os
import shutil
from pathlib import Path


def let_the_usual_readers_in(path: Path) -> None:
    """Give a file the permissions of any new file beside it.

    safetensors writes for the owner alone, so that a model or a trace in a shared folder could not
    be opened by anybody else.
    """
    probe = path.with_name(f".{path.name}.{os.getpid()}.probe")
    probe.touch()
    try:
        shutil.copymode(probe, path)
    finally:
        probe.unlink()
