"""Attack: a column that tells who somebody is gets another role than identifier, and would be published as it is."""

from typing import Any

import pytest

from accounts.models import Role
from analysis.models import DataSet, Snapshot
from tests.factories import logged_in, person
from tests.record_sets import FILES, TYPED, bring, courses_file, record_set, students_file, words

pytestmark = pytest.mark.django_db
REFUSED = "has another value for nearly every student, as a name has"


def column_of(text: str, name: str, cell: Any) -> str:
    """The file with one more column; `cell` makes its cells from the number of the line, from 0, and the number of the student."""
    first, *rows = text.splitlines()
    return "\n".join([f"{first},{name}", *(f"{row},{cell(at, row.split(',')[0])}" for at, row in enumerate(rows))]) + "\n"


def sent(of_students: Any = None, of_courses: Any = None, *, role: str = "sensitive") -> tuple[dict[str, Any], dict[str, Any]]:
    """The form and the files with a column `remark` of students, or of courses."""
    if of_students:
        header = "students.csv: number,born,sex,name,remark\nmaths.csv: number,course,grade"
        files = {**FILES, "students.csv": column_of(students_file(), "remark", of_students)}
        return {**TYPED, "header": header, "role-0-4": role}, files
    header = "students.csv: number,born,sex,name\nmaths.csv: number,course,grade,remark"
    files = {**FILES, "maths.csv": column_of(courses_file(), "remark", of_courses)}
    return {**TYPED, "header": header, "role-1-3": role}, files


@pytest.mark.parametrize(
    ("typed", "files"),
    [
        sent(of_students=lambda at, student: f"{student}@uni.example" if at else ""),
        sent(of_students=lambda at, student: f"{student}@uni.example" if at > 1 else "twins@uni.example"),
        sent(of_students=lambda at, student: f"{student}@uni.example" if at % 4 == 0 else "NA", role="quasi_identifier"),
        sent(of_students=lambda at, student: "none" if at < 4 else f"Lives with {student}.", role="auxiliary"),
        sent(of_courses=lambda _at, student: f"{student}@uni.example"),
        sent(of_courses=lambda at, student: f"{student} was ill {at} times."),
        sent(of_courses=lambda _at, student: 70_000 + int(student[1:])),
    ],
    ids=["one has none", "two share one", "most have none", "remarks", "of courses", "remarks on courses", "numbers of courses"],
)
def test_names_are_refused_wherever_they_stand_and_however_many_lack_one(typed: dict[str, Any], files: dict[str, Any]) -> None:
    refused = bring(logged_in(person(Role.INVESTIGATOR)), typed, files)
    assert refused.status_code == 422
    assert f"remark” {REFUSED}" in words(refused)
    assert not DataSet.objects.exists()
    assert not Snapshot.objects.exists()


@pytest.mark.parametrize(
    ("typed", "files"),
    [
        sent(of_students=lambda at, _student: ("ill", "abroad", "parent")[at] if at < 3 else ""),
        sent(of_students=lambda at, _student: f"group {at // 2}"),
        sent(of_students=lambda at, _student: f"{1 + at / 100:.2f}"),
        sent(of_courses=lambda at, _student: f"group {at % 30}"),
    ],
    ids=["a few", "pairs", "averages", "groups of courses"],
)
def test_values_that_several_students_have_stay(typed: dict[str, Any], files: dict[str, Any]) -> None:
    assert bring(logged_in(person(Role.INVESTIGATOR)), typed, files).status_code == 302


def test_records_as_they_were_are_brought_as_before() -> None:
    assert record_set().status == "draft"
