"""Estimates from published records: the right answer by hand and by simulation, and every way in which a package may not fit together."""

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from candor.designs.design import Design
from candor.packages.protected_records import covariates_of, results_of_records
from candor.packages.record_promises import faults_of_records
from candor.packages.replicate import compared_records
from candor.software import software

DESIGN = Design.of(
    arms=("slides", "face"),
    control="slides",
    subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
)
PROTOCOL = {
    "design": DESIGN.to_document(),
    "questions": [{"name": "lost", "column": "answer_lost"}],
    "records": {"k": 5, "l": {"gpa": 2}, "suppressed": 0},
}
Records = list[dict[str, Any]]


def record(year: str, gpa: str, courses: int, *, arm: str, subsample: str, said: int | None) -> dict[str, Any]:
    child = {"quasi_identifiers": {"course": "CS"}, "sensitive": {"grade": "a"}, "children": []}
    return {
        "quasi_identifiers": {"year": year},
        "sensitive": {"gpa": gpa},
        "children": [child] * courses,
        "released": {"arm": arm, "subsample": subsample, "answers": {"lost": said}},
    }


def people(n: int = 400, seed: int = 3) -> Records:
    rng = random.Random(seed)
    found = []
    for number in range(n):
        year = rng.choice(["[1,2]", "[3,4]", "*"])
        truth = rng.random() < {"[1,2]": 0.15, "[3,4]": 0.8, "*": 0.45}[year]
        arm, subsample = ("slides", "face")[number % 2], ("1", "2")[number // 2 % 2]
        no, yes = (2, 1) if subsample == "1" else (1, 2)
        die = rng.randrange(6)
        said = die < yes or (die < 6 - no and truth)
        found.append(record(year, "abcd"[number // 4 % 4], number % 2, arm=arm, subsample=subsample, said=int(said)))
    return found


def rows_of(records: Records) -> list[dict[str, str]]:
    released = [one["released"] for one in records]
    return [{"arm": one["arm"], "subsample": one["subsample"], "answer_lost": str(one["answers"]["lost"])} for one in released]


def test_covariates_are_what_is_published() -> None:
    found = covariates_of(people(60))
    assert set(found) == {"year", "gpa", "course, grade: number", "course: CS", "grade: a"}
    assert set(found["year"]) == {"[1,2]", "[3,4]", "*"}
    assert found["course: CS"].tolist() == [0.0, 1.0] * 30


def test_the_commonest_twelve_labels_of_children_that_five_have_and_five_lack_are_columns() -> None:
    """Of 60 students 55 take the first course, and 18, 17, … and 6 the next, of which the last two are too many."""
    records, taken = people(60), {("course", "first"): 55, **{("course", f"C{number}"): 18 - number for number in range(13)}}
    taken |= {("lab", "all but four"): 56, ("lab", "five"): 5, ("lab", "four"): 4}
    for number, one in enumerate(records):
        names = [{kind: label} for (kind, label), times in taken.items() if number < times]
        one["children"] = [{"quasi_identifiers": labels, "sensitive": {}, "children": []} for labels in names]
    columns = {name for name in covariates_of(records) if ": " in name and not name.endswith(": number")}
    assert columns == {"course: first", *(f"course: C{number}" for number in range(11)), "lab: five"}


def test_the_order_of_siblings_changes_nothing_and_blanks_are_missing() -> None:
    records = people(60)
    for one in records:
        one["children"] = [
            *one["children"],
            {"quasi_identifiers": {"course": "MA"}, "sensitive": {"grade": None}, "children": []},
        ]
    before = {name: values.tolist() for name, values in covariates_of(records).items()}
    for one in records:
        one["children"] = one["children"][::-1]
    assert {name: values.tolist() for name, values in covariates_of(records).items()} == before
    assert "grade: None" not in before


def test_adjusted_estimates_gain_from_generalised_covariates_and_find_no_effect() -> None:
    records = people(2000)
    found = results_of_records(records, PROTOCOL, level=0.95)
    assert found["covariates"] == "generalised"
    effects = {one["method"]: one for one in found["outcomes"]["lost"]["effects"]}
    assert set(effects) == {"doubly_robust", "efficient_with_covariates"}
    for one in effects.values():
        assert abs(one["value"]) < 5 * one["standard_error"]
    unadjusted = np.sqrt(4 * 0.25 / 2000) / 0.5
    assert effects["doubly_robust"]["standard_error"] < 1.35 * unadjusted
    assert {row["variable"] for row in found["balance"]} >= {"year: [1,2]", "year: *", "course: CS"}
    assert found["risks"]["records"] == 2000
    json.dumps(found, allow_nan=False)


def test_a_survey_has_risks_and_nothing_to_compare() -> None:
    alone = Design.of(
        arms=("all",),
        control="all",
        subsamples={"1": {"forced_no": "2/6", "forced_yes": "1/6"}, "2": {"forced_no": "1/6", "forced_yes": "2/6"}},
    )
    records = people(60)
    for one in records:
        one["released"]["arm"] = "all"
    found = results_of_records(records, {**PROTOCOL, "design": alone.to_document()}, level=0.95)
    assert set(found) == {"covariates", "n", "risks"}


def test_too_few_answers_are_said_and_the_rest_is_there() -> None:
    records = people(8)
    for one in records[1:]:
        one["released"]["answers"]["lost"] = None
    found = results_of_records(records, PROTOCOL, level=0.95)
    assert found["outcomes"]["lost"].keys() == {"n", "not_estimated"}
    assert found["outcomes"]["lost"]["n"] == 1


def test_records_and_rows_that_fit_have_no_fault() -> None:
    records = people(200)
    random.Random(1).shuffle(records)
    assert faults_of_records(records, PROTOCOL, rows_of(people(200))) == []


Change = Callable[[Records], object]
CHANGES: dict[str, tuple[Change, str]] = {
    "another label": (lambda records: records[0]["quasi_identifiers"].update(year="[9,9]"), "only 1 records look like this one"),
    "a row number": (lambda records: records[0].update(row=1), "unknown|extra field"),
    "another answer": (lambda records: records[0]["released"].update(arm="nobody's"), "found 'arm': \"nobody's\""),
    "another arm": (
        lambda records: next(one for one in records if one["released"]["arm"] == "slides")["released"].update(arm="face"),
        "a record has answers that no row of data.csv has",
    ),
    "another question": (lambda records: records[0]["released"]["answers"].update({"row 17": None}), "extra field: released"),
    "shuffled without a word": (lambda records: [one.update(anatomy=True) for one in records], "do not agree whether"),
    "a record less": (lambda records: records.pop(), "expected 200 records, of which 0 were left out; found 199"),
    "alike": (lambda records: [one["sensitive"].update(gpa="a") for one in records], "expected ℓ = 2"),
    "a blank": (lambda records: records[0]["sensitive"].update(gpa=None), "blank"),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_record_is_named(change: Change, said: str) -> None:
    records = people(200)
    rows = rows_of(records)
    change(records)
    [fault, *_more] = faults_of_records(records, PROTOCOL, rows)
    assert any(part in fault for part in said.split("|"))


def test_every_number_that_follows_is_compared_and_the_check_of_the_package_is_asked() -> None:
    records = people(200)
    rows = rows_of(records)
    published = {
        "software": software(),
        "level": 0.95,
        "records": json.loads(json.dumps(results_of_records(records, PROTOCOL, level=0.95))),
    }
    assert [wrong for _values, wrong in compared_records(records, PROTOCOL, published, rows).values()] == [[], []]
    published["records"]["outcomes"]["lost"]["effects"][0]["value"] += 1e-6
    published["records"]["balance"][0]["difference"] += 1e-6
    found = compared_records(records, PROTOCOL, published, rows, check=lambda *_records, **_promised: iter(["none of this holds"]))
    assert found["(records hold)"][1] == [("records.json", "no fault", "none of this holds")]
    assert [place for place, _one, _other in found["(records)"][1]] == [
        "records.outcomes.lost.effects.0.value",
        "records.balance.0.difference",
    ]
