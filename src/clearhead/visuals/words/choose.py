"""Which language, and how a note becomes a sentence in it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...foundation.errors import ConfigError
from ...traces import Note
from . import chinese, english


@dataclass(frozen=True)
class Words:
    """One language.

    Args:
        titles: What each step is called.
        why: A sentence on why there is such a step.
        notes: What a note says, with gaps for its facts.
        axes: What one counts along each axis.
        screen: Everything else that stands on the screen.
        space: What stands between two sentences.
    """

    titles: Mapping[str, str]
    why: Mapping[str, str]
    notes: Mapping[str, str]
    axes: Mapping[str, str]
    screen: Mapping[str, str]
    space: str

    def sentence(self, note: Note) -> str:
        """What the note says. One that is not known here is told as it is."""
        if note.says not in self.notes:
            return " ".join([f"{note.says}:", *(f"{k}={v}" for k, v in note.facts.items())])
        return self.notes[note.says].format(**note.facts)


TABLES = {
    code: Words(
        titles=told.TITLES,
        why=told.WHY,
        notes=told.NOTES,
        axes=told.AXES,
        screen=told.SCREEN,
        space=told.SPACE,
    )
    for code, told in {"en": english, "zh": chinese}.items()
}
LANGUAGES = tuple(TABLES)


def words_in(language: str) -> Words:
    """The words of this language."""
    if language not in TABLES:
        raise ConfigError(
            f"There is no language {language!r} here. Choose one of: {', '.join(LANGUAGES)}."
        )
    return TABLES[language]
