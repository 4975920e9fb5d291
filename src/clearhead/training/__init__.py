"""Training: from files to a model people can use, and never a lost step.

run.py          everything a run is, as one settings file
loop.py         the loop: one screen
learner.py      what changes from step to step, and one step of it
schedule.py     how fast to learn at which step
prepare.py      files to vocabulary and stored examples, made once
checkpoint.py   what changes, on disk: atomic, checked, the same bytes for the same run
journal.py      what happened, line by line
notes.py        what whoever looks on is told
"""

from .loop import Trained as Trained
from .loop import train as train
from .notes import Note as Note
from .run import Run as Run

__all__ = ["Note", "Run", "Trained", "train"]
