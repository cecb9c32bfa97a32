"""Hierarchies and roles of which nothing is guessed: two leaves that are alike, and a column without a role."""

import json
from pathlib import Path

import pytest

from candor.records.hierarchies import Intervals, interval_label
from tests.unit.candor.records.students import students
from tests.unit.candor.records.test_risk_and_answers import refused


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_two_leaves_that_are_alike_are_refused() -> None:
    Path("R.json").write_text(json.dumps(students(20)))
    Path("H.json").write_text('{"gender": {"F": ["F", "*"], "F": ["F", "female", "*"]}}')
    Path("H").mkdir()
    Path("H/gender.csv").write_text("F;*\nM;*\nF;*\n")
    for hierarchies, said in (
        ("H.json", "'F' stands twice in one object"),
        ("H", "hierarchy 'gender', line 3: the value 'F' stands twice"),
    ):
        assert said in refused("anonymize", "R.json", "--hierarchies", hierarchies, "--k", "2", "-o", "out.json")


def test_a_column_without_a_role_is_named() -> None:
    Path("T.csv").write_text("gender,grade\n" + "F,A\nM,B\n" * 10)
    Path("H.json").write_text('{"gender": {"F": ["F", "*"], "M": ["M", "*"]}}')
    Path("roles.json").write_text('{"gender": "quasi_identifier"}')
    said = refused("anonymize", "T.csv", "--hierarchies", "H.json", "--roles", "roles.json", "--k", "2", "-o", "out.csv")
    assert "T.csv: the table: 'grade' has no role; expected one of" in said


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ((2, 3, 7, 12), {"[0,4]": 0.2, "[5,9]": 0.4, "[10,14]": 0.2}),
        ((2.0, 3.5, 7.0, 12.0), {"[0,5)": 0.3, "[5,10)": 0.5, "[10,15)": 0.2}),
        ((3, 3), {"[0,4]": 0.0}),
    ],
)
def test_an_interval_loses_its_share_of_what_lies_between_the_smallest_and_the_largest_value(numbers, wanted) -> None:
    """By hand: [0,4] of 2 to 12 holds 2 to 4."""
    tree = Intervals("year", 5)
    leaves = [tree.leaf(number) for number in numbers]
    tree.settle()
    assert {tree.labels[tree.parents[leaf]]: pytest.approx(tree.losses[tree.parents[leaf]]) for leaf in leaves} == wanted
    assert {tree.losses[leaf] for leaf in leaves} == {0.0}
    assert tree.losses[0] == float(len(set(numbers)) > 1)


@pytest.mark.parametrize(
    ("number", "width", "wanted"),
    [
        (1764547203789, 1000, "[1764547203000,1764547203999]"),
        (123456789012345678, 10, "[123456789012345670,123456789012345679]"),
        (-1764547203789, 1000, "[-1764547204000,-1764547203001]"),
        (1764547203.789, 0.01, "[1764547203.78,1764547203.79)"),
        (0.7, 0.1, "[0.7,0.8)"),
    ],
)
def test_an_interval_of_a_time_in_milliseconds_holds_it(number: float, width: float, wanted: str) -> None:
    """Twelve digits were written, so that the interval of a number with more did not hold it."""
    tree = Intervals("time", width)
    leaf = tree.leaf(number)
    tree.settle()
    assert tree.labels[tree.parents[leaf]] == wanted
    low, high = wanted.strip("[])").split(",")
    bins = interval_label(number, width, name="time").strip("[)").split(",")
    assert type(number)(bins[0]) <= number < type(number)(bins[1])
    assert type(number)(low) <= number <= type(number)(high)
