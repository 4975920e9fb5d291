"""Keeping memory: the setting is made where there is glibc, and only there."""

import subprocess
import sys

from project import PACKAGE

SCRIPT = """
import resource, sys
import numpy as np
from clearhead.foundation.memory import keep_memory
asked = sys.argv[1] == "keep"
if asked:
    assert keep_memory() == sys.platform.startswith("linux")
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    np.ones(2**21)
before = faults()
for _ in range(20):
    np.ones(2**21)
print(faults() - before)
"""


def pages(word):
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, word],
        cwd=PACKAGE.parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(ran.stdout)


def test_what_was_allocated_is_kept():
    """Twenty arrays of 16 MB, one after the other, are the same pages."""
    if sys.platform.startswith("linux"):
        assert 4 * pages("keep") < pages("do not")
