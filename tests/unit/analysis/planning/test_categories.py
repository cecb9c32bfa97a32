"""The plan of questions with categories: the library's numbers in words, and reasons where nothing can be planned."""

from django.http import QueryDict
from django.utils.translation import override

from analysis.planning.categories import category_sentences
from analysis.planning.forms import read_plan
from analysis.planning.starts import start_of
from candor.planning.categories import plan_categories
from tests.categories import with_frequency
from tests.factories import definition
from tests.surveys import one_arm


def said(query: str, **changes: object) -> tuple[str, ...]:
    study = definition(**{"questions": with_frequency(), **changes})
    ((text, sentences),) = category_sentences(study, read_plan(QueryDict(query), start_of(study)), language="en")
    assert text == "How often did you copy an answer this term?"
    return sentences


def test_the_words_have_the_numbers_of_the_library():
    study = definition(questions=with_frequency())
    form = read_plan(QueryDict("prevalence=30&effect=25&cheaters=10&n=900"), start_of(study))
    shares = {"slides": (0.35, 0.35, 0.3), "instructor": (0.225, 0.225, 0.55)}
    plan = plan_categories(
        study.category_design(study.category_questions[0]),
        prevalence=shares,
        cheater_proportion=form.value("cheaters"),
        n=900,
        power=form.value("power"),
    )
    (contrast,) = plan.contrasts
    found, needed = said("prevalence=30&effect=25&cheaters=10&n=900")
    words = "With 900 students the test whether “Slides with the instructor” changes any answer finds this with a probability of"
    assert found == f"{words} {100 * contrast.power:.0f} %."
    assert contrast.participants_needed is not None
    assert needed == f"For 80 % it takes {contrast.participants_needed:,} students."


def test_few_expected_answers_are_told_in_the_readers_language():
    *_, told = said("prevalence=30&effect=25&n=30")
    assert "up to 30 percentage points less power" in told
    with override("de"):
        assert said("prevalence=30&effect=25&n=30")[-1].startswith("Ein Arm lässt seine seltenste Antwort nur")


def test_what_cannot_be_planned_is_said():
    assert said("effect=0")[1] == "No number of students is enough for 80 %."
    assert "survey compares nothing" in said("", **one_arm())[0]
    assert said("", questions=with_frequency(purpose="background")) == (
        "This is a background question, privatised in the browser: no arm changes it, so there is no effect to find.",
    )
