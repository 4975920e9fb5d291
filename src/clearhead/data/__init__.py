"""From files to batches of ids, each at a position one can come back to.

corpus.py    which files, and their rows one by one, with what is wrong in them
store.py     every example's ids in one memory-mapped file
order.py     a shuffle that is a formula: any place of it at once, in no memory
batches.py   examples of like length side by side, up to so many tokens

This room knows no model and no task: how a row becomes ids is passed in.
"""

from .batches import Batches as Batches
from .batches import Position as Position
from .corpus import Corpus as Corpus
from .corpus import Row as Row
from .corpus import paths_of as paths_of
from .corpus import rows_of as rows_of
from .store import Store as Store
from .store import open_store as open_store
from .store import write_store as write_store

__all__ = [
    "Batches",
    "Corpus",
    "Position",
    "Row",
    "Store",
    "open_store",
    "paths_of",
    "rows_of",
    "write_store",
]
