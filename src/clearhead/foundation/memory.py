"""Memory that was given back is asked for again at every step; a program that learns keeps it.

glibc returns every large tensor's pages to the system and takes new ones, each of which the system
first fills with zeros. Where the same sizes come again step after step, that is time for nothing.
"""

import ctypes
import sys

# Of mallopt(3): when to give back the top of the heap, how much more to take at once, how many
# blocks may lie outside the heap.
TRIM_THRESHOLD, TOP_PAD, MMAP_MAX = -1, -2, -4
MOST, PAD = 2**31 - 1, 2**28


def keep_memory() -> bool:
    """Let this process keep what it allocated, for all its life; whether that could be arranged.

    Other C libraries than glibc have no such setting. Nothing but speed and memory changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = ((MMAP_MAX, 0), (TRIM_THRESHOLD, MOST), (TOP_PAD, PAD))
    return all(mallopt(name, value) == 1 for name, value in settings)
