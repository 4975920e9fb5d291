"""What parity tests share: every tiny model is drawn, saved and opened once."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from published import Published
from transformers import PreTrainedModel

from clearhead.checkpoints.foreign.huggingface import read_folder
from clearhead.checkpoints.parts import Parts


@dataclass(frozen=True)
class Opened:
    """A model as `transformers` has it, its folder, and what we read from it."""

    theirs: PreTrainedModel
    folder: Path
    ours: Parts


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny models are slower on two threads, by much when something else runs beside them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def opened(tmp_path_factory):
    """Return a function from a published class to both models."""
    known: dict[str, Opened] = {}

    def open_once(case: Published) -> Opened:
        if str(case) not in known:
            theirs, folder = case.draw(), tmp_path_factory.mktemp("published")
            theirs.save_pretrained(folder)
            known[str(case)] = Opened(theirs, folder, read_folder(folder))
        return known[str(case)]

    return open_once
