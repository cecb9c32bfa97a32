"""Values of student records that go: with an attribute that becomes an identifier, and with the rows."""

import json

import pytest

from analysis.models import RecordHierarchies, RecordPackage, Snapshot
from analysis.records.services import save_hierarchy
from analysis.sources.selectors import rows_of_records, schema_of_records
from audit.models import Entry
from candor.errors import DataError
from candor.packages.archive import files_in
from candor.records.checking import violations
from tests.factories import logged_in
from tests.record_sets import built, courses_file, page, published, record_set, step, students_file, words

pytestmark = pytest.mark.django_db


def test_a_role_can_change_and_an_identifier_is_gone_for_ever() -> None:
    made = record_set()
    owner = logged_in(made.owner)
    built(made)
    names = list(schema_of_records(made).roles)
    missing = step(owner, made, "roles", attribute=names, role=["", "identifier", "quasi_identifier", "quasi_identifier"])
    assert "“born” has no role." in words(missing)
    assert step(owner, made, "roles", attribute=names, role=["sensitive", "identifier", "auxiliary", "quasi_identifier"]).status_code == 302
    assert schema_of_records(made).roles == {"born": "sensitive", "course.course": "auxiliary", "course.grade": "quasi_identifier"}
    record = next(rows_of_records(made).records())
    assert (set(record["quasi_identifiers"]), set(record["sensitive"])) == (set(), {"born"})
    assert "sex" not in values_kept()
    assert not RecordPackage.objects.exists()
    assert built(made).status == "built"
    assert Entry.objects.filter(action="records.roles_changed").count() == 1


def values_kept() -> dict[str, list[str]]:
    """The values of attributes that the database holds beside the rows."""
    kept = [*Snapshot.objects.exclude(schema=None).values_list("schema", flat=True)]
    found = {one["name"]: list(one["values"]) for schema in kept for one in schema["attributes"]}
    for edited in RecordHierarchies.objects.values_list("document", flat=True):
        found |= {name: list(chains) for name, chains in edited.items()}
    return found


def test_a_student_who_withdraws_is_left_out_by_bringing_the_files_again() -> None:
    made = record_set()
    published_before = [len(one["children"]) for one in rows_of_records(made).records()]
    save_hierarchy(made, attribute="sex", chains={one: [one, "*"] for one in ("f", "m", "not answered")}, actor=made.owner)
    owner = logged_in(made.owner)
    assert step(owner, made, "delete", sure="yes").status_code == 302
    with pytest.raises(DataError, match="deleted"):
        rows_of_records(made)
    assert {value for values in values_kept().values() for value in values} == {"entry"}, "nobody's own value stays in a list of values"
    assert "CS101" not in words(owner.get(page(made)))
    fewer = {"students.csv": students_file(59), "maths.csv": courses_file(59)}
    again = record_set(made.owner, files=fewer)
    package = published(again)
    records = json.loads(files_in(bytes(package.package or b""))["records.json"])
    assert (len(published_before), again.students) == (60, 59)
    assert next(violations(records, k=3), None) is None
