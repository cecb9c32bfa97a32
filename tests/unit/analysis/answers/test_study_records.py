"""Background answers become records whose shape and labels follow from the protocol; every value that can be told has a place."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from analysis.answers.study_records import (
    NOT_ANSWERED,
    as_published,
    auxiliary_of,
    named,
    records_of,
    roles_of,
    suggested_hierarchies,
    values_of,
)
from candor.records.anonymising import anonymize, read_records
from candor.records.hierarchies import read_hierarchies
from surveys.questions.background import BackgroundQuestion

OPTIONS = [{"name": name, "text": name} for name in ("a", "b", "c")]
DOCUMENT = [
    {"kind": "single_choice", "name": "major", "text": "?", "role": "quasi_identifier", "options": OPTIONS},
    {"kind": "number", "name": "year", "text": "?", "role": "quasi_identifier", "minimum": 1, "maximum": 5},
    {"kind": "number", "name": "gpa", "text": "?", "role": "sensitive", "minimum": 0, "maximum": 4, "whole": False},
    {"kind": "number", "name": "postcode", "text": "?", "role": "auxiliary", "minimum": 10000, "maximum": 99999},
    {"kind": "ordinal_scale", "name": "mood", "text": "?", "role": "quasi_identifier", "options": OPTIONS},
    {"kind": "multiple_choice", "name": "devices", "text": "?", "role": "quasi_identifier", "options": OPTIONS},
    {"kind": "multiple_choice", "name": "troubles", "text": "?", "role": "sensitive", "options": OPTIONS},
    {"kind": "circle", "name": "friends", "text": "?", "role": "quasi_identifier"},
    {"kind": "short_text", "name": "words", "text": "?"},
    {
        "kind": "group",
        "name": "courses",
        "text": "?",
        "fields": [
            {"kind": "single_choice", "name": "course", "text": "?", "role": "quasi_identifier", "options": OPTIONS},
            {"kind": "single_choice", "name": "grade", "text": "?", "role": "sensitive", "options": OPTIONS},
            {"kind": "multiple_choice", "name": "with", "text": "?", "role": "quasi_identifier", "options": OPTIONS},
        ],
    },
]
QUESTIONS = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(DOCUMENT)
ADA = {
    "major": "a",
    "year": 3,
    "gpa": 3.98,
    "postcode": 12345,
    "mood": "b",
    "devices": ["a", "c"],
    "troubles": ["b"],
    "friends": {"friends": 3, "pairs": 2},
    "words": "a secret",
    "courses": [{"course": "a", "grade": "b", "with": ["a", "b"]}, {"course": "c"}],
}


def test_a_record_has_the_answers_in_their_places() -> None:
    [record] = records_of(QUESTIONS, [ADA])
    labels = record["quasi_identifiers"]
    assert (labels["major"], labels["year"], labels["mood"], labels["friends.friends"], labels["friends.pairs"]) == (
        "a",
        "3",
        "b",
        "3",
        "2",
    )
    assert "postcode" not in labels
    assert record["auxiliary"] == {"postcode": "12345"}
    [published] = records_of(as_published(QUESTIONS, {}), [ADA])
    assert published["quasi_identifiers"]["postcode"].startswith("[")
    assert record["sensitive"] == {"gpa": "[3.6,4]"}
    courses = [child for child in record["children"] if "courses.course" in child["quasi_identifiers"]]
    assert [child["quasi_identifiers"]["courses.course"] for child in courses] == ["a", "c"]
    assert [child["sensitive"]["courses.grade"] for child in courses] == ["b", NOT_ANSWERED]
    assert [len(child["children"]) for child in courses] == [2, 0]
    assert sum("devices" in child["quasi_identifiers"] for child in record["children"]) == 2
    assert [child["sensitive"] for child in record["children"] if "troubles" in child["sensitive"]] == [{"troubles": "b"}]
    assert "secret" not in str(record)


def test_nothing_answered_is_a_value_and_an_empty_group_is_none() -> None:
    nothing, empty = records_of(QUESTIONS, [{}, {"courses": [], "devices": [], "friends": None}])
    assert nothing == empty
    told = [*nothing["quasi_identifiers"].values(), *nothing["sensitive"].values(), *nothing["auxiliary"].values()]
    assert set(told) == {NOT_ANSWERED}
    chains = suggested_hierarchies(as_published(QUESTIONS, {"as_labels": named(QUESTIONS, "sensitive")}))
    assert {name for name in labels_of(ADA) if chains[name].get(NOT_ANSWERED) != [NOT_ANSWERED, "*"]} == {
        "courses",
        "devices",
        "troubles",
        "courses.with",
    }  # a group and a multiple choice that are left open have no vertex
    assert nothing["children"] == []


def labels_of(answers: dict[str, Any]) -> set[str]:
    """The names of all labels when sensitive questions are treated as quasi-identifiers."""
    [record] = records_of(as_published(QUESTIONS, {"as_labels": named(QUESTIONS, "sensitive")}), [answers])
    waiting, found = [record], set[str]()
    while waiting:
        one = waiting.pop()
        assert one["sensitive"] == {}
        found |= one["quasi_identifiers"].keys()
        waiting += one["children"]
    return found


def test_an_empty_group_looks_like_one_left_out_and_not_like_one_with_nothing_told() -> None:
    people = [{"courses": []}, {}, {"courses": [{}]}, {"courses": [{}]}]
    asked = as_published(QUESTIONS, {})
    published = anonymize(records_of(asked, people), suggested_hierarchies(asked), k=2, class_size=2).records
    assert sorted(len(one["children"]) for one in published) == [0, 0, 1, 1]
    assert {one["children"][0]["quasi_identifiers"]["courses.course"] for one in published if one["children"]} == {NOT_ANSWERED}


def test_unconfirmed_auxiliary_answers_are_labels_and_confirmed_ones_are_as_they_are() -> None:
    people = [{**ADA, "postcode": 10000 + 997 * at} for at in range(20)]
    for confirmed in ([], ["postcode"]):
        asked = as_published(QUESTIONS, {"auxiliary": confirmed})
        assert auxiliary_of(asked) == confirmed
        published = anonymize(records_of(asked, people), suggested_hierarchies(asked), k=4, auxiliary=auxiliary_of(asked)).records
        home = "auxiliary" if confirmed else "quasi_identifiers"
        told = [one[home]["postcode"] for one in published]
        assert len(set(told)) == 20 if confirmed else min(map(told.count, told)) >= 4


def test_both_numbers_of_a_circle_are_confirmed_or_none() -> None:
    circle = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python(
        [{"kind": "circle", "name": "friends", "text": "?", "role": "auxiliary"}]
    )
    assert named(circle, "auxiliary") == {"friends": "?"}
    assert auxiliary_of(as_published(circle, {"auxiliary": ["friends"]})) == ["friends.friends", "friends.pairs"]
    assert auxiliary_of(as_published(circle, {"auxiliary": ["friends.friends"]})) == []


def test_every_value_that_can_be_told_is_a_leaf_and_the_leaves_do_not_depend_on_the_answers() -> None:
    several = [
        {"year": year, "gpa": gpa, "postcode": code, "friends": {"friends": one, "pairs": 0}}
        for year in range(1, 6)
        for gpa in (0, 1.999, 2, 4)
        for code in (10000, 10703, 55555, 99999)
        for one in (0, 8)
    ]
    asked = as_published(QUESTIONS, {})
    hierarchies = suggested_hierarchies(asked)
    forest = read_records(records_of(asked, [ADA, {}, *several]), hierarchies)
    assert len(forest.roots) == len(several) + 2
    assert set(hierarchies["year"]) == {"1", "2", "3", "4", "5", NOT_ANSWERED}
    assert hierarchies["year"]["3"] == ["3", "[3,4]", "[1,4]", "*"]
    assert hierarchies["mood"]["a"] == ["a", "a … b", "*"]
    assert hierarchies["major"][NOT_ANSWERED] == [NOT_ANSWERED, "*"]
    assert len(hierarchies["postcode"]) <= 129
    assert not {"gpa", "courses.grade"} & set(hierarchies)


@pytest.mark.parametrize(
    ("low", "high", "whole"), [(0, 1, True), (1, 8, True), (-7, 300, True), (0.5, 3.5, False), (-2, 2, True), (0, 1e6, True)]
)
def test_any_number_has_a_hierarchy_and_its_ends_are_leaves(low: float, high: float, whole: bool) -> None:
    number = {"kind": "number", "name": "n", "text": "?", "minimum": low, "maximum": high, "whole": whole}
    for role in ("quasi_identifier", "sensitive"):
        questions = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python([{**number, "role": role}])
        found = records_of(
            questions, [{"n": low}, {"n": (low + high) // 1 / 2 if not whole else (low + high) // 2}, {"n": high}, {"n": high + 5}]
        )
        chains = suggested_hierarchies(questions)
        read_hierarchies(chains)
        if role == "quasi_identifier":
            assert all(record["quasi_identifiers"]["n"] in chains["n"] for record in found)
        assert found[-1] == found[-2]


def test_roles_are_those_of_the_protocol() -> None:
    assert [name for name, role in roles_of(QUESTIONS).items() if role == "sensitive"] == ["gpa", "troubles", "courses.grade"]


def test_every_sensitive_value_that_can_be_told_is_known() -> None:
    circle = {"kind": "circle", "name": "team", "text": "?", "role": "sensitive"}
    asked = TypeAdapter(tuple[BackgroundQuestion, ...]).validate_python([*DOCUMENT, circle])
    known = values_of(asked)
    assert list(known) == ["gpa", "troubles", "courses.grade", "team.friends", "team.pairs"]
    [record] = records_of(asked, [ADA | {"team": {"friends": 8, "pairs": 28}}])
    told = [*record["sensitive"].items(), *(pair for child in record["children"] for pair in child["sensitive"].items())]
    assert len(told) == 6
    assert [pair for pair in told if pair[1] not in known[pair[0]]] == [("courses.grade", NOT_ANSWERED)]


def test_such_records_can_be_protected() -> None:
    people = [{**ADA, "year": 1 + n % 5, "courses": ADA["courses"][: n % 3], "gpa": n % 5 / 2} for n in range(40)]
    asked = as_published(QUESTIONS, {})
    release = anonymize(records_of(asked, people), suggested_hierarchies(asked), k=4, diversity={"gpa": 2})
    assert len(release.records) == 40
