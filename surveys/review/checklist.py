"""The officers' checklist: its questions, the sections that answer them, and the time that a packet takes to read."""

from collections.abc import Mapping
from math import ceil

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from surveys.definition import StudyDefinition
from surveys.models import CheckPoint, PacketSection
from surveys.questions.parts import texts_of

WORDS_PER_MINUTE = 200
"""A careful reader's speed; silent reading of English prose has a mean of 238 words per minute (Brysbaert, 2019)."""

CHECKLIST: Mapping[CheckPoint, tuple[Promise, tuple[PacketSection, ...]]] = {
    CheckPoint.RISKS: (
        gettext_lazy("Are all risks for students named, and are they no larger than those of an ordinary day at the university?"),
        (PacketSection.CONSENT, PacketSection.ARMS, PacketSection.QUESTIONS),
    ),
    CheckPoint.BENEFITS: (
        gettext_lazy("Is it said truly what students and others gain, and is any reward too small to press somebody into taking part?"),
        (PacketSection.OVERVIEW, PacketSection.CONSENT, PacketSection.DEBRIEF),
    ),
    CheckPoint.COMPLAINTS: (
        gettext_lazy("Do students learn whom they can ask, where they can complain, and that leaving costs them nothing?"),
        (PacketSection.CONSENT, PacketSection.DEBRIEF),
    ),
    CheckPoint.DATA: (
        gettext_lazy("Is everything that is asked needed, and is it deleted in time? Can what becomes public point at anybody?"),
        (PacketSection.BACKGROUND, PacketSection.STORED, PacketSection.ACCESS, PacketSection.RETENTION, PacketSection.RELEASE),
    ),
    CheckPoint.CHANCE: (
        gettext_lazy("Does the die protect enough for questions like these, and will a student understand that nobody else sees it?"),
        (PacketSection.DIE, PacketSection.QUESTIONS),
    ),
    CheckPoint.LANGUAGES: (
        gettext_lazy("Does every language say the same, in words that a first-year student understands?"),
        (PacketSection.CONSENT, PacketSection.QUESTIONS, PacketSection.DEBRIEF),
    ),
}


def reading_minutes(definition: StudyDefinition, language: str) -> int:
    """Minutes that a careful reader needs for the study's own texts in one language, rounded up."""
    return ceil(sum(len(text.in_language(language).split()) for _path, text in texts_of(definition)) / WORDS_PER_MINUTE)
