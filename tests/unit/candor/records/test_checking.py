"""The checker catches every change that breaks a promise, names it, and lets harmless ones pass."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from candor.records import checking
from candor.records.anonymising import anonymize
from tests.unit.candor.records.students import HIERARCHIES, students, vertex

K, LEVELS = 4, {"grade": 2, "gpa": 2}
GROUPS = {"arm": ["slides", "face"], "subsample": ["1", "2"], "answers": ["attention"]}
PUBLISHED = anonymize(students(60), HIERARCHIES | {"gpa": {"interval": [0.5]}}, k=K, diversity=LEVELS, class_size=5).records


def first(records: list[Any], **options: Any) -> checking.Violation | None:
    return next(checking.violations(records, **{"k": K, "diversity": LEVELS, "groups": GROUPS} | options), None)


def own(records: list[Any]) -> list[Any]:
    """Records that share no object, so that one can be changed alone."""
    return json.loads(json.dumps(records))


def with_courses(records: list[Any]) -> Any:
    return next(record for record in records if record["children"])


def a_leaf(vertex: Any) -> Any:
    return a_leaf(vertex["children"][0]) if vertex["children"] else vertex


def of_smallest_class(records: list[Any]) -> Any:
    forms = checking.Forms()
    numbers = [forms.look(record)[0] for record in records]
    return records[min(range(len(records)), key=lambda at: numbers.count(numbers[at]))]


def a_full_orbit(records: list[Any]) -> list[Any]:
    """All vertices that look like one whose grade is told."""
    forms = checking.Forms()
    looked = [forms.look(record) for record in records]
    root, child = next((one[0], one_child[0]) for one in looked for one_child in one[2] if one_child[1]["sensitive"]["grade"] is not None)
    return [one_child[1] for one in looked if one[0] == root for one_child in one[2] if one_child[0] == child]


BREAKING: dict[str, tuple[str, Callable[[list[Any]], object]]] = {
    "a vertex is deleted": ("k", lambda records: with_courses(records)["children"].pop()),
    "a vertex is added": ("k", lambda records: records[0]["children"].append(vertex({"course": "CS11"}, {"grade": "A"}))),
    "a root is relabelled": ("k", lambda records: records[0]["quasi_identifiers"].update(gender="X")),
    "a child is relabelled": ("k", lambda records: with_courses(records)["children"][0]["quasi_identifiers"].update(course="X")),
    "a label has another type": ("labels", lambda records: records[0]["quasi_identifiers"].update(gender=True)),
    "a vertex is moved": (
        "k",
        lambda records: with_courses(records)["children"].append(
            vertex({}, {}, [with_courses(records)["children"].pop()]),
        ),
    ),
    "a field is added": ("extra field", lambda records: with_courses(records)["children"][0].update(note="of Bob")),
    "a field is added to a record that looks like others": ("extra field", lambda records: records[-1].update(note="of Bob")),
    "a child says what only a root may": (
        "extra field",
        lambda records: with_courses(records)["children"][0].update(released={"arm": "slides"}),
    ),
    "a row number is added": ("extra field", lambda records: [record.update(row=at) for at, record in enumerate(records)]),
    "a row number hides beside the answers": (
        "extra field",
        lambda records: [one.update(released={"row": at}) for at, one in enumerate(records)],
    ),
    "a row number hides in an answer": ("extra field", lambda records: [one.update(released={"row": 1}) for one in records]),
    "a row number hides in the arm": ("extra field", lambda records: [one.update(released={"arm": at}) for at, one in enumerate(records)]),
    "a number hides in a group that does not exist": (
        "extra field",
        lambda records: [one.update(released={"arm": f"slides {at}", "subsample": "1"}) for at, one in enumerate(records)],
    ),
    "a number hides in an answer that is true": (
        "extra field",
        lambda records: records[0].update(released={"answers": {"attention": True}}),
    ),
    "a number hides beside the questions": (
        "extra field",
        lambda records: [one.update(released={"answers": {"attention": 1, f"row {at}": None}}) for at, one in enumerate(records)],
    ),
    "the answers are a text": ("extra field", lambda records: records[0].update(released={"answers": "row 17"})),
    "the mark of shuffled values says more": ("extra field", lambda records: [one.update(anatomy=at) for at, one in enumerate(records)]),
    "one record is marked as shuffled": ("k", lambda records: records[0].update(anatomy=True)),
    "a child is marked as shuffled": ("extra field", lambda records: with_courses(records)["children"][0].update(anatomy=True)),
    "a release is no object": ("fields", lambda records: records[0].update(released=3)),
    "auxiliary attributes are no object": ("fields", lambda records: records[0].update(auxiliary=[1])),
    "an index column is added": (
        "k",
        lambda records: [record["quasi_identifiers"].update(index=at) for at, record in enumerate(records)],
    ),
    "an unconfirmed attribute is added": ("k", lambda records: records[0].update(auxiliary={"room": "R1"})),
    "a sensitive attribute is missing": ("k", lambda records: records[0]["sensitive"].clear()),
    "a sensitive value holds a record": ("values", lambda records: records[0]["sensitive"].update(gpa={"gpa": 3})),
    "a field is missing": ("fields", lambda records: with_courses(records)["children"][0].pop("sensitive")),
    "children are no list": ("fields", lambda records: records[0].update(children={})),
    "children are no list where all else looks like others": ("fields", lambda records: a_leaf(records[-1]).update(children={})),
    "a child is no object": ("fields", lambda records: with_courses(records)["children"].append(3)),
    "one value is blank": ("blanks", lambda records: a_full_orbit(records)[0]["sensitive"].update(grade=None)),
    "all values are alike": ("ℓ", lambda records: [one["sensitive"].update(grade="A") for one in a_full_orbit(records)]),
    "a number is published as it is": ("bins", lambda records: [one["sensitive"].update(gpa=1 + at / 7) for at, one in enumerate(records)]),
}


@pytest.mark.parametrize("change", BREAKING)
def test_every_change_that_breaks_a_promise_is_caught_and_named(change: str) -> None:
    rule, break_it = BREAKING[change]
    records = own(PUBLISHED)
    assert first(records) is None
    break_it(records)
    broken = first(records)
    assert broken is not None
    assert broken.rule == rule, broken
    assert 1 <= broken.record <= len(records)
    assert broken.vertex.startswith("root")


def test_a_removed_record_is_caught() -> None:
    records = own(PUBLISHED)
    smallest = of_smallest_class(records)
    form = json.dumps(smallest["quasi_identifiers"])
    while (broken := first(records)) is None:
        records.remove(of_smallest_class(records))
    assert broken.rule in ("k", "ℓ"), form


def test_the_order_of_siblings_and_records_is_harmless() -> None:
    records, rng = own(PUBLISHED), random.Random(1)
    rng.shuffle(records)
    for record in records:
        rng.shuffle(record["children"])
        record["quasi_identifiers"] = dict(reversed(record["quasi_identifiers"].items()))
    assert first(records) is None


def test_a_violation_names_record_vertex_and_rule() -> None:
    records = own(PUBLISHED)
    at = next(at for at, record in enumerate(records) if record["children"])
    records[at]["children"][0]["note"] = "of Bob"
    course = records[at]["children"][0]["quasi_identifiers"]["course"]
    assert str(first(records)) == f"record {at + 1}, root → course {course}: extra field: 'note'"


def test_groups_answers_and_marks_that_there_are_pass() -> None:
    records = own(PUBLISHED)
    for at, one in enumerate(records):
        answers = {"attention": (0, 1, None)[at % 3]}
        one.update(released={"arm": GROUPS["arm"][at % 2], "subsample": "1", "answers": answers}, anatomy=True)
    assert first(records) is None


def test_a_blank_orbit_tells_nothing_and_passes() -> None:
    records = [vertex({"gender": "F"}, {"gpa": None}) for _ in range(4)]
    assert first(records, k=4) is None


def test_no_record_is_no_release() -> None:
    assert first([]).rule == "k"


def test_t_is_half_the_distance_from_the_label_in_the_file() -> None:
    courses = [("CS", "A"), ("CS", "A"), ("EE", "A"), ("EE", "B")]
    records = [vertex({"major": major}, {}, [vertex({"course": "X"}, {"grade": grade})]) for major, grade in courses]
    # Three of four grades of X are A: 1/4 from "all A", and 1/4 from "half A".
    assert first(records, k=2, diversity={}, t=0.25) is None
    assert first(records, k=2, diversity={}, t=0.24).rule == "t"


@pytest.mark.parametrize(
    ("by", "values", "holds"),
    [
        ("distinct", "AAAAB", True),
        ("frequency", "AAAAB", False),
        ("frequency", "AABB", True),
        ("entropy", "AABB", True),
        ("entropy", "AAAB", False),
    ],
)
def test_diversity_is_counted_in_three_ways(by: str, values: str, holds: bool) -> None:
    records = [vertex({"gender": "F"}, {"grade": value}) for value in values]
    assert (first(records, k=2, diversity={"grade": 2}, by=by) is None) == holds


def test_attributes_that_are_named_as_auxiliary_may_differ_and_no_other_one() -> None:
    records = own(PUBLISHED)
    for at, one in enumerate(records):
        one.update(auxiliary={"room": f"R{at}"})
    assert first(records, auxiliary=["room"]) is None
    records[0]["auxiliary"]["name"] = "room"
    assert first(records, auxiliary=["room"]).rule == "k"


def test_deep_and_hostile_files_are_refused_without_a_crash() -> None:
    deep: Any = vertex({"a": "x"})
    for level in range(200):
        assert (first([deep] * 4) is None) == (level <= checking.DEEPEST)
        deep = vertex({"a": "x"}, {}, [deep])
    for strange in (deep, None, 3, "x", [], {"quasi_identifiers": None, "sensitive": {}, "children": []}):
        assert first([strange] * 4).rule == "fields"


def test_the_checker_is_short_and_travels_alone(tmp_path: Path) -> None:
    source = Path(checking.__file__).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 210
    imported = {name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
    (tmp_path / "check.py").write_text(source, encoding="utf-8")
    (tmp_path / "records.json").write_text(json.dumps(PUBLISHED), encoding="utf-8")
    (tmp_path / "twice.json").write_text('[{"a": 1, "a": 2}]', encoding="utf-8")

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, "-I", "check.py", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    assert run("records.json", "--k", str(K), "--l", "grade=2,gpa=2") == (
        0,
        f"holds: {len(PUBLISHED)} records, k = {K}, ℓ of grade = 2, ℓ of gpa = 2\n",
    )
    assert run("records.json", "--k", "50")[0] == 1
    known = "expected a list, k from 1, a whole ℓ of gpa, grade, score; found"
    for promised, found in (  # a demand that nothing could break was said to hold
        (("--k", str(K), "--l", "grad=2"), "ℓ of grad = 2"),
        (("--k", str(K), "--l", "birth=2"), "ℓ of birth = 2"),
        (("--k", "0", "--l", "gpa=-2"), "k = 0, ℓ of gpa = -2"),
        (("--k", str(K), "--l", "gpa=x"), "ℓ of gpa = x"),
        (("--k", str(K), "--l", "gpa=" + "9" * 5000), "ℓ of gpa = 99"),
        (("--k", str(K), "--l", "gpa"), "ℓ of  = gpa"),
    ):
        done = run("records.json", *promised)
        assert (done[0], done[1].startswith(f"records.json: {known} {found}"), len(done[1]) < 1100) == (2, True, True)
    assert run("twice.json", "--k", "2")[0] == 2
    (tmp_path / "malformed.json").write_text('[{"quasi_identifiers": {}}]', encoding="utf-8")
    assert run("malformed.json", "--k", "2")[0] == 2


def test_no_name_of_a_stranger_moves_the_cursor_of_a_terminal(tmp_path: Path) -> None:
    """Attack: the name of an attribute writes “holds” over the line that says what is broken."""
    hostile = "\r\x1b[2Kholds: 600 records\x9b2J\u202e\ud800"
    broken, twice, named = tmp_path / "broken.json", tmp_path / "twice.json", tmp_path / "named.json"
    broken.write_text(json.dumps([vertex({hostile * 999: hostile}), vertex({"a": "b"})]), encoding="utf-8")
    twice.write_text(f"[{{{json.dumps(hostile)}: 1, {json.dumps(hostile)}: 2}}]", encoding="utf-8")
    named.write_text(json.dumps([vertex({"a": "b"}, {hostile: "c"})] * 2), encoding="utf-8")
    for arguments, code in (
        ([str(broken), "--k", "2"], 1),
        ([str(twice), "--k", "2"], 2),
        ([str(named), "--k", "2", "--l", "grade=2"], 2),
        ([str(named), "--k", "2", "--l", f"{hostile}=2"], 1),
    ):
        said: list[str] = []
        assert checking.main(arguments, say=said.append) == code
        assert all(line.isprintable() and len(line) < 6 * 1100 for line in said), said


def test_the_checker_does_not_change_what_it_checks() -> None:
    records = own(PUBLISHED)
    before = deepcopy(records)
    assert first(records) is None
    assert records == before
