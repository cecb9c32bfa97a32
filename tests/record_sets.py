"""Student records for tests: files of a registrar and of departments, and a data set that was brought by the form of its page."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import Role, User
from analysis.data_sets.retention import usual_day
from analysis.models import DataSet, RecordPackage
from tests.factories import logged_in, page_of, person
from tests.jobs import work_off

STUDENTS = 60
GRADES = "ABCD"
CHOICES = {"k": "3", "class_size": "4", "suppress": "2", "l-course.grade": "", "authors": "Lovelace, Ada", "licence": "CC0-1.0"}


def students_file(n: int = STUDENTS, *, number: str = "s{}", delimiter: str = ",") -> str:
    """The number, year of birth, sex and name of `n` students."""
    rows = [delimiter.join((number.format(i), str(1990 + i % 6), "fm"[i % 2], f"Name {i}")) for i in range(n)]
    return "\n".join([delimiter.join(("number", "born", "sex", "name")), *rows]) + "\n"


def courses_file(n: int = STUDENTS, *, number: str = "s{}", names: tuple[str, ...] = ("CS101", "CS201", "MA101")) -> str:
    """The courses of these students, with grades."""
    rows = [f"{number.format(i)},{names[(i + j) % len(names)]},{GRADES[(i * 3 + j) % 4]}" for i in range(n) for j in range(1 + i % 3)]
    return "\n".join(["number,course,grade", *rows]) + "\n"


def as_in_the_files(n: int = STUDENTS, names: tuple[str, ...] = ("CS101", "CS201", "MA101")) -> list[dict[str, Any]]:
    """The records of both files, in the order of their lines."""
    return [
        {
            "quasi_identifiers": {"born": str(1990 + i % 6), "sex": "fm"[i % 2]},
            "sensitive": {},
            "children": [
                {
                    "quasi_identifiers": {"course": "entry", "course.course": names[(i + j) % len(names)]},
                    "sensitive": {"course.grade": GRADES[(i * 3 + j) % 4]},
                    "children": [],
                }
                for j in range(1 + i % 3)
            ],
        }
        for i in range(n)
    ]


def statements(n: int = STUDENTS, *, number: str = "s{}", **changes: Any) -> str:
    """xAPI: a quiz of each student."""
    return json.dumps(
        [
            {
                "actor": {"account": {"homePage": "https://lms.example", "name": number.format(i)}},
                "verb": {"id": "http://adlnet.gov/expapi/verbs/scored"},
                "object": {
                    "id": f"https://lms.example/quizzes/{i % 2}",
                    "definition": {"name": {"en": f"Quiz {i % 2}"}, "type": "http://adlnet.gov/expapi/activities/assessment"},
                },
                "result": {"score": {"raw": i % 4}},
                **changes,
            }
            for i in range(n)
        ]
    )


FILES = {"students.csv": students_file(), "maths.csv": courses_file()}
TYPED = {
    "title": "Transcripts",
    "about": "From the registrar; the students agreed.",
    "delete_on": f"{usual_day()}",
    "header": "students.csv: number,born,sex,name\nmaths.csv: number,course,grade",
    "role-0-0": "number",
    "role-0-1": "quasi_identifier",
    "role-0-2": "quasi_identifier",
    "role-0-3": "identifier",
    "group-1": "course",
    "role-1-0": "number",
    "role-1-1": "quasi_identifier",
    "role-1-2": "sensitive",
    "action": "bring",
}
ACTIVITIES = {"kind-1": "xapi", "group-1": "activity", "role-1-0": "quasi_identifier", "role-1-1": "auxiliary", "role-1-2": "sensitive"}
TYPED_STATEMENTS = {**TYPED, **ACTIVITIES, "header": "students.csv: number,born,sex,name\nlog.json:"}
DECLARED = [
    {
        "name": "students.csv",
        "kind": "csv",
        "key": "number",
        "columns": ["number", "born", "sex", "name"],
        "roles": {"born": "quasi_identifier", "sex": "quasi_identifier", "name": "identifier"},
    },
    {
        "name": "maths.csv",
        "kind": "csv",
        "group": "course",
        "key": "number",
        "columns": ["number", "course", "grade"],
        "roles": {"course": "quasi_identifier", "grade": "sensitive"},
    },
]


def bring(client: Client, typed: dict[str, Any] = TYPED, files: dict[str, str | bytes] | None = None) -> Any:
    """Send the form of new records."""
    sent = {name: text.encode() if isinstance(text, str) else text for name, text in (files or FILES).items()}
    return client.post(reverse("analysis:bring_records"), {**typed, "file": [SimpleUploadedFile(*one) for one in sent.items()]})


def record_set(owner: User | None = None, *, files: dict[str, str | bytes] | None = None, title: str = "Transcripts") -> DataSet:
    """Records as they were brought, of 60 students."""
    owner = owner or person(Role.INVESTIGATOR)
    made = bring(logged_in(owner), {**TYPED, "title": title}, files)
    assert made.status_code == 302, made.content.decode()
    found: DataSet = DataSet.objects.filter(owner=owner).latest("pk")
    return found


def page(made: DataSet, name: str = "data_set_records") -> str:
    return reverse(f"analysis:{name}", args=[made.slug])


def step(client: Client, made: DataSet, action: str, **fields: Any) -> Any:
    """Press a button of the page."""
    return client.post(page(made), {"action": action, **fields})


def built(made: DataSet, **changes: Any) -> RecordPackage:
    """The package, as its owner had it built."""
    answer = step(logged_in(made.owner), made, "build", **{**CHOICES, **changes})
    assert answer.status_code == 302, answer.content.decode()
    package = RecordPackage.objects.get(data_set=made)
    work_off(package)
    package.refresh_from_db()
    return package


def requested(made: DataSet, **changes: Any) -> RecordPackage:
    """A package that waits for an officer."""
    package = built(made, **changes)
    answer = step(logged_in(made.owner), made, "request", sha256=package.package_sha256, delete_on=f"{usual_day()}")
    assert answer.status_code == 302, answer.content.decode()
    return package


def published(made: DataSet, officer: User | None = None, **changes: str) -> RecordPackage:
    """A public package."""
    package = requested(made, **changes)
    reader = logged_in(officer or person(Role.IRB_OFFICER))
    answer = step(reader, made, "approve", sha256=package.package_sha256, delete_on=f"{usual_day()}")
    assert answer.status_code == 302, answer.content.decode()
    return package


def words(response: Any) -> str:
    """The text of a page."""
    return " ".join(" ".join(page_of(response).itertext()).split())
