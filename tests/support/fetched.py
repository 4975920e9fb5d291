"""Real models, which `make weights` fetches; without one, what needs it is skipped aloud."""

from pathlib import Path

import pytest

from clearhead.checkpoints.installed import find_installed
from clearhead.foundation.errors import MissingPartError


def fetched(name: str) -> Path:
    """Where the model lies. CI fetches all of them first, and ends there when it cannot."""
    try:
        return find_installed(name)
    except MissingPartError as error:
        pytest.skip(str(error))
