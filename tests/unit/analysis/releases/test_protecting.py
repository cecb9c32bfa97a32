"""The parameters of protected records: every number between the ends is taken, and none beyond them."""

from typing import Any

import pytest

from analysis.answers.record_schemas import RecordSchema
from analysis.packages.errors import ReleaseError
from analysis.releases.protecting import USUAL, checked_choices

SCHEMA = RecordSchema(
    roles={"gender": "quasi-identifier", "grade": "sensitive", "gpa": "sensitive"},
    words={"gender": "Gender", "grade": "Grade", "gpa": "Mean grade"},
    hierarchies={},
    nested=frozenset(),
    values={},
    labels={"grade": "Grade", "gpa": "Mean grade"},
    auxiliary={"devices": "Devices", "cards": "Cards"},
)


@pytest.mark.parametrize(
    "chosen",
    [
        {"k": 2, "class_size": 2},
        {"k": 1000, "class_size": 1000},
        {"suppress": 0},
        {"suppress": 0.1},
        {"l": {"grade": 1}},
        {"l": {"grade": 20}},
    ],
    ids=str,
)
def test_the_ends_are_taken(chosen: dict[str, Any]) -> None:
    assert checked_choices(chosen, SCHEMA) == {**USUAL, **chosen}


def test_a_question_that_becomes_a_label_may_have_its_zero() -> None:
    """A form sends a number for every sensitive question."""
    chosen = {"l": {"grade": 0}, "as_labels": ["grade"]}
    assert checked_choices(chosen, SCHEMA) == {**USUAL, "as_labels": ["grade"]}


def test_the_order_of_questions_makes_no_other_choice() -> None:
    chosen = {"as_labels": ["grade", "gpa"], "asked": ["devices", "cards"]}
    assert checked_choices(chosen, SCHEMA) == {**USUAL, "as_labels": ["gpa", "grade"], "asked": ["cards", "devices"]}


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"k": 1, "class_size": 5}, "k: expected a whole number from 2 to 1000, found 1"),
        ({"k": 1001, "class_size": 1001}, "k: expected"),
        ({"k": 5.0}, "k: expected"),
        ({"k": True}, "k: expected"),
        ({"class_size": 4}, "Class size: expected a whole number from k = 5"),
        ({"class_size": 1001}, "Class size: expected"),
        ({"suppress": -0.001}, "Share left out: expected"),
        ({"suppress": 0.1001}, "Share left out: expected"),
        ({"suppress": 0.155}, "Share left out: expected a number from 0 % to 10 %, found 15.5 %."),
        ({"suppress": "half"}, "Share left out: expected a number from 0 % to 10 %, found half."),
        ({"suppress": False}, "Share left out: expected"),
        ({"suppress": float("nan")}, "Share left out: expected"),
        ({"l": {"grade": 21}}, "ℓ of grade: expected"),
        ({"l": {"grade": -1}}, "ℓ of grade: expected"),
        ({"l": {"grade": True}}, "ℓ of grade: expected"),
        ({"l": {"gender": 0}}, r"ℓ: expected sensitive questions \(grade, gpa\), found gender"),
        ({"l": {"grade": 2}, "as_labels": ["grade", "gpa"]}, r"ℓ: expected sensitive questions \(there are none\), found grade"),
        ({"as_labels": ["gender"]}, "Expected some of the questions grade, gpa, found gender"),
        ({"asked": ["gender"]}, "Expected some of the questions devices, cards, found gender"),
        ({"anatomy": "yes"}, "Anatomy: expected yes or no"),
    ],
    ids=str,
)
def test_nothing_beyond_them_is_taken(chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(ReleaseError, match=said):
        checked_choices(chosen, SCHEMA)
