"""The families: what each chose, and how its weights are named in a Hugging Face folder."""

from .catalog import FAMILIES as FAMILIES
from .catalog import family_for as family_for
from .family import Family as Family
from .family import Weight as Weight

__all__ = ["FAMILIES", "Family", "Weight", "family_for"]
