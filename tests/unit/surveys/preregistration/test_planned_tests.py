"""Planned tests are told in the words of the reader's language."""

from django.utils import translation

from surveys.preregistration.planned_tests import planned_tests_in_words
from surveys.questions.plans import PlannedTests


def test_questions_of_a_family_are_quoted_as_the_language_of_the_page_quotes() -> None:
    planned, texts = PlannedTests(families={"main": ("copied", "absent")}), {"copied": "Did you copy?", "absent": "Were you away?"}
    for language, quoted in (("en", "“Did you copy?”; “Were you away?”"), ("de", "„Did you copy?“; „Were you away?“")):
        with translation.override(language):
            ((_term, sentence),) = planned_tests_in_words(planned, texts)
            assert quoted in sentence
