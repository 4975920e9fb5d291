"""What was seen, as named arrays with named axes, in one file that opens without torch or a model.

A trace holds facts and no sentences: a note says one thing by its key and its numbers, and whoever
draws the trace puts it into words, in the language of whoever looks.
"""

from .trace import Array as Array
from .trace import Note as Note
from .trace import Trace as Trace
from .trace import open_trace as open_trace

__all__ = ["Array", "Note", "Trace", "open_trace"]
