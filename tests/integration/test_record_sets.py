"""Files of students are joined on a number that is thrown away; a bad file is refused, and nothing of it is kept."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.urls import reverse

from accounts.models import Role
from analysis.data_sets import services as data_sets
from analysis.models import DataSet, RecordPackage, RecordSweep, Snapshot
from analysis.sources.selectors import rows_of_records, schema_of_records
from audit.models import Entry
from candor.packages.archive import files_in
from tests.factories import logged_in, page_of, person
from tests.jobs import catch, work_off
from tests.record_sets import (
    FILES,
    TYPED,
    TYPED_STATEMENTS,
    bring,
    built,
    courses_file,
    page,
    published,
    record_set,
    statements,
    step,
    students_file,
    words,
)

pytestmark = pytest.mark.django_db
MARK = "zq7marked"


def everything_stored() -> str:
    """All rows of all tables, with the records unpacked and the files of packages."""
    found = [repr(row) for model in apps.get_models() for row in model._default_manager.values()]
    found += [json.dumps(list(rows_of_records(one).records())) for one in DataSet.objects.filter(forgotten_on=None, holds="records")]
    for package in RecordPackage.objects.exclude(package=None):
        found += [text.decode() for text in files_in(bytes(package.package or b"")).values()]
    return "\n".join(found)


def test_files_are_joined_on_a_number_that_stays_nowhere(
    tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR, settings.FILE_UPLOAD_MAX_MEMORY_SIZE = str(tmp_path), 100
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    caplog.set_level(logging.DEBUG)
    seen: list[list[Path]] = []
    before = data_sets.bring
    monkeypatch.setattr(data_sets, "bring", lambda *told, **more: (seen.append(list(tmp_path.iterdir())), before(*told, **more))[1])
    sent = catch(monkeypatch)
    number = f"{MARK}-{{}}"
    made = record_set(files={"students.csv": students_file(number=number, delimiter=";"), "maths.csv": courses_file(number=number)})
    published(made, **{"l-course.grade": "2"})
    assert seen == [[]], "no file with a name while they are read"
    assert list(tmp_path.iterdir()) == []
    for secret in (MARK, "Name 7"):
        assert secret not in everything_stored()
        assert secret not in caplog.text
        assert secret not in repr(sent)
    rows = list(rows_of_records(made).records())
    assert (len(rows), sum(len(one["children"]) for one in rows)) == (60, 120)
    assert schema_of_records(made).roles == {
        "born": "quasi_identifier",
        "sex": "quasi_identifier",
        "course.course": "quasi_identifier",
        "course.grade": "sensitive",
    }
    births = [one["quasi_identifiers"]["born"] for one in rows]
    assert births != [str(1990 + i % 6) for i in range(60)], "probability 60!⁻¹·10!⁶ of being wrong"
    assert Entry.objects.filter(action="data_set.brought", actor=made.owner).count() == 1


ROOT, COURSES = FILES["students.csv"], FILES["maths.csv"]
TOO_MANY = "number,course,grade\n" + "s1,CS101,A\n" * 10_001


@pytest.mark.parametrize(
    ("change", "files", "said"),
    [
        ({"role-0-1": ""}, {}, "“students.csv”: “born” has no role. Choose one; nothing is guessed."),
        ({"role-0-0": "identifier"}, {}, "“students.csv”: one column must hold the number of the student."),
        ({"group-1": ""}, {}, "Expected one file whose rows are students, found 2."),
        ({"group-0": "person"}, {}, "Expected a file whose rows are students beside the files of courses, found none."),
        ({"group-1": "sex"}, {}, "“sex” names a column of the students, too. Give the rows another name."),
        ({"about": ""}, {}, "Write where the data come from"),
        ({"header": "students.csv: number,born,sex,name"}, {}, "Choose all files again"),
        pytest.param(
            {"header": f"students.csv: {','.join(map(str, range(241)))}"}, {}, "Expected at most 240 columns, found 241.", id="241 columns"
        ),
        (
            {},
            {"students.csv": f"{ROOT}{MARK},1991,f,N\n{MARK},1992,f,O\n"},
            "“students.csv”, line 63: the student of line 62 stands here again",
        ),
        ({}, {"maths.csv": f"{COURSES}{MARK},CS101,A\n"}, "“maths.csv”, line 122: this student is not in the file of students"),
        ({}, {"maths.csv": f"{COURSES},CS101,A\n"}, "“maths.csv”, line 122: expected the number of a student, found nothing"),
        (
            {},
            {"maths.csv": f"{COURSES}s1,CS101,NaN\n"},
            "“maths.csv”, line 122, column “grade”: expected a value or nothing, found NaN or infinity",
        ),
        ({}, {"maths.csv": f"{COURSES}s1,=A1,B\n"}, "“maths.csv”, line 122, column “course”: expected a value or nothing, found a formula"),
        ({}, {"maths.csv": f"{COURSES}s1,CS101,B,{MARK}\n"}, "“maths.csv”, line 122, column “grade”: expected 3 columns, found 4"),
        ({}, {"maths.csv": f"{COURSES}s1,{'x' * 101},B\n"}, "expected a value of at most 100 letters: texts cannot be protected"),
        ({}, {"maths.csv": COURSES.encode() + b"s1,Fran\xe7ais,B\n"}, "“maths.csv”, line 122, column “course”: expected text in UTF-8"),
        ({}, {"maths.csv": f"{COURSES}s1,\x07,B\n"}, "“maths.csv”, line 122, column “course”: expected a value in one line"),
        ({}, {"maths.csv": f'{COURSES}s1,CS101,"B\n'}, "“maths.csv”, line 122: not a CSV file"),
        ({}, {"maths.csv": "number,course,mark\n"}, "“maths.csv”, line 1: expected the declared columns"),
        ({}, {"maths.csv": COURSES.replace("\n", "\r")}, "“maths.csv”, line 1: expected lines that end with a line feed"),
        ({}, {"maths.csv": TOO_MANY}, "“maths.csv”, line 10002: expected at most 10000 rows of one student"),
        ({}, {"students.csv": students_file(19), "maths.csv": courses_file(19)}, "Expected at least 20 students, found 19"),
        ({"role-0-3": "sensitive"}, {}, "“name” has another value for nearly every student, as a name has. Its role is: identifier"),
        (
            TYPED_STATEMENTS,
            {"maths.csv": None, "log.json": statements(actor={"name": MARK})},
            "“log.json”, statement 1: expected an actor with",
        ),
        (
            TYPED_STATEMENTS,
            {"maths.csv": None, "log.json": statements(result={})},
            "“log.json”, statement 1: expected a number as result.score",
        ),
        (
            TYPED_STATEMENTS,
            {"maths.csv": None, "log.json": statements(result={"score": {"raw": 10**400}})},
            "“log.json”: record 1: expected numbers of at most 300 digits, found one of 401",
        ),
        (
            TYPED_STATEMENTS,
            {"maths.csv": None, "log.json": statements(object={})},
            "“log.json”, statement 1: expected an object with an id",
        ),
        (TYPED_STATEMENTS, {"maths.csv": None, "log.json": '{"a": 1}'}, "“log.json”: expected a JSON list of records"),
        (TYPED_STATEMENTS, {"maths.csv": None, "log.json": statements(61)}, "“log.json”, statement 61: this student is not in the file"),
    ],
    ids=str,
)
def test_bad_files_are_refused_by_line_and_column_and_nothing_is_half_imported(change: Any, files: Any, said: str) -> None:
    sent = {name: text for name, text in {**FILES, **files}.items() if text is not None}
    refused = bring(logged_in(person(Role.INVESTIGATOR)), {**TYPED, **change}, sent)
    assert refused.status_code == 422
    assert said in words(refused)
    assert MARK not in words(refused), "an error names a line, and nobody"
    assert not DataSet.objects.exists()
    assert not Snapshot.objects.exists()


def test_the_form_shows_the_columns_of_every_file_and_guesses_no_role() -> None:
    shown = logged_in(person(Role.INVESTIGATOR)).post(reverse("analysis:bring_records"), {**TYPED_STATEMENTS, "action": "columns"})
    found = page_of(shown)
    assert shown.status_code == 200
    assert len(found.xpath("//select[starts-with(@name, 'role-')]")) == 7
    empty = logged_in(person(Role.INVESTIGATOR)).post(reverse("analysis:bring_records"), {"header": TYPED["header"], "action": "columns"})
    assert not page_of(empty).xpath("//select[starts-with(@name, 'role-')]/option[@selected][@value!='']")


def test_a_form_of_more_than_a_thousand_columns_is_read() -> None:
    header = "\n".join(f"{name}.csv: {','.join(f'c{number}' for number in range(230))}" for name in "abcde")
    roles = {f"role-{place}-{column}": "sensitive" for place in range(5) for column in range(230)}
    shown = logged_in(person(Role.INVESTIGATOR)).post(reverse("analysis:bring_records"), {"header": header, "action": "columns", **roles})
    assert shown.status_code == 200
    assert len(page_of(shown).xpath("//select[starts-with(@name, 'role-')]/option[@selected][@value='sensitive']")) == len(roles)


def vertex(labels: dict[str, Any], children: Any = (), **more: Any) -> dict[str, Any]:
    return {"quasi_identifiers": labels, "sensitive": {}, "children": list(children), **more}


def deep(levels: int) -> dict[str, Any]:
    return vertex({"a": "x"}, [deep(levels - 1)] if levels > 1 else [])


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (vertex({"a": "x"}, number=MARK), "record 21: unknown field “number”"),
        ({"quasi_identifiers": {}}, "record 21: expected the fields quasi_identifiers, sensitive, children"),
        (deep(17), "expected at most 16 levels"),
        (vertex({f"s{number}": "x" for number in range(241)}), "record 21: expected at most 240 attributes in all"),
        (
            vertex({"a": "x"}, [vertex({"b": "y"}, [vertex({"c": [MARK]})])]),
            "record 21 → child 1 → child 1: “c”: expected a text, a number",
        ),
        (vertex({"a": "x"}, [vertex({"b": "y"})] * 10_001), "record 21: expected a list of at most 10000 children"),
        (vertex({"a": "x"}, sensitive={"a": MARK}), "record 21: “a” has two roles: quasi_identifier, sensitive"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_records_in_json_are_refused_by_record_and_path(record: Any, said: str) -> None:
    typed = {**TYPED, "header": "records.json:", "kind-0": "json"}
    refused = bring(logged_in(person(Role.INVESTIGATOR)), typed, {"records.json": json.dumps([vertex({"a": "x"})] * 20 + [record])})
    assert refused.status_code == 422
    assert said in words(refused)
    assert MARK not in words(refused)
    assert not DataSet.objects.exists()


def test_records_in_json_and_statements_come_in_with_any_depth() -> None:
    client = logged_in(person(Role.INVESTIGATOR))
    tree = [
        vertex({"born": 1990 + i % 3}, [vertex({"course": "x"}, [vertex({"topic": i % 2}, sensitive={"grade": i / 60})])])
        for i in range(60)
    ]
    typed = {**TYPED, "header": "records.json:", "kind-0": "json"}
    assert bring(client, typed, {"records.json": json.dumps(tree)}).status_code == 302
    made = DataSet.objects.get()
    assert schema_of_records(made).roles["grade"] == "sensitive"
    below = {one["children"][0]["children"][0]["sensitive"]["grade"] for one in rows_of_records(made).records()}
    assert below == {f"[{low / 10:.12g},{(low + 1) / 10:.12g})" for low in range(10)}, "3.98 beside 3.97 is no diversity"
    assert bring(client, TYPED_STATEMENTS, {"students.csv": ROOT, "log.json": statements()}).status_code == 302
    told = next(rows_of_records(DataSet.objects.latest("pk")).records())["children"][0]
    assert (told["quasi_identifiers"]["activity"], told["quasi_identifiers"]["activity.kind"]) == ("entry", "assessment")
    assert set(told["sensitive"]) == {"activity.grade"}


def test_exact_numbers_of_a_draft_are_for_its_owner_alone() -> None:
    """Administrators may do what its owner may. They care for the machine, and do not read what stands in the files."""
    made, administrator = record_set(), logged_in(person(Role.ADMINISTRATOR))
    assert step(administrator, made, "start").status_code == 302
    work_off(RecordSweep.objects.get())
    built(made)
    owner = logged_in(made.owner)
    shown, hidden = owner.get(page(made)).content.decode(), administrator.get(page(made)).content.decode()
    for told in ("Largest possible ℓ", "Insider risk", "What is promised"):
        assert (told in shown, told in hidden) == (True, False), told
    assert "Only the owner reads what was found: the numbers are exact." in hidden
    assert "Every class size was tried." in hidden
    assert (owner.get(page(made, "data_set_records_or_query")).status_code) == 200
    assert (administrator.get(page(made, "data_set_records_or_query")).status_code) == 404
    program = page(made, "api_record_set")
    for reader, reads in ((owner, True), (administrator, False)):
        state = reader.get(program).json()
        assert (bool(state["sweep"]["found"]), bool(state["verdict"]["records"])) == (reads, reads)
    RecordSweep.objects.update(status="failed", error="expected 60 records")
    RecordPackage.objects.update(status="failed", error="12 of 60 left out", package=None)
    for reader, reads in ((owner, True), (administrator, False)):
        for address in (page(made), program):
            said = reader.get(address).content.decode()
            assert ("xpected 60 records" in said, "12 of 60 left out" in said) == (reads, reads)
