"""Reads short texts. No other code takes them out of the database: they are no covariate, in no export and in no release."""

from collections import Counter
from dataclasses import dataclass

from surveys.access import Seat
from surveys.batches.rules import LEAST
from surveys.batches.selectors import others_are_shown_than_at_the_end
from surveys.models import ENDED, Participant, Study
from surveys.protocols import definition_for
from surveys.questions.background import ShortText


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One question, and each text with how many people wrote it, in alphabetical order; None where fewer than `LEAST` wrote something."""

    question: str
    texts: tuple[tuple[str, int], ...] | None


def short_texts_of(seat: Seat) -> list[ShortText]:
    """The study's questions that ask for a few words."""
    return [question for question in definition_for(seat).background if isinstance(question, ShortText)]


def words_of(seat: Seat) -> list[Words] | None:
    """The words that people wrote, by question; nothing if no question asks for words.

    Where people came, bots are left out, whose words would fill up those of few people.

    None until everybody is counted after the end, once operational data are deleted, and once somebody withdrew after the end: the list
    without their words, beside the list of before, would tell what they wrote.
    """
    study, questions = seat.study, short_texts_of(seat)
    if not questions:
        return []
    if study.status not in ENDED:
        return None
    counted = Participant.objects.filter(study=study, counted=True)
    humans = counted.filter(is_bot=False)
    people = list((humans if humans.exists() else counted).values_list("background", flat=True))
    # After they are read: somebody may withdraw meanwhile.
    still_there = Study.objects.filter(pk=study.pk, numbers_withheld=False, forgotten_on=None).exists()
    if not still_there or others_are_shown_than_at_the_end(study):
        return None
    written = [[str(one[question.name]) for one in people if one.get(question.name)] for question in questions]
    language = definition_for(seat).languages[0]
    return [
        Words(question=question.text.in_language(language), texts=_counted(texts) if len(texts) >= LEAST else None)
        for question, texts in zip(questions, written, strict=True)
    ]


def _counted(texts: list[str]) -> tuple[tuple[str, int], ...]:
    """Texts that differ in capitals alone are one, in the spelling that comes first."""
    spelled = {text.casefold(): text for text in sorted(texts, reverse=True)}
    return tuple((spelled[folded], people) for folded, people in sorted(Counter(map(str.casefold, texts)).items()))
