"""Records that somebody brought: the steps of protected records, an officer who decides, and a public package."""

import io
import json
import zipfile
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import Role, TokenScope, User
from accounts.services import issue_token
from analysis.models import DataSet, RecordPackage, RecordSweep, Snapshot
from analysis.releases.keys import signing_key
from analysis.sources.selectors import rows_of_records, schema_of_records
from audit.models import Entry
from candor.packages.archive import files_in, signed, zip_of
from candor.packages.record_promises import faults_in
from candor.packages.verification import faults_of
from candor.records.auditing import Audit
from candor.records.checking import main as check
from candor.records.checking import violations
from candor.records.releases.intersection import alone_in_both
from config.body_sizes import TABLES, most_at
from jobs import tasks
from tests.factories import logged_in, page_of, person
from tests.jobs import attempt, claimed, fall_silent, work_off, work_on, work_on_part
from tests.record_sets import (
    CHOICES,
    DECLARED,
    FILES,
    as_in_the_files,
    built,
    courses_file,
    page,
    published,
    record_set,
    requested,
    step,
    words,
)

pytestmark = pytest.mark.django_db
MARK_OF_ROLES = "string(//form[.//select[@name='role']]//input[@name='seen']/@value)"


def test_from_files_to_a_public_package_that_anybody_can_check(tmp_path: Path) -> None:
    made = record_set()
    owner, officer = logged_in(made.owner), logged_in(person(Role.IRB_OFFICER))
    assert officer.get(page(made)).status_code == 404, "nobody asked an officer"
    assert step(owner, made, "start").status_code == 302
    sweep = RecordSweep.objects.get(data_set=made)
    RecordSweep.objects.update(plan=[sweep.plan[0], sweep.plan[2]])
    sweep.refresh_from_db()
    assert "0 of 2 are tried." in words(owner.get(page(made)))
    work_off(sweep)
    shown = words(owner.get(page(made)))
    assert "Every class size was tried." in shown
    assert "course.grade : 4" in shown
    assert "Twenty students, before and after" in shown
    indented = "CS\n  CS101\n  CS201\n  CS999\nMA101\nnot answered"
    assert step(owner, made, "edit", attribute="course.course", listed=indented).status_code == 302
    wrong = step(owner, made, "edit", attribute="course.course", listed="CS101\nCS201")
    assert "The answer “MA101” has no place in the list." in words(wrong)
    package = requested(made, **{"l-course.grade": "2"})
    files = files_in(bytes(package.package or b""))
    assert {"check.py", "croissant.json", "datapackage.json", "hierarchies.json", "protocol.json", "records.json", "results.json"} < set(
        files
    )
    read = officer.get(page(made))
    assert "Twenty students, before and after" not in words(read), "an officer sees no record as it was"
    heading = "Twenty of the records as they would be published"
    administrator = logged_in(person(Role.ADMINISTRATOR))
    assert [heading in words(one.get(page(made))) for one in (owner, officer, administrator)] == [True, True, False]
    risks = json.loads(files["results.json"])["records"]["risks"]
    for told in (
        "The checker accepts them.",
        "What an insider learns",
        f"picks the right record with a chance of at most {ceil(100 / risks['smallest_class'])} %",
    ):
        assert told in words(read)
    assert officer.get(page(made, "public_records")).status_code == 404
    approved = step(officer, made, "approve", sha256=package.package_sha256, delete_on=f"{made.delete_on}")
    assert approved.status_code == 302
    visitor = Client()
    public = visitor.get(page(made, "public_records"))
    assert "The checker accepts them." in words(public)
    answer = visitor.get(page(made, "public_records_package"))
    written = answer.content
    assert (faults_of(written), faults_in(files_in(written))) == ([], [])
    (tmp_path / "records.json").write_bytes(files["records.json"])
    assert check([str(tmp_path / "records.json"), "--k", "3", "--l", "course.grade=2"], say=lambda _line: None) == 0
    assert zipfile.ZipFile(io.BytesIO(written)).testzip() is None
    hierarchies = json.loads(files["hierarchies.json"])
    assert hierarchies["course.course"]["CS999"] == ["CS999", "CS", "*"]
    found = list(Audit(as_in_the_files(), hierarchies).violations(json.loads(files["records.json"])))
    assert found == [], "nothing was invented, and no order of the files was kept"
    assert made.title in words(visitor.get(reverse("analysis:public_releases")))
    again = step(owner, made, "build", **CHOICES)
    assert "The data set is in another state: approved." in words(again), "a second package could be joined with the first"
    assert step(officer, made, "retract", reason="A mistake.").status_code == 302
    assert "A mistake." in words(visitor.get(page(made, "public_records")))
    assert "A mistake." in page_of(owner.get(page(made, "data_set_records"))).xpath("//div[@class='notice']/p[1]")[0].text_content()
    assert visitor.get(page(made, "public_records_package")).status_code == 410
    wanted = {"data_set.brought", "records.tried", "records.hierarchy_changed", "records.package_started", "data_set.submitted"}
    logged = Entry.objects.filter(subject_id=str(made.pk)).values_list("action", flat=True)
    assert wanted | {"data_set.approved", "records.package_retracted"} <= set(logged)


def test_a_step_is_refused_to_those_whose_turn_it_is_not() -> None:
    made = record_set()
    other, officer, owner = logged_in(person(Role.INVESTIGATOR)), logged_in(person(Role.IRB_OFFICER)), logged_in(made.owner)
    for action in ("roles", "edit", "start", "build", "request", "approve", "retract", "delete"):
        assert step(other, made, action).status_code == 404
    package = requested(made)
    seen = {"sha256": package.package_sha256, "delete_on": f"{made.delete_on}"}
    assert other.get(page(made)).status_code == 404
    assert step(owner, made, "approve", **seen).status_code == 404, "nobody approves what they brought"
    for action in ("roles", "build", "take-back", "delete"):
        assert step(officer, made, action).status_code == 404
    assert "The package was built again meanwhile" in words(step(officer, made, "approve", **{**seen, "sha256": "0" * 64}))
    assert step(officer, made, "send-back", **seen, reason="Ask the students.").status_code == 302
    assert "Ask the students." in words(owner.get(page(made)))
    assert "The data set is in another state: being prepared." in words(step(officer, made, "approve", **seen))
    assert Client().get(page(made, "public_records")).status_code == 404


def test_an_officer_cannot_approve_what_the_checker_refuses() -> None:
    made = record_set()
    package = requested(made)
    files = files_in(bytes(package.package or b""))
    records = json.loads(files["records.json"])
    records[0]["quasi_identifiers"]["born"] = "1815"
    broken = {name: text for name, text in files.items() if not name.startswith("SHA256SUMS") and name != "public-key.pem"}
    broken["records.json"] = json.dumps(records).encode()
    written = zip_of(signed(broken, signing_key()))
    RecordPackage.objects.update(package=written)
    seen = {"sha256": package.package_sha256, "delete_on": f"{made.delete_on}"}
    refused = step(logged_in(person(Role.IRB_OFFICER)), made, "approve", **seen)
    assert "The checker refuses these records: record" in words(refused)
    RecordPackage.objects.update(package=bytes(package.package or b"")[:-1] + b"x")
    assert "The package is not as it was built" in words(step(logged_in(person(Role.IRB_OFFICER)), made, "approve", **seen))
    made.refresh_from_db()
    assert (made.status, Entry.objects.filter(action="data_set.approved").exists()) == ("waiting", False)


def test_every_stage_can_be_given_up_and_a_worker_that_dies_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    made = record_set()
    owner = logged_in(made.owner)
    step(owner, made, "start")
    sweep = RecordSweep.objects.get()
    attempt(claimed(sweep))
    work_on_part(sweep)
    held = claimed(sweep.parts.filter(found__isnull=True).order_by("pk")[0])
    fall_silent(held)
    tasks.sweep()
    assert claimed(held).pk == held.pk, "the next worker goes on where the silent one was"
    step(owner, made, "stop")
    assert "Stopped after 1 of" in words(owner.get(page(made)))
    step(owner, made, "build", **CHOICES)
    first = claimed(RecordPackage.objects.get())
    fall_silent(first)
    tasks.sweep()
    second = claimed(RecordPackage.objects.get())
    attempt(first)
    assert RecordPackage.objects.get().status == "building", "the silent worker writes nothing any more"
    attempt(second)
    assert RecordPackage.objects.get().status == "built"
    step(owner, made, "build", **CHOICES)
    held = claimed(RecordPackage.objects.get())
    assert step(owner, made, "discard").status_code == 302
    attempt(held)
    assert not RecordPackage.objects.exists()
    assert "The package was given up and deleted." in words(owner.get(page(made)))
    requested(made)
    assert step(owner, made, "take-back").status_code == 302
    assert "Request release" in words(owner.get(page(made)))
    assert step(owner, made, "delete", sure="yes").status_code == 302
    assert not RecordPackage.objects.exists()
    assert not Snapshot.objects.filter(data__isnull=False).exists()
    assert "before anything was published" in words(owner.get(page(made)))


def test_an_officer_confirms_by_name_what_is_published_as_it_is() -> None:
    made = record_set(files={**FILES, "maths.csv": courses_file() + "s1,ART,B\n"})
    owner, officer = logged_in(made.owner), logged_in(person(Role.IRB_OFFICER))
    names = list(schema_of_records(made).roles)
    step(owner, made, "roles", attribute=names, role=["quasi_identifier", "auxiliary", "auxiliary", "sensitive"])
    wrong = step(owner, made, "build", **CHOICES, asked=["born"])
    assert "Expected some of the questions sex, course.course, found born." in words(wrong)
    package = requested(made, suppress="0", asked=["sex", "course.course"])
    assert package.protection["auxiliary"] == []
    assert "Asked to be published as they are course.course; sex" in words(owner.get(page(made)))
    alone = package.summary["alone_if_confirmed"]
    assert alone > 0
    assert f"with all of them as they are, about {alone} of 60 people would share their record with nobody" in words(
        officer.get(page(made))
    )
    assert step(owner, made, "confirm", attributes=["sex"]).status_code == 404, "nobody confirms what they brought"
    seen = {"sha256": package.package_sha256}
    for refused in ({}, {"attributes": ["born"]}):
        assert "Expected some of the questions course.course, sex by name" in words(step(officer, made, "confirm", **seen, **refused))
    assert step(officer, made, "confirm", **seen, attributes=["sex"]).status_code == 302
    package = RecordPackage.objects.get(data_set=made)
    assert (package.status, package.protection["auxiliary"], package.package) == ("building", ["sex"], None)
    told = words(owner.get(page(made)))
    assert "Confirmed, to be published as they are: sex. Look at the new package, and ask once more." in told
    work_off(package)
    package.refresh_from_db()
    files = files_in(bytes(package.package or b""))
    records = json.loads(files["records.json"])
    assert {record["auxiliary"]["sex"] for record in records} == {"f", "m"}
    assert faults_in(files) == []
    assert next(violations(records, k=3), None) is not None, "without the officer it would break k"
    promised = json.loads(files["protocol.json"])["records"]
    assert (promised["auxiliary"], promised["roles"]["course.course"]) == (["sex"], "quasi_identifier")
    assert b"--auxiliary sex" in files["README.md"]
    step(owner, made, "request", sha256=package.package_sha256, delete_on=f"{made.delete_on}")
    again = words(officer.get(page(made)))
    assert "confirmed by name that these are published as they are: sex" in again
    secret = issue_token(user=User.objects.get(role=Role.IRB_OFFICER), name="n", scope=TokenScope.WRITE, days=1)
    address = reverse("analysis:api_confirm_record_set", args=[made.slug])
    program = Client(headers={"authorization": f"Bearer {secret}"})
    answers = [program.post(address, {"attributes": names}, "application/json").status_code for names in ([], ["sex"], ["course.course"])]
    assert answers == [400, 409, 202]
    assert Entry.objects.filter(action="release.auxiliary_confirmed", subject_id=str(made.pk)).count() == 2


def test_anonymise_or_query_is_one_page_for_studies_and_for_records_that_somebody_brings() -> None:
    made = record_set()
    owner, address = logged_in(made.owner), page(made, "data_set_records_or_query")
    assert owner.post(address, {"action": "start"}).status_code == 302
    sweep = RecordSweep.objects.get()
    RecordSweep.objects.update(plan=[sweep.plan[0], sweep.plan[-1]])
    sweep.refresh_from_db()
    work_off(sweep)
    shown = words(owner.get(address))
    assert "Which answers better?" in shown
    assert "Student records can be published as protected records" in shown
    assert address in owner.get(page(made)).content.decode()
    assert logged_in(person(Role.INVESTIGATOR)).get(address).status_code == 404
    requested(made)
    refused = owner.post(address, {"action": "start"}, follow=True)
    assert "The data set is in another state" in words(refused)
    assert not page_of(refused).xpath("//button[@value='start']")


def test_infeasible_choices_say_what_is_possible() -> None:
    made = record_set()
    owner = logged_in(made.owner)
    assert "Class size: expected a whole number from k = 5" in words(step(owner, made, "build", **{**CHOICES, "k": "5"}))
    assert "k = 61 students cannot share a record" in words(step(owner, made, "build", **{**CHOICES, "k": "61", "class_size": "61"}))
    failed = built(made, **{"l-course.grade": "9"})
    assert failed.status == "failed"
    assert "expected at most 4" in words(owner.get(page(made)))


def test_a_second_tab_does_not_undo_the_roles_of_the_first_unseen() -> None:
    made = record_set()
    owner = logged_in(made.owner)
    names = list(schema_of_records(made).roles)
    seen = page_of(owner.get(page(made))).xpath(MARK_OF_ROLES)
    first, second = ["sensitive", "auxiliary", *["quasi_identifier"] * 2], ["auxiliary", "auxiliary", "sensitive", "sensitive"]
    assert step(owner, made, "roles", attribute=names, role=first, seen=seen).status_code == 302
    refused = step(owner, made, "roles", attribute=names, role=second, seen=seen)
    assert (refused.status_code, "The roles were changed meanwhile" in words(refused)) == (422, True)
    assert schema_of_records(made).roles == dict(zip(names, first, strict=True))
    assert page_of(refused).xpath("//select[@name='role']/option[@selected]/@value") == second, "what was entered stands there"
    now = page_of(refused).xpath(MARK_OF_ROLES)
    assert step(owner, made, "roles", attribute=names, role=second, seen=now).status_code == 302
    assert schema_of_records(made).roles == dict(zip(names, second, strict=True))


def as_text(vertex: dict[str, Any]) -> str:
    """A record without the order of siblings, which is drawn by chance."""
    told = [vertex["quasi_identifiers"], vertex["sensitive"]]
    return json.dumps([*told, sorted(map(as_text, vertex["children"]))], sort_keys=True)


def test_two_imports_of_the_same_students_cannot_be_linked_here_and_the_officer_is_warned() -> None:
    first = record_set()
    published(first)
    second = record_set(person(Role.INVESTIGATOR), title="Transcripts again")
    one, other = ([as_text(record) for record in rows_of_records(made).records()] for made in (first, second))
    assert sorted(one) == sorted(other)
    assert one != other, "nothing but their content is the same: no key, and no order"
    package = requested(second)
    read = words(logged_in(person(Role.IRB_OFFICER)).get(page(second)))
    assert "Records were published here before." in read
    assert first.owner.username in read
    assert "a class of the one and a class of the other" in read
    assert alone_in_both([[0, 1], [2, 3]], [[0, 2], [1, 3]]) == 4, "what the warning is about"
    assert package.package_sha256 != RecordPackage.objects.get(data_set=first).package_sha256


def test_programs_do_what_the_page_does() -> None:
    owner, officer = person(Role.INVESTIGATOR), person(Role.IRB_OFFICER)
    secret = issue_token(user=owner, name="n", scope=TokenScope.WRITE, days=1)
    declaration = {"title": "T", "about": "A"}
    program = Client(headers={"authorization": f"Bearer {secret}"})
    address = reverse("analysis:api_bring_records")

    def import_of(files: list[dict[str, Any]], sent: int = 2) -> Any:
        parts = [SimpleUploadedFile(name, text.encode()) for name, text in FILES.items()][:sent]
        return program.post(address, {"declaration": json.dumps({**declaration, "files": files}), "file": parts})

    short = import_of(DECLARED, sent=1)
    assert (short.status_code, "Expected 2 files" in str(short.json())) == (400, True)
    declared = [{**DECLARED[0], "roles": {"born": "quasi_identifier"}}, DECLARED[1]]
    refused = import_of(declared)
    assert (refused.status_code, "“sex” has no role" in str(refused.json())) == (400, True)
    made = import_of(DECLARED)
    assert (made.status_code, made.json()["students"]) == (201, 60)
    data_set = DataSet.objects.get()
    home = reverse("analysis:api_record_set", args=[data_set.slug])

    def post(name: str, **document: Any) -> Any:
        return program.post(reverse(f"analysis:{name}", args=[data_set.slug]), json.dumps(document), content_type="application/json")

    roles = {"born": "quasi_identifier", "sex": "sensitive", "course.course": "quasi_identifier", "course.grade": "sensitive"}
    assert post("api_record_roles", roles=roles).json()["attributes"][1]["role"] == "sensitive"
    chains = {name: [name, "any course", "*"] for name in ("CS101", "CS201", "MA101", "not answered")}
    for changed, said in (
        ({"MA101": ["MA101", "maths"]}, "expected one root, '*'; the chain of 'MA101' ends with 'maths'"),
        ({"MA101": ["MA101", "x", "MA101", "*"]}, "'MA101' comes back in the chain of 'MA101': a loop"),
        ({"MA101": ["MA101", "any course", "maths", "*"]}, "'any course' has two parents"),
        ({"MA101": ["MA102", "*"]}, "the chain of 'MA101' begins with 'MA102'"),
        ({"MA101": []}, "expected 1 to"),
        ({"CS101": ["CS101", "MA101", "*"]}, "MA101"),
    ):
        wrong = post("api_record_hierarchy", attribute="course.course", hierarchy={**chains, **changed})
        assert (wrong.status_code, said in wrong.json()["detail"]) == (409, True), wrong.json()
    alike = '{"attribute": "course.course", "hierarchy": {"CS101": ["CS101", "*"], "CS101": ["CS101", "x", "*"]}}'
    twice = program.post(reverse("analysis:api_record_hierarchy", args=[data_set.slug]), alike, content_type="application/json")
    assert (twice.status_code, "“CS101” stands twice in one object" in twice.json()["detail"]) == (400, True)
    missing = post("api_record_hierarchy", attribute="course.course", hierarchy={"CS101": ["CS101", "*"]})
    assert missing.json()["detail"].startswith("The hierarchy of “course.course” has no place for “CS201”.")
    unknown = post("api_record_hierarchy", attribute="number", hierarchy={})
    assert "found number" in unknown.json()["detail"]
    for name, given, said in (("roles", {"roles": {"born": "sensitive"}}, "“sex” has no role"), ("build", {"k": 61}, "only 60")):
        document = {"authors": ["A"], **given} if name == "build" else given
        refused = post({"roles": "api_record_roles", "build": "api_build_record_set"}[name], **document)
        assert (refused.status_code, said in str(refused.json())) == (409, True)
    assert post("api_record_hierarchy", attribute="course.course", hierarchy=chains).status_code == 200
    assert program.post(home).json()["sweep"]["status"] == "running"
    work_on(RecordSweep.objects.get())
    assert post("api_stop_record_set").json()["sweep"]["status"] == "stopped"
    built_now = post("api_build_record_set", authors=["Lovelace, Ada"], k=3, diversity={"course.grade": 2})
    assert (built_now.status_code, built_now.json()["verdict"]["holds"]) == (202, None)
    work_off(RecordPackage.objects.get())
    verdict = program.get(home).json()["verdict"]
    assert (verdict["holds"], verdict["records"]["promised"]["k"], verdict["done"]) == (True, 3, 100)
    shown = program.get(reverse("analysis:api_data_set", args=[data_set.slug])).json()
    assert (shown["holds"], shown["status"]) == ("records", "draft")
    assert program.delete(reverse("analysis:api_build_record_set", args=[data_set.slug])).json()["verdict"] is None
    reader = issue_token(user=officer, name="n", scope=TokenScope.WRITE, days=1)
    assert Client(headers={"authorization": f"Bearer {reader}"}).get(home).status_code == 404


def test_more_than_the_stated_limit_is_refused_before_it_is_read() -> None:
    owner = person(Role.INVESTIGATOR)
    for name in ("bring_records", "api_bring_records"):
        assert most_at(reverse(f"analysis:{name}")) == TABLES
    huge = {"CONTENT_LENGTH": str(500 * 1024**2)}
    refused = logged_in(owner).generic(
        "POST", reverse("analysis:bring_records"), b"", content_type="multipart/form-data; boundary=x", **huge
    )
    assert refused.status_code == 413
