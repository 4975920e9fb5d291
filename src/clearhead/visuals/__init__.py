"""Traces drawn: in the terminal, and as JSON. Opens without torch and without a model.

words/         every sentence, in English and Chinese
worked.py      one number of a step, worked out the way one would by hand
steps.py       an explanation as plain steps: name, value, note
terminal/      an explanation as tables, bars and colour (this one loads `rich`)
"""

from .steps import steps_of as steps_of
from .words import LANGUAGES as LANGUAGES

__all__ = ["LANGUAGES", "steps_of"]
