"""Every sentence a drawing needs: one file a language, all with the same keys."""

from .choose import LANGUAGES as LANGUAGES
from .choose import Words as Words
from .choose import words_in as words_in
from .formulas import FORMULAS as FORMULAS

__all__ = ["FORMULAS", "LANGUAGES", "Words", "words_in"]
