"""Everything `explain` can say has a sentence in every language, with the facts that fill it."""

import re
from string import Formatter

import pytest
from project import PACKAGE

from clearhead import explain
from clearhead.lens import EXAMPLES
from clearhead.visuals import LANGUAGES
from clearhead.visuals.words import words_in

SOURCE = "\n".join(
    path.read_text(encoding="utf-8") for path in (PACKAGE / "lens" / "explanation").glob("*.py")
)
SAID = set(re.findall(r'note\(\s*[\w"]+,\s*f?"([\w{}]+)"', SOURCE)) | {"agrees", "disagrees"}
BUILT = {
    "mask_{kind}": ("mask_full", "mask_causal", "mask_rule"),
    "positions_{kind}": ("positions_rotary", "positions_alibi", "positions_buckets"),
}
NOTES = {note for said in SAID for note in BUILT.get(said, (said,))}


def test_every_note_in_the_source_has_a_sentence_and_every_sentence_a_note():
    assert len(NOTES) > 20
    for language in LANGUAGES:
        assert set(words_in(language).notes) == NOTES


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_about_an_example_can_be_said(name, language):
    words = words_in(language)
    for note in explain(name).notes:
        sentence = words.sentence(note)
        assert sentence[-1] in ".。"
        assert not [gap for _, gap, _, _ in Formatter().parse(sentence) if gap]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_step_of_an_example_has_a_title_and_a_reason(name):
    for step in explain(name).about["steps"]:
        for language in LANGUAGES:
            assert words_in(language).titles[step]
            assert words_in(language).why[step]
