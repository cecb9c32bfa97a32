"""A diagnosis is about the yes-or-no questions, or about one answer of a question with named ones, which then stands for yes."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from candor.designs.design import Design
from candor.errors import DesignError
from surveys.definition import StudyDefinition
from surveys.questions.sensitive import SensitiveQuestion

YES_NO = ""


def designs(definition: StudyDefinition) -> dict[str, Design]:
    """By address, such as `copying/often`, every design that can be diagnosed, the usual one first.

    An answer that every subsample forces equally often is left out: nothing about it tells cheaters apart. So are background questions,
    which no arm changes.
    """
    found = {YES_NO: definition.design()} if definition.yes_no_questions else {}
    for question in (one for one in definition.category_questions if not one.is_background):
        whole = definition.category_design(question)
        for name in reversed(question.answers):
            try:
                found[f"{question.name}/{name}"] = whole.of_one_answer(name)
            except DesignError:
                continue
    return found


def labels(definition: StudyDefinition, language: str) -> Iterator[tuple[str, str]]:
    """The same in words."""
    for address in designs(definition):
        yield address, _("The yes-or-no questions") if address == YES_NO else in_words(definition, address, language)


def in_words(definition: StudyDefinition, address: str, language: str) -> str:
    """The answer, with its question; as it is called in files where the study has it no more."""
    name, _slash, answer = address.partition("/")
    question: SensitiveQuestion | None = next((one for one in definition.category_questions if one.name == name), None)
    texts = {one.name: one.text.in_language(language) for one in question.categories} if question else {}
    if question is None or answer not in texts:
        return address
    return _("“%(answer)s” to “%(question)s”") % {"answer": texts[answer], "question": question.text.in_language(language)}
