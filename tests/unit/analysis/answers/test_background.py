"""Background answers become covariates of the kind that the study's definition states."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from analysis.answers.background import Covariates, columns_of, without_rare_choices
from analysis.answers.letter_grades import points_of
from surveys.questions.background import Answered, SingleChoice
from tests.factories import definition


def covariates_of(asked: Sequence[Answered], answers: Sequence[Mapping[str, object]]) -> Covariates:
    """The columns of people whose backgrounds all differ."""
    return without_rare_choices(asked, columns_of(asked, answers), people=np.ones(len(answers), dtype=np.intp))


def columns(*answers: dict[str, object]) -> dict[str, list[object]]:
    return {name: values.tolist() for name, values in covariates_of(definition().background, answers).items()}


def test_each_kind_of_question_becomes_its_own_kind_of_column() -> None:
    found = columns(
        {"gender": "woman", "year": 2, "devices": ["phone", "room"], "courses": [{"course": "other", "grade": 80}, {"grade": 90}]}
    )
    assert found == {
        "gender": ["woman"],
        "year": [2.0],
        "devices: phone": [1.0],
        "devices: laptop": [0.0],
        "devices: room": [1.0],
        "courses: entries": [2.0],
        "courses: mean grade": [85.0],
    }


def test_unanswered_questions_stay_missing() -> None:
    found = columns({})
    assert found.pop("gender") == [""]
    assert len(found) == 6
    assert all(np.isnan(values[0]) for values in found.values())


def test_entries_without_the_number_count_but_have_no_mean() -> None:
    found = columns({"courses": [{"course": "other"}]})
    assert found["courses: entries"] == [1.0]
    assert np.isnan(found["courses: mean grade"][0])


def test_a_question_called_like_the_designs_own_column_gets_another_name() -> None:
    question = {"kind": "number", "name": "subsample", "text": "?", "role": "auxiliary", "minimum": 0, "maximum": 9}
    assert list(covariates_of(definition(background=[question]).background, [{"subsample": 3}])) == ["background subsample"]


SCORED = [{"name": name, "text": name, "score": score} for name, score in (("a", 4), ("b", 3), ("f", 0))]
SCALE = {"kind": "ordinal_scale", "name": "grade", "text": "?", "role": "sensitive", "options": SCORED}
WORDS = {"kind": "short_text", "name": "major", "text": "?"}


def test_an_ordinal_scale_is_its_score_alone_and_in_entries() -> None:
    group = {"kind": "group", "name": "courses", "text": "?", "fields": [SCALE]}
    asked = definition(background=[SCALE, group]).background
    found = covariates_of(asked, [{"grade": "b", "courses": [{"grade": "a"}, {"grade": "f"}, {}]}, {"grade": "gone"}])
    assert {name: values.tolist()[0] for name, values in found.items()} == {"grade": 3, "courses: entries": 3, "courses: mean grade": 2}
    assert np.isnan(found["grade"][1]), "an option that an amendment took away"


def test_short_texts_are_no_covariates() -> None:
    assert covariates_of(definition(background=[WORDS]).background, [{"major": "history"}]) == {}
    assert list(covariates_of(definition(background=[WORDS, SCALE]).background, [{"major": "history"}])) == ["grade"]


def test_a_circle_is_its_friends_and_its_linked_pairs() -> None:
    circle = {"kind": "circle", "name": "team", "text": "?", "role": "sensitive"}
    found = covariates_of(definition(background=[circle]).background, [{"team": {"friends": 3, "pairs": 2}}, {}, {"team": 3}])
    assert {name: values.tolist()[0] for name, values in found.items()} == {"team: friends": 3, "team: pairs": 2}
    assert all(np.isnan(values[1:]).all() for values in found.values()), "no list, or the answer to an earlier question of this name"


GRADES = {"a": "A", "a-minus": "A-", "ab": "AB", "b": "B", "c": "C", "f": "F", "pass": "Pass"}
COURSES = ("algebra", "logic", "poetry")


def grades_of(texts: dict[str, str]) -> SingleChoice:
    options = [{"name": name, "text": text} for name, text in texts.items()]
    return SingleChoice.model_validate({"kind": "single_choice", "name": "grade", "text": "?", "role": "sensitive", "options": options})


def with_courses(*answers: object) -> dict[str, list[float]]:
    courses = {"kind": "single_choice", "name": "course", "text": "?", "role": "quasi_identifier"}
    courses["options"] = [{"name": name, "text": name} for name in COURSES]
    group = {"kind": "group", "name": "courses", "text": "?", "fields": [courses, grades_of(GRADES).model_dump()]}
    background = definition(background=[group]).background
    return {name: values.tolist() for name, values in covariates_of(background, [{"courses": one} for one in answers]).items()}


def test_letter_grades_are_points() -> None:
    assert points_of(grades_of(GRADES)) == {"a": 4.0, "a-minus": 3.7, "ab": 3.5, "b": 3.0, "c": 2.0, "f": 0.0}
    question = grades_of(GRADES)
    found = covariates_of([question], [{"grade": "a-minus"}, {"grade": "f"}, {"grade": "pass"}, {}])["grade"]
    assert found[:2].tolist() == [3.7, 0.0]
    assert np.isnan(found[2:]).all()


@pytest.mark.parametrize(
    "texts",
    [{"a": "A", "b": "B", "c": "C"}, {"a": "Biology", "b": "Chemistry", "f": "Physics"}, {"a": "A", "f": "F"}, {"x": "A+", "y": "often"}],
)
def test_choices_that_may_be_something_else_stay_categories(texts: dict[str, str]) -> None:
    assert points_of(grades_of(texts)) is None
    assert covariates_of([grades_of(texts)], [{"grade": next(iter(texts))}])["grade"].tolist() == [next(iter(texts))]


def test_translated_grades_count_when_all_languages_agree() -> None:
    options = [{"name": f"g{index}", "text": {"en": text, "de": text}} for index, text in enumerate(("A", "B\N{MINUS SIGN}", "F"))]
    question = {"kind": "single_choice", "name": "grade", "text": "?", "role": "sensitive", "options": options}
    assert points_of(SingleChoice.model_validate(question)) == {"g0": 4.0, "g1": 2.7, "g2": 0.0}
    options[0]["text"]["de"] = "Eins"
    assert points_of(SingleChoice.model_validate(question)) is None


def test_the_courses_of_a_group_are_indicators_and_their_letter_grades_a_mean() -> None:
    both = [{"course": "algebra", "grade": "a"}, {"course": "logic", "grade": "b"}]
    found = with_courses(*[both] * 5, *[[{"course": "logic", "grade": "f"}, {"course": "logic", "grade": "pass"}]] * 5, None)
    assert list(found) == ["courses: entries", "courses: course algebra", "courses: mean grade"]  # everybody has logic, nobody poetry
    assert found["courses: course algebra"][:10] == [1.0] * 5 + [0.0] * 5
    assert found["courses: mean grade"][:10] == [3.5] * 5 + [0.0] * 5
    assert all(np.isnan(values[10]) for values in found.values())


def test_a_rare_course_makes_no_column_since_it_would_be_a_person() -> None:
    few, many = [{"course": "poetry"}], [{"course": "algebra"}]
    assert "courses: course poetry" not in with_courses(*[few] * 4, *[many] * 9)
    assert with_courses(*[few] * 5, *[many] * 9)["courses: course poetry"] == [1.0] * 5 + [0.0] * 9


def test_a_choice_is_rare_by_people_and_not_by_backgrounds() -> None:
    """Two backgrounds, of four people and of six: the choice of the four is rare, that of the six is usual only where five lack it."""
    [question] = [one for one in definition().background if one.name == "courses"]
    found = columns_of([question], [{"courses": [{"course": "other"}]}, {"courses": [{"course": "probability"}]}])
    assert {"courses: course other", "courses: course probability"} <= found.keys()

    def kept(*people: int) -> set[str]:
        names = without_rare_choices([question], found, people=np.array(people))
        return {name for name in names if name.startswith("courses: course")}

    assert kept(1, 1) == kept(4, 6) == set()
    assert kept(5, 6) == {"courses: course other", "courses: course probability"}
