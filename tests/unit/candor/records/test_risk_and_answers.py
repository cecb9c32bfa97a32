"""Risks against simulations and by hand; answers of reconstructions by hand; closeness, anatomy and tables."""

from __future__ import annotations

import errno
import itertools
import json
import random
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from candor.cli.inputs import complete_file
from candor.errors import QuestionError
from candor.records import checking
from candor.records.anonymising import anonymize
from candor.records.checking import violations
from candor.records.hierarchies import from_chains
from candor.records.reconstruction import Query, Reconstruction, average_relative_error, desk_relative_error, read_query
from candor.records.risk import form_of, linked, risks
from candor.records.schema import ParameterError
from candor.records.tables.anatomy import buckets
from candor.records.tables.anonymising import Table, anonymize_table, read_table
from candor.records.tables.closeness import equal_distance, hierarchical_distance, ordered_distance
from tests.unit.candor.cli.running import candor, refused
from tests.unit.candor.records.students import HIERARCHIES, students, vertex

TRANSCRIPT = """Age;Gender;Major;Grade
21;male;Computer Science;A-
22;male;Computer Science;A-
19;male;Electrical Engr.;B+
19;female;Industrial Engr.;C
20;female;English;A
23;female;Art History;B
"""
ROLES = {"Age": "quasi_identifier", "Gender": "quasi_identifier", "Major": "quasi_identifier", "Grade": "sensitive"}
MAJORS = {
    "Computer Science": ["Engineering", "Science & Engineering"],
    "Electrical Engr.": ["Engineering", "Science & Engineering"],
    "Industrial Engr.": ["Engineering", "Science & Engineering"],
    "English": ["Arts & Humanities", "Arts & Humanities"],
    "Art History": ["Arts & Humanities", "Arts & Humanities"],
}
LABELS: dict[str, Any] = {
    "Age": {"interval": [5, 10]},
    "Gender": {"male": ["male", "*"], "female": ["female", "*"]},
    "Major": {name: [name, *groups, "*"] for name, groups in MAJORS.items()},
}


def test_labels_that_are_written_like_records_look_like_no_others() -> None:
    """Somebody chooses names of labels that close the brackets of a look and open others."""
    quoted = [
        vertex({"a": label}, {}, [vertex({"b": "x"})]) for label in ("1", '1"]], [[[["b", "x"]], []]]]', '1"', "1\\", 1, 1.0, True, None)
    ]
    nested = [
        vertex({"a": "1"}, {}, [vertex({"b": 'x"]], []], [[["b", "x'})]),
        vertex({"a": "1"}, {}, [vertex({"b": "x"}), vertex({"b": "x"})]),
    ]
    deeper = [vertex({"a": "1"}, {}, [vertex({"b": "x"}, {}, [vertex({"b": "x"})])]), vertex({"a": "1", "b": "x"}), vertex({"a": "1"})]
    records = [*quoted, *nested, *deeper]
    assert len({form_of(record) for record in records}) == len(records)
    assert linked(records)["all labels"] == len(records)
    turned = vertex({"b": "x", "a": "1"}, {}, [vertex({"d": 2}), vertex({"c": 1})])
    assert form_of(turned) == form_of(vertex({"a": "1", "b": "x"}, {}, [vertex({"c": 1}), vertex({"d": 2})]))


@pytest.mark.parametrize("k", [5, 12])
def test_the_insider_risk_is_that_of_instructors_who_look_themselves(k: int) -> None:
    """Every instructor of every course looks through the whole file: no draws, so that both must be the same."""
    records = anonymize(students(400, seed=3), HIERARCHIES, k=k).records

    def label_form(record: Any) -> str:
        return json.dumps([record["quasi_identifiers"], sorted(label_form(child) for child in record["children"])])

    classes: dict[str, list[list[str]]] = {}
    for record in records:
        told = [json.dumps([course["quasi_identifiers"], course["sensitive"]], sort_keys=True) for course in record["children"]]
        classes.setdefault(label_form(record), []).append(told)
    left = [sum(course in other for other in members) for members in classes.values() for courses in members for course in courses]
    found = risks(records).insider["grade"]
    assert found.singled_out == pytest.approx(left.count(1) / len(left), abs=1e-9)
    assert found.two_left == pytest.approx(sum(number <= 2 for number in left) / len(left), abs=1e-9)
    assert found.mean_match == pytest.approx(sum(1 / number for number in left) / len(left), abs=1e-9)


def test_linkage_by_hand_before_and_after() -> None:
    def student(gender: str, *courses: str) -> dict[str, Any]:
        return vertex({"gender": gender}, {}, [vertex({"course": course}) for course in courses])

    records = [student("F", "CS11", "CS12"), student("F", "CS11"), student("M", "CS11"), student("M", "CS11")]
    assert linked(records) == {
        "labels of the root": 0,
        "labels of the children": 1,
        "number of children": 1,
        "children with their children": 1,
        "all labels": 2,
        "a label that only this record lacks": 0,
    }
    after = anonymize(records, HIERARCHIES, k=2).records
    assert set(linked(after).values()) == {0}


def test_negative_knowledge_singles_out_the_one_who_lacks_a_course() -> None:
    records = [vertex({}, {}, [vertex({"course": "CS11"})]) for _ in range(3)] + [vertex({})]
    assert linked(records)["a label that only this record lacks"] == 1


def test_a_value_that_all_share_is_certain_for_everybody() -> None:
    records = [vertex({"gender": "F"}, {"grade": "A"}) for _ in range(3)] + [vertex({"gender": "M"}, {"grade": value}) for value in "ABC"]
    found = risks(records)
    assert found.certain == {"grade": 0.5}
    assert found.insider["grade"].singled_out == 0.5  # A, B and C in the second class
    assert (found.prosecutor_highest, found.prosecutor_mean) == (1 / 3, 1 / 3)
    # Everybody has an A among two courses that look alike; one has no B.
    pairs = [vertex({}, {}, [vertex({"course": "CS"}, {"grade": one}) for one in grades]) for grades in ("AB", "BA", "AC")]
    assert risks(pairs).certain == {"grade": 0.5}


def test_the_distance_from_the_label_is_what_the_checker_accepts() -> None:
    records = anonymize(students(120, seed=2), HIERARCHIES, k=5).records
    found = risks(records).distance
    largest = max(found.values())
    assert 0 < largest <= 1
    assert list(violations(records, k=5, t=largest)) == []
    assert {one.rule for one in violations(records, k=5, t=largest - 1e-6)} == {"t"}


def test_one_of_several_look_alikes_has_a_value_with_at_most_m_times_its_share() -> None:
    """Two of four students have an A, and each has two courses that look alike; then the same by all orders of shuffled values."""

    def student(first: str, second: str) -> dict[str, Any]:
        return vertex({}, {}, [vertex({"course": "CS"}, {"grade": first}), vertex({"course": "CS"}, {"grade": second})])

    records = [student("A", "B"), student("C", "A"), student("B", "C"), student("D", "D")]
    assert asdict(risks(records).look_alikes["grade"]) == {"m": 2, "highest": 0.5, "bound": 0.5}
    grades = "AABBCCDD"
    draws = list(itertools.combinations(range(8), 2))
    chance = sum(any(grades[at] == "A" for at in pair) for pair in draws) / len(draws)
    found = risks([one | {"anatomy": True} for one in records]).look_alikes["grade"]
    assert found.highest == pytest.approx(chance)
    assert chance <= found.bound == 0.5


def test_look_alikes_of_diverse_records_stay_below_m_of_l() -> None:
    for anatomy in (False, True):
        levels = {"grade": 2, "score": 2, "gpa": 2}
        records = anonymize(students(90), HIERARCHIES | {"gpa": {"interval": [0.5]}}, k=5, diversity=levels, anatomy=anatomy).records
        for one in risks(records).look_alikes.values():
            assert one.highest <= one.bound + 1e-12
            assert one.bound <= one.m / 2


def test_a_full_disk_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    published = tmp_path / "out.json"
    published.write_text("before")

    def half() -> None:
        with complete_file(published) as file:
            file.write("[1, 2")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space") as told:
        half()
    assert told.value.filename == str(published)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("out.json", b"before")]


def test_a_label_stands_for_each_of_its_leaves() -> None:
    records = [
        vertex({"gender": "F"}, {"gpa": "[3,4)"}, [vertex({"course": "CS1*"}, {"grade": "A"}), vertex({"course": "CS11"}, {"grade": "B"})]),
        vertex({"gender": "*"}, {"gpa": None}, [vertex({"course": "CS**"}, {"grade": "A"})]),
    ]
    asked = Reconstruction(records, HIERARCHIES)
    took = read_query({"child": {"labels": {"course": ["CS11"]}, "values": {"grade": ["A"]}}})
    assert asked.expected(took) == pytest.approx(1 / 6)  # the first has a B in CS11 and takes it once; there are six courses below CS**
    another = read_query({"child": {"labels": {"course": ["CS12"]}, "values": {"grade": ["A"]}}})
    assert asked.expected(another) == pytest.approx(1 / 2 + 1 / 6)  # three courses below CS1*, of which one is taken
    twice = [*records, vertex({}, {}, [vertex({"course": "CS11"}, {"grade": "F"})] * 2)]
    assert Reconstruction(twice, HIERARCHIES).expected(took) == pytest.approx(1 / 3 + 1 / 6)  # courses may be taken twice here
    women = read_query({"labels": {"gender": ["F"]}, "values": {"gpa": {"from": 3.5}}})
    assert asked.expected(women) == pytest.approx(0.5 + 0.5 * 0.5)  # a blank counts as the values that are told
    totals = {"course": {"CS11": 2, "CS12": 2, "CS13": 1}}
    weighted = Reconstruction(records, HIERARCHIES, totals)
    # One CS11 of two is told, and every leaf is left at least 1/4 times: 1, 2, 1 and three times 1/4, of 4.75, share two vertices, although
    # the first one is no CS11.
    assert weighted.expected(took) == pytest.approx(2 * 1 / 4.75, rel=1e-3)
    assert weighted.expected(another) == pytest.approx(2 * 2 / 4.75, rel=1e-3)


def test_leaves_that_are_one_object_in_memory_count_as_in_the_file() -> None:
    """Both records have the same CS1* with an A; only the first one has CS11 besides, so that it stands for two courses there."""
    alike = vertex({"course": "CS1*"}, {"grade": "A"})
    records = [vertex({}, {}, [alike, vertex({"course": "CS11"}, {"grade": "B"})]), vertex({}, {}, [alike])]
    took = read_query({"child": {"labels": {"course": ["CS12"]}, "values": {"grade": ["A"]}}})
    for one in (records, records[::-1], json.loads(json.dumps(records))):
        assert Reconstruction(one, HIERARCHIES).expected(took) == pytest.approx(1 / 2 + 1 / 3)


def test_the_desk_is_nearer_the_truth_with_more_epsilon_and_fewer_queries() -> None:
    """Laplace noise of scale 1/ε has a mean size of about 1/ε; 200 draws keep within 30 % of it by more than six standard errors."""
    original = Reconstruction([vertex({"gender": "F"})] * 400, HIERARCHIES)
    women = Query(labels={"gender": ["F"]})
    few = desk_relative_error(original, [women] * 2, epsilon=0.1)
    assert few[1] == 0
    assert few[0] == pytest.approx(2 / 0.1 / 400, rel=0.3)
    many = desk_relative_error(original, [women] * 40 + [Query(labels={"gender": ["M"]})] * 10, epsilon=0.5, delta=1e-6)
    assert many[1] == 10
    assert many[0] < 0.6 * 50 / 0.5 / 400  # Gaussian noise grows with the root of the number of queries
    for epsilon, delta in ((0.0, 0.0), (99.0, 0.0), (1.0, 1.0)):
        with pytest.raises(QuestionError, match="expected ε above 0"):
            desk_relative_error(original, [women], epsilon=epsilon, delta=delta)


def test_the_error_of_answers_is_exact_on_the_original_and_queries_without_anybody_are_left_out() -> None:
    original = Reconstruction(students(50), HIERARCHIES)
    queries = [Query(labels={"gender": ["F"]}), Query(labels={"gender": ["X"]})]
    assert average_relative_error(original, original, queries, rng=np.random.default_rng(1)) == (0.0, 1)


def test_closeness_as_in_its_paper() -> None:
    even = np.full(9, 1 / 9)
    lowest, spread = np.array([[1.0] * 3 + [0] * 6]), np.array([[0.0, 0, 0, 1, 0, 1, 0, 0, 1]])
    assert ordered_distance(lowest, even)[0] == pytest.approx(0.375)
    assert ordered_distance(spread, even)[0] == pytest.approx(0.167, abs=0.001)
    assert equal_distance(lowest, even)[0] == pytest.approx(2 / 3)
    diseases = {"ulcer": "stomach", "gastritis": "stomach", "flu": "lungs", "bronchitis": "lungs"}
    tree = from_chains("disease", {name: [name, organ, "*"] for name, organ in diseases.items()})
    only_stomach = np.array([[1.0, 1, 0, 0], [1.0, 0, 1, 0]])
    # Half of the mass moves over the root; in the second row a quarter and a quarter move within their organs.
    assert hierarchical_distance(only_stomach, np.full(4, 0.25), list(diseases), tree) == pytest.approx([0.5, 0.25])


def test_anatomy_gives_groups_of_different_values_or_says_the_largest_level() -> None:
    values = [row[3] for row in read_table(TRANSCRIPT).rows]
    for level in (2, 3):
        groups = buckets(values, level=level)
        assert sorted(row for group in groups for row in group) == list(range(6))
        assert all(len({values[row] for row in group}) == len(group) >= level for group in groups)
    with pytest.raises(ParameterError, match="expected at most 3"):
        buckets(values, level=4)


@pytest.mark.parametrize(("k", "levels"), [(2, {}), (3, {}), (2, {"Grade": 2})])
def test_the_example_of_paper_002(k: int, levels: dict[str, int]) -> None:
    """Tables 1b to 1d: 2-anonymous, 3-anonymous, 2-diverse; and the paper's own tables are judged as it says."""
    table = read_table(TRANSCRIPT)
    found = anonymize_table(table, ROLES, LABELS, k=k, diversity=levels, by="frequency")
    assert (len(found.table.rows), found.suppressed) == (6, 0)
    classes = Counter(tuple(row[:3]) for row in found.table.rows)
    assert min(classes.values()) >= k
    assert Counter(row[3] for row in found.table.rows) == Counter(row[3] for row in table.rows)
    assert 0 < found.loss < 1


def test_tables_1b_to_1d_of_paper_002_are_judged_as_it_says() -> None:
    def published(*classes: str) -> list[dict[str, Any]]:
        return [vertex({"class": str(at)}, {"grade": grade}) for at, one in enumerate(classes) for grade in one.split()]

    two, three, diverse = published("A- A-", "B+ C", "A B"), published("A- A- B+", "C A B"), published("A- A- B+ C", "A B")
    for records, k, is_diverse in ((two, 2, False), (three, 3, False), (diverse, 2, True)):
        assert next(violations(records, k=k), None) is None
        assert next(violations(records, k=k + 1), None) is not None
        assert (next(violations(records, k=k, diversity={"grade": 2}), None) is None) == is_diverse


def test_a_table_of_random_rows_is_never_refused_by_the_checker() -> None:
    rng = random.Random(5)
    for _ in range(40):
        rows = [[rng.choice("FM"), str(rng.randint(1995, 2002)), rng.choice("ABC")] for _ in range(rng.randint(6, 60))]
        table = Table(columns=["gender", "birth", "grade"], rows=rows, delimiter=",")
        roles = {"gender": "quasi_identifier", "birth": "quasi_identifier", "grade": "sensitive"}
        levels = {"grade": rng.choice([0, 2])}
        if len({row[2] for row in rows}) >= 2:
            found = anonymize_table(table, roles, HIERARCHIES, k=rng.randint(2, 5), diversity=levels)
            assert len(found.table.rows) + found.suppressed == len(rows)


def test_the_four_commands_work_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("records.json").write_text(json.dumps(students(60)))
    Path("hierarchies.json").write_text(json.dumps(HIERARCHIES | {"gpa": {"interval": 0.5}}))
    done = candor(
        "anonymize",
        "records.json",
        "--hierarchies",
        "hierarchies.json",
        "--k",
        "4",
        "--l",
        "grade=2,gpa=0",
        "-o",
        "out.json",
        "--format",
        "json",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["records"] == 60
    done = candor("check", "out.json", "--k", "4", "--l", "grade=2", "--original", "records.json", "--hierarchies", "hierarchies.json")
    assert (done.exit_code, done.stdout) == (0, "holds: 60 records, k = 4, ℓ of grade = 2\n")
    done = candor("check", "records.json", "--k", "2")
    assert done.exit_code == 1
    assert "record 1, root: k: only 1 records look like this one; expected at least 2" in done.stdout
    done = candor("risk", "out.json", "--original", "records.json", "--format", "json")
    assert json.loads(done.stdout)["linked"]["all labels"] == 0
    query = json.dumps({"labels": {"gender": ["F"]}})
    done = candor(
        "answer",
        "out.json",
        "--hierarchies",
        "hierarchies.json",
        "--query",
        query,
        "--original",
        "records.json",
        "--format",
        "json",
        "--epsilon",
        "1",
    )
    assert 0 < json.loads(done.stdout)["desk_relative_error"] < 1
    assert json.loads(done.stdout)["true"] == [sum(one["quasi_identifiers"]["gender"] == "F" for one in students(60))]
    Path("table.csv").write_text(TRANSCRIPT)
    Path("roles.json").write_text(json.dumps(ROLES))
    Path("labels.json").write_text(json.dumps(LABELS))
    done = candor("anonymize", "table.csv", "--hierarchies", "labels.json", "--roles", "roles.json", "--k", "3", "-o", "out.csv")
    assert done.exit_code == 0, done.output
    assert candor("check", "out.csv", "--k", "3", "--roles", "roles.json").exit_code == 0
    assert candor("check", "out.csv", "--k", "4", "--roles", "roles.json").exit_code == 1


BAD: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "k too small": ({}, ["--k", "1"], "expected a whole number of at least 2, found '1'"),
    "k too large": ({}, ["--k", "50"], "k: expected at most the number of records, 20, found 50"),
    "small classes": ({}, ["--k", "4", "--class-size", "3"], "class size: expected at least k = 4, found 3"),
    "ℓ too large": ({}, ["--k", "4", "--l", "grade=9"], "ℓ of 'grade': expected at most"),
    "ℓ of raw numbers": ({}, ["--k", "4", "--l", "gpa=2"], "neighbouring numbers are no diversity"),
    "ℓ of nothing": ({}, ["--k", "4", "--l", "grde=2"], "there is no sensitive attribute 'grde'"),
    "two roots": (
        {"H": {**HIERARCHIES, "gender": {"F": ["F", "*"], "M": ["M", "all"]}}},
        [],
        "H.json: hierarchy 'gender': expected one root, '*'",
    ),
    "a loop": ({"H": {**HIERARCHIES, "gender": {"F": ["F", "x", "F", "*"]}}}, [], "a loop"),
    "no hierarchy": ({"H": {"gender": HIERARCHIES["gender"]}}, [], "the quasi-identifier 'birth' has no hierarchy"),
    "not a leaf": ({"R": [vertex({"gender": "X"})]}, [], "record 1: 'gender': 'X' is not a leaf"),
    "not a leaf below": (
        {"R": [vertex({}, {}, [vertex({}), vertex({"course": "X"})])]},
        [],
        "record 1 → child 2: 'course': 'X' is not a leaf",
    ),
    "unknown field": ({"R": [vertex({}) | {"row": 1}]}, [], "record 1: unknown field 'row'"),
    "no list": ({"R": {}}, [], "expected a JSON list of records, found '{'"),
    "too deep": ({"R": "deep"}, [], "expected at most 16 levels"),
    "too many": ({"R": [vertex({}, {}, [vertex({}) for _ in range(10_001)])]}, [], "at most 10000 children, found 10001 of them"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_line(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, options, expected = BAD[case]
    monkeypatch.chdir(tmp_path)
    records = files.get("R", students(20))
    if records == "deep":
        records = vertex({})
        for _ in range(16):
            records = vertex({}, {}, [records])
        records = [records]
    Path("R.json").write_text(json.dumps(records))
    Path("H.json").write_text(json.dumps(files.get("H", HIERARCHIES)))
    assert expected in refused("anonymize", "R.json", "--hierarchies", "H.json", *(options or ["--k", "2"]), "-o", "out.json")
    assert not Path("out.json").exists()


@pytest.mark.parametrize(
    ("published", "rule", "code"),
    [
        (3, "fields", 2),
        ({"quasi_identifiers": {}}, "fields", 2),
        ({"quasi_identifiers": {}, "sensitive": {"gpa": [3]}, "children": []}, "values", 2),
        ({"quasi_identifiers": {}, "sensitive": {}, "children": [], "name": "Ada"}, "extra field", 1),
        ({"quasi_identifiers": {"born": 2001.5}, "sensitive": {}, "children": []}, "labels", 1),
    ],
    ids=str,
)
def test_a_malformed_record_is_bad_input_and_one_that_says_too_much_is_a_violation(
    published: object, rule: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("out.json").write_text(json.dumps([published]))
    done = candor("check", "out.json", "--k", "2")
    assert done.exit_code == code, done.output
    said = f"Error: out.json: record 1, root: {rule}: " if code == 2 else f"violated: record 1, root: {rule}: "
    assert (done.stderr if code == 2 else done.stdout).startswith(said)
    assert checking.main(["out.json", "--k", "2"], say=lambda line: None) == code
