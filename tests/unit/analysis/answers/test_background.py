"""Background answers become covariates of the kind that the study's definition states."""

import numpy as np

from analysis.answers.background import covariates_of
from tests.factories import definition


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


GRADES = [{"name": name, "text": name, "score": score} for name, score in (("a", 4), ("b", 3), ("f", 0))]
SCALE = {"kind": "ordinal_scale", "name": "grade", "text": "?", "role": "sensitive", "options": GRADES}
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
