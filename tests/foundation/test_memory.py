"""Keeping memory: what was allocated and let go stays with the process, where there is glibc."""

import ctypes
import subprocess
import sys

import pytest
from project import PACKAGE

SCRIPT = """
import sys
import numpy as np
from pathlib import Path
from clearhead.foundation.memory import keep_memory
if sys.argv[1] == "keep":
    assert keep_memory()
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
before = pages()
arrays = [np.ones(2**21) for _ in range(8)]
held = pages()
del arrays
print(before, held, pages())
"""
HAS_IT = sys.platform.startswith("linux") and hasattr(ctypes.CDLL(None), "mallopt")


def pages(word: str) -> list[int]:
    command = [sys.executable, "-c", SCRIPT, word]
    ran = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    return [int(number) for number in ran.stdout.split()]


@pytest.mark.skipif(not HAS_IT, reason="this C library has no mallopt")
def test_what_was_let_go_is_kept():
    """Eight arrays of 16 MB: a few pages more or less do not matter."""
    before, held, after = pages("keep")
    assert after - before > 0.9 * (held - before) > 0
    before, held, after = pages("do not")
    assert after - before < 0.1 * (held - before)
