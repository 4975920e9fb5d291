"""Dates in English and Chinese: parallel text without a download, whose word order crosses.

    Wednesday, 18 November 2026  →  2026年11月18日星期三

spelled.py    numbers and years in English words
written.py    one date: every way English writes it, and the one Chinese form each determines
corpus.py     pairs drawn from a seed, some months kept for judging, and files of them
"""

from .corpus import is_held_out as is_held_out
from .corpus import pairs as pairs
from .corpus import write as write
from .written import ways as ways

__all__ = ["is_held_out", "pairs", "ways", "write"]
