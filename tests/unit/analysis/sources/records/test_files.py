"""Files of students are joined at any depth: quizzes of the courses of students."""

import base64
import io
import json
from dataclasses import replace
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
TOLD = {"activity": "quasi_identifier", "kind": "identifier", "grade": "sensitive"}
LOG = BroughtFile(name="log.json", kind="xapi", group="quiz", roles=TOLD, below="course", on=("course",))
CLICKS = BroughtFile(name="clicks.json", kind="xapi", group="item", roles=TOLD, below="quiz", on=("activity",))
NUMBERED = [line.split(",")[:2] for line in FILES["maths.csv"].splitlines()[1:]]
TEXTS = {
    **FILES,
    "quizzes.csv": "number,course,quiz,score\n" + "".join(f"{who},{course},Q{at},{at}\n" for who, course in NUMBERED for at in range(2)),
    "tasks.csv": "number,course,quiz,solved\n" + "".join(f"{who},{course},Q1,yes\n" for who, course in NUMBERED),
}


def joined(files: list[BroughtFile] = ALL, **changed: str) -> RecordRows:
    order = sorted(files, key=lambda file: len(way_up(file, files)))
    written = TEXTS | {name if "." in name else f"{name}.csv": text for name, text in changed.items()}
    texts = [written[file.name].encode() for file in order]
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


def statement(who: str, what: str, parents: Any) -> dict[str, Any]:
    """A score in a quiz: the parent has its address, as a learning management system writes it."""
    return {
        "actor": {"account": {"name": who}},
        "object": {"id": f"https://lms.example/quizzes/{what}", "definition": {"name": {"en": f"The {what}"}}},
        "result": {"score": {"raw": 3}},
        "context": {"contextActivities": {"parent": parents}},
    }


def at(course: str) -> dict[str, str]:
    return {"objectType": "Activity", "id": f"https://lms.example/courses/{course}/"}


def test_statements_belong_to_the_row_that_their_parent_names() -> None:
    """A quiz of a course in a CSV file, and an item of a quiz among statements; a parent stands in a list or alone."""
    files = [STUDENTS, COURSES, LOG, CLICKS]
    assert [problem for file in files if (problem := problem_of_file(file))] == []
    assert problem_of_files(files) == ""
    log = [statement(who, f"{course}-1", [at(course)] if who < "s3" else at(course)) for who, course in NUMBERED]
    clicks = [statement(who, "i1", [{"id": f"https://lms.example/quizzes/{course}-1"}]) for who, course in NUMBERED]
    rows = joined([CLICKS, LOG, COURSES, STUDENTS], **{"log.json": json.dumps(log), "clicks.json": json.dumps(clicks)})
    for record in rows.records():
        for course in record["children"]:
            [quiz] = course["children"]
            assert quiz["quasi_identifiers"]["quiz.activity"] == f"The {course['quasi_identifiers']['course.course']}-1"
            assert [item["sensitive"] for item in quiz["children"]] == [{"item.grade": "3"}]


def test_rows_of_a_file_belong_to_statements() -> None:
    notes = changed(QUIZZES, name="notes.csv", group="note", columns=("number", "item", "said"), roles={"said": "sensitive"}, on=("item",))
    files = [STUDENTS, COURSES, LOG, changed(notes, below="quiz")]
    assert problem_of_files(files) == ""
    log = json.dumps([statement(who, f"{course}-1", [at(course)]) for who, course in NUMBERED])
    said = "number,item,said\n" + "".join(f"{who},{course}-1,yes\n" for who, course in NUMBERED)
    for record in joined(files, **{"log.json": log, "notes": said}).records():
        assert [note["sensitive"] for course in record["children"] for quiz in course["children"] for note in quiz["children"]] == [
            {"note.said": "yes"}
        ] * len(record["children"])


@pytest.mark.parametrize(
    ("parents", "said"),
    [
        ([at("LAW1")], "“log.json”, statement 1: this student has no “course” with this “course”"),
        ([], "statement 1: expected an activity with an id as context.contextActivities.parent: what it belongs to"),
        (None, "expected an activity with an id"),
        ({"id": 7}, "expected an activity with an id"),
        ({"id": " / "}, "expected an activity with an id"),
        (["https://lms.example/courses/CS201"], "expected an activity with an id"),
        ([at("CS101"), at("CS201")], "statement 1: expected one activity as context.contextActivities.parent, found 2"),
    ],
    ids=str,
)
def test_a_statement_without_its_parent_is_refused_with_its_number(parents: Any, said: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        joined([STUDENTS, COURSES, LOG], **{"log.json": json.dumps([statement("s1", "q", parents)])})
    assert said in str(refused.value)


def test_a_student_with_an_account_here_and_an_address_there_is_not_two_records() -> None:
    """The attack: a class of k records is half as many people, because each of them has two names and nothing links the names."""
    quizzes, items = (changed(one, below="", on=()) for one in (LOG, CLICKS))
    by_account = [statement(who, "q", []) for who, _course in NUMBERED]
    by_address = [{**one, "actor": {"mbox": f"mailto:{one['actor']['account']['name']}@example.org"}} for one in by_account]
    both, refusal = [*by_account, by_address[0]], "named by “account”, as before, found “mbox”: without a file of students nobody can tell"
    courses = {"log.json": json.dumps(by_account), "clicks.json": json.dumps(by_address)}
    for files, texts, where in (
        ([quizzes], {"log.json": json.dumps(both)}, f"“log.json”, statement {len(both)}"),
        ([quizzes, items], courses, "“clicks.json”, statement 1"),
        ([COURSES, quizzes], {"log.json": json.dumps(both)}, f"“log.json”, statement {len(both)}"),
    ):
        with pytest.raises(UnreadableError, match="statement") as refused:
            joined(files, **texts)
        assert where in str(refused.value)
        assert refusal in str(refused.value)
        assert "example.org" not in str(refused.value)
    at_two = [{**by_account[0], "actor": {"account": {"homePage": home, "name": "ada"}}} for home in ("https://a", "https://b")]
    with pytest.raises(UnreadableError, match="named by “account https://a”, as before, found “account https://b”"):
        joined([quizzes], **{"log.json": json.dumps(at_two)})
    assert joined([quizzes], **{"log.json": json.dumps(by_address)}).n == joined([quizzes], **{"log.json": json.dumps(by_account)}).n
    with pytest.raises(UnreadableError, match="this student is not in the file of students"):
        joined([STUDENTS, quizzes], **{"log.json": json.dumps(both)})
    students = TEXTS["students.csv"] + f"{by_address[0]['actor']['mbox']},1999,f,Ada\n"
    assert joined([STUDENTS, quizzes], students=students, **{"log.json": json.dumps(both)}).n == students.count("\n") - 1


@pytest.mark.parametrize("context", [None, [], "x", {"contextActivities": []}, {"contextActivities": {"grouping": [at("CS101")]}}], ids=str)
def test_a_statement_without_context_has_no_parent(context: Any) -> None:
    bare = {**statement("s1", "q", []), "context": context}
    with pytest.raises(UnreadableError, match=r"context\.contextActivities\.parent"):
        joined([STUDENTS, COURSES, LOG], **{"log.json": json.dumps([bare])})


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
        ([STUDENTS, COURSES, changed(LOG, on=())], "“log.json”: say what a row is, to what it belongs"),
        ([STUDENTS, COURSES, changed(LOG, on=("title",))], "“maths.csv” has no column “title”, by which the rows of “log.json”"),
        ([STUDENTS, COURSES, changed(LOG, on=("course", "grade"))], "“log.json”: expected one column, because an address names"),
        ([STUDENTS, COURSES, QUIZZES, LOG, changed(CLICKS, below="module")], "no file has rows that are called “module”"),
        ([STUDENTS, COURSES, LOG, changed(TASKS, on=("course", "quiz"))], "“tasks.csv”: expected one column, because an address names"),
        (
            [STUDENTS, COURSES, QUIZZES, changed(LOG, group="test", on=("grade",))],
            "All rows that belong to a “course” find it by the same columns.",
        ),
        ([STUDENTS, changed(COURSES, group="quiz"), COURSES, QUIZZES], "Rows called “quiz” belong to the same rows in every file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_row_belongs_to_is_declared_without_gaps(files: list[BroughtFile], said: str) -> None:
    problems = [problem for file in files if (problem := problem_of_file(file))] or [problem_of_files(files)]
    assert said in problems[0]


def test_grades_with_a_decimal_comma_are_told_in_intervals_as_all_others() -> None:
    """Beside semicolons they were words: 3,98 beside 3,97 passed for two different values, and hid nothing."""
    students = replace(STUDENTS, columns=("number", "average"), roles={"average": "sensitive"})
    averages = [f"{number}.{digits:02}" for number in (2, 3) for digits in range(0, 99, 2)] * 3
    lines = [f"s{row};{average}\n" for row, average in enumerate(averages)]
    points, commas = ("number;average\n" + "".join(lines).replace(".", sign) for sign in ".,")
    (one,), (other,) = (joined([students], students=text).attributes for text in (points, commas))
    assert one == other
    assert other["values"][0] == "[2,2.2)"
