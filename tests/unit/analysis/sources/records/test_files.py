"""Files of students are joined at any depth: quizzes of the courses of students."""

import base64
import io
from typing import Any

import pytest

from analysis.record_sets.declarations import problem_of_file, problem_of_files
from analysis.sources.records.files import read
from analysis.sources.records.rows import BroughtFile, RecordRows, way_up
from surveys.reading.words import UnreadableError
from tests.record_sets import DECLARED, FILES

STUDENTS, COURSES = (BroughtFile(**{**one, "columns": tuple(one["columns"])}) for one in DECLARED)
QUIZZES = BroughtFile(
    name="quizzes.csv",
    kind="csv",
    group="quiz",
    key="number",
    columns=("number", "course", "quiz", "score"),
    roles={"quiz": "quasi_identifier", "score": "sensitive"},
    below="course",
    on=("course",),
)
TASKS = BroughtFile(
    name="tasks.csv",
    kind="csv",
    group="task",
    key="number",
    columns=("number", "course", "quiz", "solved"),
    roles={"solved": "sensitive"},
    below="quiz",
    on=("course", "quiz"),
)
ALL = [STUDENTS, COURSES, QUIZZES, TASKS]
NUMBERED = [line.split(",")[:2] for line in FILES["maths.csv"].splitlines()[1:]]
TEXTS = {
    **FILES,
    "quizzes.csv": "number,course,quiz,score\n" + "".join(f"{who},{course},Q{at},{at}\n" for who, course in NUMBERED for at in range(2)),
    "tasks.csv": "number,course,quiz,solved\n" + "".join(f"{who},{course},Q1,yes\n" for who, course in NUMBERED),
}


def joined(files: list[BroughtFile] = ALL, **changed: str) -> RecordRows:
    order = sorted(files, key=lambda file: len(way_up(file, files)))
    texts = [(TEXTS | {f"{name}.csv": text for name, text in changed.items()})[file.name].encode() for file in order]
    told = [
        {"name": one.name, "kind": one.kind, "group": one.group, "key": one.key, "columns": one.columns, "roles": one.roles}
        | {"below": one.below, "on": one.on, "size": len(text)}
        for one, text in zip(order, texts, strict=True)
    ]
    found = read(io.BytesIO(b"".join(texts)), files=told)
    return RecordRows(n=found["n"], attributes=found["attributes"], data=base64.b64decode(found["records"]))


def test_rows_belong_to_rows_of_other_files_at_any_depth() -> None:
    assert problem_of_files(ALL) == ""
    rows = joined([TASKS, QUIZZES, COURSES, STUDENTS])
    for record in rows.records():
        for course in record["children"]:
            assert set(course["quasi_identifiers"]) == {"course", "course.course"}
            assert sorted(quiz["quasi_identifiers"]["quiz.quiz"] for quiz in course["children"]) == ["Q0", "Q1"]
            for quiz in course["children"]:
                assert quiz["sensitive"]["quiz.score"] == quiz["quasi_identifiers"]["quiz.quiz"][1:]
                below = [task["sensitive"] for task in quiz["children"]]
                assert below == ([{"task.solved": "yes"}] if quiz["quasi_identifiers"]["quiz.quiz"] == "Q1" else [])
    assert {one["name"]: one["nested"] for one in rows.attributes}["task.solved"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"quizzes": TEXTS["quizzes.csv"] + "s1,LAW1,Q1,3\n"}, "“quizzes.csv”, line 242: this student has no “course” with this “course”"),
        ({"quizzes": TEXTS["quizzes.csv"] + "s999,CS101,Q1,3\n"}, "“quizzes.csv”, line 242: this student is not in the file of students"),
        (
            {"quizzes": TEXTS["quizzes.csv"] + "s1,,Q1,3\n"},
            "line 242: expected a value in “course”, by which rows are found, found nothing",
        ),
        ({"maths": TEXTS["maths.csv"] + "s0,CS101,A\n"}, "“maths.csv”, line 122: another row of this student has the same “course”"),
        ({"tasks": TEXTS["tasks.csv"] + "s1,CS201,Q7,no\n"}, "“tasks.csv”, line 122: this student has no “quiz” with this “course, quiz”"),
        (
            {"quizzes": "number,quiz,score\ns1,Q1,3\n"},
            "expected the declared columns number, course, quiz, score; found number, quiz, score",
        ),
        (
            {"quizzes": TEXTS["quizzes.csv"] + "".join(f"s1,CS201,N{at},3\n" for at in range(10_001))},
            "expected at most 10000 rows of one “course”",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_row_without_a_place_is_refused_with_its_line(changed: Any, said: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        joined(**changed)
    assert said in str(refused.value)
    assert "s999" not in str(refused.value)


def changed(file: BroughtFile, **more: Any) -> BroughtFile:
    return BroughtFile(**{name: getattr(file, name) for name in BroughtFile.__slots__} | more)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([STUDENTS, COURSES, changed(QUIZZES, on=())], "“quizzes.csv”: say what a row is, to what it belongs"),
        ([STUDENTS, COURSES, changed(QUIZZES, below="")], "“quizzes.csv”: say what a row is, to what it belongs"),
        ([STUDENTS, COURSES, changed(QUIZZES, on=("term",))], "“quizzes.csv” has no column “term”."),
        ([STUDENTS, COURSES, changed(QUIZZES, below="module")], "“quizzes.csv”: no file has rows that are called “module”."),
        (
            [STUDENTS, COURSES, changed(TASKS, below="course")],
            "“maths.csv” has no column “quiz”, by which the rows of “tasks.csv” find theirs.",
        ),
        ([STUDENTS, changed(QUIZZES, below="task"), TASKS], "“quiz” would belong to itself."),
        ([STUDENTS, COURSES, QUIZZES, changed(TASKS, group="quiz", below="")], "“tasks.csv”: say what a row is"),
        ([STUDENTS, COURSES, QUIZZES, changed(TASKS, group="quiz", below="", on=())], "“tasks.csv”: “course” has no role."),
        ([STUDENTS, changed(COURSES, group="quiz"), COURSES, QUIZZES], "Rows called “quiz” belong to the same rows in every file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_row_belongs_to_is_declared_without_gaps(files: list[BroughtFile], said: str) -> None:
    problems = [problem for file in files if (problem := problem_of_file(file))] or [problem_of_files(files)]
    assert said in problems[0]
