"""Each language of participants' pages has all of their words and no others, with the same places and markup, and was read twice."""

import json
import re
from pathlib import Path

import pytest

from surveys.languages.catalogues import compiled, plural_forms, problems_in, written
from surveys.languages.offered import OWN, TEMPLATE, participants_words, place_of
from tests.audits.participants_words import LOCALE, REVIEWED, catalogue_of, languages, privacy_sentences, reviews_of, template
from tests.audits.participants_words import participants_words as words_on_pages

OTHERS = [language for language in languages() if language.name != "de"]


def test_the_list_of_words_is_what_templates_and_modules_say() -> None:
    assert TEMPLATE.read_text(encoding="utf-8").partition("msgid")[2] == written(template()).partition("msgid")[2], "run: make words"
    assert len(words_on_pages()) > 450
    assert list(participants_words().entries) == list(words_on_pages())


@pytest.mark.parametrize("language", OTHERS, ids=lambda language: language.name)
def test_a_language_has_exactly_the_words_of_participants(language: Path) -> None:
    catalogue = catalogue_of(language)
    assert problems_in(catalogue, participants_words()) == []
    assert catalogue.name == OWN[catalogue.language]
    assert place_of(catalogue.language, LOCALE) == language / "LC_MESSAGES"


def test_german_has_every_word_of_participants_with_its_places() -> None:
    catalogue = catalogue_of(LOCALE / "de")
    for one, wanted in participants_words().entries.items():
        said = catalogue.entries[one]
        assert said.many == wanted.many, one
        assert all(said.said), one
        assert '"' not in re.sub(r"<[^>]*>", "", "".join(said.said)), "a straight quotation mark could end an attribute"


@pytest.mark.parametrize("language", OTHERS, ids=lambda language: language.name)
def test_what_is_compiled_is_what_is_written(language: Path) -> None:
    assert (language / "LC_MESSAGES/django.mo").read_bytes() == compiled(catalogue_of(language)), "run: make words"


def test_the_languages_offered_are_those_that_are_there() -> None:
    assert {place_of(code, LOCALE).parent for code in OWN if code != "en"} == set(languages())
    assert {catalogue_of(language).language: plural_forms(catalogue_of(language)) for language in OTHERS} == {
        "fr": 2, "es": 2, "it": 2, "pt": 2, "nl": 2, "pl": 3, "zh-hans": 1, "ar": 6
    }  # fmt: skip


def test_promises_were_read_twice_in_each_language_as_they_stand() -> None:
    """A changed English sentence, a changed translation and a new promise ask for another reading: docs/languages.md."""
    assert json.loads(REVIEWED.read_text(encoding="utf-8")) == reviews_of(words_on_pages())


def test_sentences_about_the_die_and_about_what_is_stored_count_as_promises() -> None:
    promises = privacy_sentences(words_on_pages())
    assert len(promises) > 200
    missed = [
        one for one in words_on_pages() if re.search(r"\bdie\b|stored|nobody|private", one) and len(one.split()) > 4 and one not in promises
    ]
    assert missed == []
