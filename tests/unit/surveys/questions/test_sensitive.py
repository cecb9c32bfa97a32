"""Sensitive questions with more than two answers: the designs that they give, and the sentence for every mistake."""

from math import log
from typing import Any

import pytest

from candor.designs.design import Design
from surveys.errors import DefinitionError
from surveys.study_file import document_of, read_study_file, write_study_file
from tests.categories import FREQUENCY, with_frequency
from tests.factories import definition
from tests.surveys import one_arm
from tests.unit.surveys.test_definition import GROUP, SYMMETRIC

ONE, TWO = FREQUENCY["faces"]["1"], FREQUENCY["faces"]["2"]
SCORED = [one | {"score": score} for one, score in zip(FREQUENCY["categories"], (0, 1, 4.5), strict=True)]


def categories(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "text": name.capitalize()} for name in names]


def test_the_faces_give_the_design_of_the_question() -> None:
    study = definition(questions=with_frequency(categories=SCORED, cheaters="never"), die={**definition_die(), "weights": {"1": 2}})
    (question,) = study.category_questions
    assert (
        study.category_design(question)
        == study.design_of(question)
        == Design.of(
            arms=("slides", "instructor"),
            control="slides",
            categories=("never", "once", "often"),
            scores=(0, 1, "9/2"),
            subsamples={
                "1": {"never": "1/6", "once": "1/6", "often": "2/6"},
                "2": {"never": "2/6", "once": "1/6", "often": "1/6"},
            },
            subsample_probabilities=("2/3", "1/3"),
            cheater_model={"always": "never"},
        )
    )
    assert [str(one) for one in definition(questions=with_frequency()).category_design(question_of()).scores] == ["0", "1", "2"]
    assert study.design_of(study.yes_no_questions[0]) == study.design()


def definition_die() -> dict[str, Any]:
    return {"subsamples": {"1": {"yes": [1], "no": [2, 3]}, "2": {"yes": [1, 2], "no": [3]}}}


def question_of() -> Any:
    return definition(questions=with_frequency()).category_questions[0]


def test_the_losses_of_all_questions_add_up() -> None:
    study = definition(questions=with_frequency())
    assert len(study.yes_no_questions) == 4
    assert study.epsilons["copying"] == pytest.approx(log(3))
    assert study.epsilon == pytest.approx(log(4))
    assert study.epsilon_total == pytest.approx(4 * log(4) + log(3))
    assert definition(questions=[FREQUENCY]).epsilon_total == pytest.approx(log(3))


def test_studies_without_categories_are_stored_as_before() -> None:
    study = definition()
    assert study.epsilon_total == study.design().composed_epsilon(4)
    assert {key for question in document_of(study)["questions"] for key in question} <= {"name", "text", "hint", "yes", "no"}


@pytest.mark.parametrize("changes", [{}, {"categories": SCORED, "cheaters": "once"}, {"ordered": False}, {"purpose": "background"}])
def test_the_study_file_keeps_it(changes: dict[str, Any]) -> None:
    study = definition(questions=with_frequency(**changes))
    assert read_study_file(write_study_file(study)) == study


def test_the_order_in_which_subsamples_are_stored_does_not_matter() -> None:
    other = definition(questions=with_frequency(faces={"2": TWO, "1": ONE}))
    assert list(other.category_questions[0].faces) == ["1", "2"]
    assert other == definition(questions=with_frequency())


COVER = "the die must force every category, otherwise that answer reveals the truth (epsilon is infinite)"
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "a category that is never forced": (
        {"faces": {"1": ONE | {"often": []}, "2": TWO}},
        f"questions[4]: subsample '1' never forces often: {COVER}",
    ),
    "a category without faces": ({"faces": {"1": {"never": [1]}, "2": TWO}}, f"subsample '1' never forces once and often: {COVER}"),
    "a face that says two things": ({"faces": {"1": ONE, "2": TWO | {"often": [2]}}}, "every face may be named once, found [1, 2, 2, 3]"),
    "no face for the truth": (
        {"faces": {"1": ONE | {"often": [3, 4, 5, 6]}, "2": TWO}},
        "subsample '1' never asks for the truth",
    ),
    "a face beyond the die": ({"faces": {"1": ONE | {"often": [7]}, "2": TWO}}, "a face must be a whole number from 1 to 6, not 7"),
    "a category that is not there": (
        {"faces": {"1": ONE | {"always": [5]}, "2": TWO}},
        "questions[4]: faces names categories that are not there: always; the categories are never, once, often",
    ),
    "a subsample that is not there": (
        {"faces": {"1": ONE, "2": TWO, "3": ONE}},
        "questions[4].faces names subsamples that are not there: 3; the die has 1, 2",
    ),
    "a subsample without faces": ({"faces": {"1": ONE}}, "questions[4].faces must name faces for every subsample of the die; missing: 2"),
    "subsamples that play alike": ({"faces": {"1": ONE, "2": ONE}}, "questions[4]: the subsamples must play different forced responses"),
    "one category": ({"categories": categories("never")}, "questions[4]: a question needs 2 to 6 categories, found 1"),
    "seven categories": ({"categories": categories(*"abcdefg")}, "questions[4].categories: expected at most 6 items"),
    "categories of one name": ({"categories": categories("never", "never")}, "questions[4].categories: names must differ; repeated: never"),
    "a category called truth": (
        {"categories": categories("never", "truth")},
        "other than 'truth'",
    ),
    "a category called missing": ({"categories": categories("never", "na")}, "a category cannot be called 'na'"),
    "no and yes": ({"categories": categories("no", "yes"), "faces": {}}, "no and yes are the answers of every question without categories"),
    "labels of yes and no": ({"yes": "Right"}, "expected either categories or the labels yes and no, got both"),
    "scores without an order": ({"categories": SCORED, "ordered": False}, "scores belong to categories in an order"),
    "scores that fall": ({"categories": SCORED[::-1]}, "scores must be increasing numbers, one for each of often, once, never"),
    "some scores": ({"categories": [*SCORED[:2], FREQUENCY["categories"][2]]}, "scores must be increasing numbers, one for each of"),
    "cheaters who give no answer": ({"cheaters": "always"}, "cheaters must be one of the categories never, once, often, got always"),
    "faces of a yes/no question": (
        {"categories": []},
        "faces, ordered, cheaters and purpose: background belong to a question with categories",
    ),
}


@pytest.mark.parametrize(("changes", "sentence"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_place(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        definition(questions=with_frequency(**changes))
    assert any(sentence in problem for problem in raised.value.problems), raised.value.problems


COLLIDING: dict[str, tuple[dict[str, Any], str]] = {
    "a family": (
        {"analysis": {"families": {"main": ["copying"]}}},
        "margins and families are of yes/no questions; remove copying",
    ),
    "a margin": ({"analysis": {"margins": {"copying": {"kind": "equivalence", "points": 5}}}}, "remove copying"),
}


@pytest.mark.parametrize(("changes", "sentence"), COLLIDING.values(), ids=COLLIDING)
def test_what_is_computed_for_yes_and_no_alone_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        definition(**({"questions": with_frequency()} | changes))
    assert "questions with categories (copying) do not go together with" in str(raised.value)
    assert sentence in str(raised.value)


def option(name: str, **more: Any) -> dict[str, Any]:
    text, options = more.pop("text", "How is it?"), [{"name": one, "text": one} for one in ("low", "high")]
    return {"kind": "single_choice", "name": name, "text": text, "role": "auxiliary", "options": options, **more}


READING: dict[str, tuple[dict[str, Any], str]] = {
    "strata": ({"allocation": {"planned_participants": 400, "strata": ["copying"]}}, "allocation.strata needs the answer to copying"),
    "subgroups": ({"subgroups": ["copying"]}, "subgroups needs the answer to copying"),
    "a condition": (
        {"background": [option("mood", show_if=[{"question": "copying", "any_of": ["once"]}])]},
        "a condition needs the answer to copying, which is privatised in the browser: nobody but the participant knows the true answer",
    ),
    "a text": ({"background": [option("mood", text="Why {copying|ever}?")]}, "a text needs the answer to copying"),
    "its own name": ({"background": [option("copying")]}, "copying is a background question of its own, too"),
    "people who roll no die": (
        {"direct_group": GROUP},
        "direct_group: people in it answer without a die, so that nothing would privatise copying",
    ),
    "nothing else asked": ({"questions": [FREQUENCY | {"purpose": "background"}]}, "expected one that is no background question"),
}


@pytest.mark.parametrize(("changes", "sentence"), READING.values(), ids=READING)
def test_nothing_reads_a_background_answer_that_is_privatised(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DefinitionError) as raised:
        definition(**({"questions": with_frequency(purpose="background"), "languages": ["en"]} | changes))
    assert sentence in str(raised.value)


LEVEL = {"1": ONE, "2": {"never": [1], "once": [2], "often": [3]}}


def test_faces_that_leave_something_open_are_warned_of() -> None:
    assert definition(questions=with_frequency()).warnings() == []
    (warning,) = definition(questions=with_frequency(faces=LEVEL)).warnings()
    assert str(warning).startswith("With this die the size of the effect on copying cannot be determined.")
    assert definition(questions=with_frequency(faces=LEVEL, cheaters="never")).warnings() == []
    (warning,) = definition(**one_arm(questions=with_frequency())).warnings()
    assert str(warning).startswith("With this die how many truly give each answer to copying cannot be determined.")
    assert definition(questions=[FREQUENCY], die={"subsamples": SYMMETRIC}).warnings() == [], "nobody plays the faces of yes and no"
