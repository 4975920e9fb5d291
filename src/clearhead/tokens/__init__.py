"""Text ↔ ids: vocabularies as others publish them, and (later) learned here."""

from .reading import read_vocabulary as read_vocabulary
from .vocabulary import Encoded as Encoded
from .vocabulary import Vocabulary as Vocabulary

__all__ = ["Encoded", "Vocabulary", "read_vocabulary"]
