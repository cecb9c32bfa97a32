"""Subjects about which a consent text should speak, with a look for words that tell whether it does."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surveys.definition import StudyDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """`words`: language → what a text about it says. In other languages nobody but a reader can tell."""

    name: str
    label: Promise
    question: Promise
    words: Mapping[str, str]


SUBJECTS = (
    Subject(
        name="risks",
        label=_("risks"),
        question=_("Does it say what could harm or burden people, and what is done about it?"),
        words={"en": r"risk|harm|burden|discomfort|disadvantage|upset", "de": r"risik|risiken|schad|schäd|nachteil|belast|unangenehm"},
    ),
    Subject(
        name="benefits",
        label=_("benefits"),
        question=_("Does it say what people, or others, gain, and if it is nothing, that it is nothing?"),
        words={"en": r"benefit|gain|advantage|reward|paid|payment|credit", "de": r"nutzen|vorteil|gewinn|belohn|vergüt|bezahl|punkte"},
    ),
    Subject(
        name="complaints",
        label=_("complaints"),
        question=_("Does it name somebody outside the study to whom people can complain?"),
        words={
            "en": r"complain|ombuds|ethics (committee|board|commission)|review board|\birb\b",
            "de": r"beschwer|ombuds|ethikkommission|ethik-kommission",
        },
    ),
)

OUTSIDE = Subject(
    name="outside",
    label=_("other sites"),
    question=_("Does it say that another site is opened, and what that site learns?"),
    words={"en": r"\b(sites?|websites?|web pages?)\b", "de": r"website|webseite|andere[nr]? seite|internetseite"},
)
"""Only where an arm leads there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Whether the consent in one language speaks about the subject; None: in this language only a reader can tell."""

    subject: Subject
    language: str
    is_said: bool | None


def consent_prompts(definition: StudyDefinition) -> list[Prompt]:
    """Every subject in every language of the study."""
    languages = definition.languages if isinstance(definition.consent.root, dict) else definition.languages[:1]
    return [
        Prompt(subject=subject, language=code, is_said=_says(definition.consent.in_language(code), subject.words.get(code)))
        for subject in (*SUBJECTS, *([OUTSIDE] if definition.outside else []))
        for code in languages
    ]


def _says(text: str, words: str | None) -> bool | None:
    return None if words is None else re.search(words, text, re.IGNORECASE) is not None
