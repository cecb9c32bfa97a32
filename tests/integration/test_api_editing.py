"""Programs edit by API everything that the pages edit: drafts, files, codes, arms, blinding, computations; and nobody's edit is lost."""

import json
from copy import copy
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from accounts.models import Role, User
from analysis.models import Run, RunStatus
from audit.models import Entry
from surveys.allocation import services as allocation
from surveys.models import ArmState, EntryCode, MediaFile, MemberRole, Study, StudyMember
from surveys.studies import services as studies
from surveys.study_file import define, dump, read_study_file
from surveys.tokens import completion_code
from tests.api_requests import API, get, post, problem, told_at
from tests.factories import LECTURES, document, draft_study, logged_in, person, recruiting_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return draft_study()


@pytest.fixture
def client(study: Study) -> Client:
    return logged_in(study.owner)


def at(study: Study, path: str) -> str:
    return f"{API}studies/{study.slug}/{path}"


def tag(client: Client, study: Study) -> str:
    return str(client.get(at(study, "definition/"))["ETag"])


def change(client: Client, study: Study, patch: Any, *, seen: str = "") -> HttpResponse:
    headers = {"If-Match": seen} if seen else {}
    return client.patch(at(study, "definition/"), data=json.dumps(patch), content_type="application/merge-patch+json", headers=headers)


# The definition


def test_a_draft_is_read_changed_and_put_back(client: Client, study: Study) -> None:
    read = client.get(at(study, "definition/"))
    assert read.json() == study.definition
    changed = {**read.json(), "contact": "Ada, ada@example.org"}
    put = client.put(
        at(study, "definition/"), data=json.dumps(changed), content_type="application/json", headers={"If-Match": read["ETag"]}
    )
    remembered = {"translations": put.json()["translations"]}  # the list of originals forgets the contact, which has one language now
    assert (put.status_code, put.json()) == (200, changed | remembered)
    assert put["ETag"] == tag(client, study) != read["ETag"]
    study.refresh_from_db()
    assert study.definition["contact"] == "Ada, ada@example.org"
    assert Entry.objects.filter(action="study.changed", subject_id=str(study.pk)).count() == 1


def test_the_study_file_is_exported_as_yaml_and_can_be_sent_back(client: Client, study: Study) -> None:
    for answer in (
        client.get(at(study, "definition/?format=yaml")),
        client.get(at(study, "definition/"), headers={"Accept": "application/yaml"}),
    ):
        assert answer["Content-Type"] == "application/yaml; charset=utf-8"
        assert read_study_file(answer.content.decode()) == define(study.definition)
    text = dump(document(slug=study.slug, contact="by file"))
    put = client.put(at(study, "definition/"), data=text, content_type="application/yaml", headers={"If-Match": tag(client, study)})
    assert put.json()["contact"] == "by file"


def test_a_patch_changes_a_part_and_leaves_the_rest(client: Client, study: Study) -> None:
    answer = change(client, study, {"allocation": {"planned_participants": 96}, "minimum_seconds": None}, seen=tag(client, study))
    assert answer.status_code == 200, answer.content
    expected = document(slug=study.slug, allocation={"planned_participants": 96}, minimum_seconds=None)
    assert answer.json() == expected | {"translations": study.definition["translations"]}


def test_an_amendment_in_the_making_is_read_where_it_is_changed() -> None:
    """Its next change begins from it, and not from the protocol in force, which everybody else reads."""
    study, viewer = recruiting_study(), person(Role.ANALYST)
    StudyMember.objects.create(study=study, user=viewer, role=MemberRole.VIEWER)
    client, in_force = logged_in(study.owner), study.definition["contact"]
    assert change(client, study, {"contact": "the first"}, seen=tag(client, study)).status_code == 200
    assert client.get(at(study, "definition/")).json()["contact"] == "the first"
    assert get(viewer, f"studies/{study.slug}/definition/")["contact"] == in_force
    assert change(client, study, {"contact": "the second"}, seen=tag(client, study)).status_code == 200
    studies.submit_for_review(study, actor=study.owner)
    assert client.get(at(study, "definition/")).json()["contact"] == in_force, "nothing can be changed now"


def test_a_change_without_the_version_seen_is_not_taken(client: Client, study: Study) -> None:
    before = problem(change(client, study, {"contact": "somebody"}), 428)
    assert "If-Match" in before["advice"]
    assert get(study.owner, f"studies/{study.slug}/definition/") == study.definition


def test_the_second_of_two_edits_of_the_same_version_is_refused_with_the_reason(client: Client, study: Study) -> None:
    seen = tag(client, study)
    assert change(client, study, {"contact": "the first"}, seen=seen).status_code == 200
    refused = problem(change(client, study, {"contact": "the second"}, seen=seen), 412)
    assert refused["type"] == "urn:candor:problem:precondition-failed"
    assert get(study.owner, f"studies/{study.slug}/definition/")["contact"] == "the first"


def test_an_edit_that_slips_in_between_check_and_change_is_found_under_the_lock(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, lock = tag(client, study), studies.locked

    def somebody_is_quicker(one: Study, *, by: User) -> Study:
        Study.objects.filter(pk=one.pk).update(definition={**one.definition, "contact": "the first"})
        return lock(one, by=by)

    monkeypatch.setattr(studies, "locked", somebody_is_quicker)
    problem(change(client, study, {"contact": "the second"}, seen=seen), 412)
    assert Study.objects.get().definition["contact"] != "the second"


@pytest.mark.parametrize(
    ("patch", "status", "expected"),
    [
        ({"control": "radio"}, 400, "control must be one of the arms"),
        ({"slug": "another"}, 400, "a study keeps its slug"),
        ({"contact": "\x00"}, 400, ""),
        ({"contact": "\ud800"}, 400, ""),
        ([1], 400, "found list"),
        ({"nobody_knows": 1}, 400, "nobody_knows"),
    ],
)
def test_a_patch_brings_in_nothing_that_a_study_file_cannot(client: Client, study: Study, patch: Any, status: int, expected: str) -> None:
    assert expected in problem(change(client, study, patch, seen=tag(client, study)), status)["detail"]
    assert Study.objects.get().definition == study.definition


def test_a_study_under_review_is_not_changed(client: Client, study: Study) -> None:
    studies.submit_for_review(study, actor=study.owner)
    assert "cannot be changed now" in problem(change(client, study, {"contact": "late"}, seen="*"), 409)["detail"]


# Files, codes, arms


def test_files_are_checked_taken_and_listed(client: Client, study: Study) -> None:
    MediaFile.objects.filter(study=study, name="captions-en.vtt").delete()
    upload = SimpleUploadedFile("any-name.vtt", (LECTURES / "captions-en.vtt").read_bytes())
    answer = client.post(at(study, "media/"), {"file": upload, "name": "captions-en.vtt"})
    assert (answer.status_code, answer.json()["media_type"]) == (201, "text/vtt")
    listed = {one["name"]: one for one in get(study.owner, f"studies/{study.slug}/media/")["results"]}
    assert listed["captions-en.vtt"] == answer.json()
    assert listed.keys() == define(study.definition).files()
    for name, content, expected in (("a.vtt", b"no captions", "a.vtt"), ("a.exe", b"MZ", "expected a video")):
        refused = problem(client.post(at(study, "media/"), {"file": SimpleUploadedFile(name, content)}), 400)
        assert expected in refused["detail"]
    assert "file" in told_at(problem(client.post(at(study, "media/"), {}), 400))


def test_entry_codes_come_in_as_csv_and_completion_codes_are_checked(client: Client, study: Study) -> None:
    answer = client.post(at(study, "codes/"), data="code\nAAAA-1111\nBBBB-2222\n", content_type="text/csv")
    assert answer.json() == {"added": 2, "column": 1}
    assert client.post(at(study, "codes/"), data="AAAA-1111\nCCCC-3333\n", content_type="text/csv").json() == {"added": 1, "column": 1}
    EntryCode.objects.filter(pk=EntryCode.objects.all()[:1].get().pk).update(spent=True)
    assert client.get(at(study, "codes/")).json() == {"total": 3, "spent": 1}
    assert "line 1" in problem(client.post(at(study, "codes/"), data="x\n", content_type="text/csv"), 400)["detail"]
    half = client.post(at(study, "codes/"), data="code;name\nDDDD-4444;Ann\nA1;Bob\n", content_type="text/csv")
    assert "line 3: expected 8 to 64 letters and digits, found 2" in problem(half, 400)["detail"]
    made = post(client, f"studies/{study.slug}/codes/made/", {"count": 2})
    assert (made.status_code, len(made.json())) == (201, 2)
    assert all(one["link"].endswith(f"/s/{study.slug}/#code={one['code'].replace('-', '')}") for one in made.json())
    problem(post(client, f"studies/{study.slug}/codes/made/", {"count": 1001}), 400)
    assert client.get(at(study, "codes/")).json() == {"total": 5, "spent": 1}
    genuine = completion_code("a token", study.slug)
    checked = post(client, f"studies/{study.slug}/completion-codes/", {"codes": [genuine, "GUESSED", genuine]}).json()
    assert [(one["genuine"], one["repeated"]) for one in checked] == [(True, True), (False, False), (True, True)]


def test_an_arm_is_given_a_quota_and_closed_while_the_study_runs() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    arm = client.get(at(study, "arms/")).json()[0]
    assert (arm["quota"], arm["closed"]) == (None, False)
    address = at(study, f"arms/{arm['arm']}/")
    assert client.patch(address, data='{"quota": 5}', content_type="application/json").json() == {**arm, "quota": 5}
    assert client.patch(address, data='{"closed": true}', content_type="application/json").json() == {**arm, "quota": 5, "closed": True}
    assert "quota" in told_at(problem(client.patch(address, data='{"quota": -1}', content_type="application/json"), 400))
    problem(client.patch(at(study, "arms/no-such-arm/"), data="{}", content_type="application/json"), 404)
    assert Entry.objects.filter(action="study.arm_changed").count() == 2
    studies.close(study, actor=study.owner)
    problem(client.patch(address, data='{"closed": false}', content_type="application/json"), 409)
    assert ArmState.objects.get(study=study, arm=arm["arm"]).closed


def test_an_arm_that_somebody_closes_while_its_quota_is_changed_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    study, change = recruiting_study(), allocation.change_arm

    def close_first(given: Study, **asked: Any) -> None:
        change(study, arm="slides", actor=study.owner, quota=None, closed=True)
        change(given, **asked)

    monkeypatch.setattr("surveys.allocation.api.change_arm", close_first)
    changed = logged_in(study.owner).patch(at(study, "arms/slides/"), data='{"quota": 5}', content_type="application/json")
    assert changed.json() == {"arm": "slides", "quota": 5, "closed": True}


# Results


def test_blinding_is_set_and_recorded() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    assert client.get(at(study, "blinding/")).json() == {"on": False}
    assert client.put(at(study, "blinding/"), data='{"on": true}', content_type="application/json").json() == {"on": True}
    assert client.get(at(study, "blinding/")).json() == {"on": True}
    assert client.get(at(study, "results/")).json()["blinded"] is True
    assert Entry.objects.filter(action="results.blinded").count() == 1


def test_the_full_computation_is_started_and_stopped() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    started = post(client, f"studies/{study.slug}/runs/")
    assert (started.status_code, started.json()["status"]) == (202, "queued")
    assert post(client, f"studies/{study.slug}/runs/cancel/").json()["status"] == "cancelled"
    assert [run.status for run in Run.objects.all()] == [RunStatus.CANCELLED]
    assert client.get(at(study, "runs/?status=cancelled&kind=full_results")).json()["count"] == 1
    assert client.get(at(study, "runs/?status=done")).json()["count"] == 0
    draft = draft_study(slug="not-yet", owner=study.owner)
    problem(post(client, f"studies/{draft.slug}/runs/"), 409)


def test_figures_and_tables_are_files_like_those_of_the_page() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    files = client.get(at(study, "files/")).json()
    assert [one["name"] for one in files["figures"]] == ["participants", "enrolment"]
    page = f"/studies/{study.slug}/results/"
    assert client.get(files["figures"][0]["svg"]).content == client.get(page + "figures/participants.svg").content
    picture = client.get(files["figures"][0]["png"])
    assert (picture["Content-Type"], picture.content[:4]) == ("image/png", b"\x89PNG")
    assert picture.content == client.get(page + "figures/participants.png").content
    assert len(files["tables"]) == 7
    for table in files["tables"]:
        assert client.get(table["csv"]).content == client.get(f"{page}tables/{table['name']}.csv").content
    problem(client.get(at(study, "figures/participants.gif")), 404)


# The part that stayed, and the words to look for


def test_a_repeated_request_is_told_that_nothing_changed() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    for path in ("", "counts/", "results/", "definition/"):
        first = client.get(at(study, path))
        again = client.get(at(study, path), headers={"If-None-Match": first["ETag"]})
        head = client.head(at(study, path))
        assert (head.status_code, head["ETag"]) == (200, first["ETag"]), "a program looks first whether to fetch"
        assert client.head(at(study, path), headers={"If-None-Match": first["ETag"]}).status_code == 304
        assert (again.status_code, again.content) == (304, b""), path
    first = client.get(at(study, ""))
    studies.pause(study, actor=study.owner)
    assert client.get(at(study, ""), headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_studies_are_found_by_words_and_put_in_order() -> None:
    owner: User = person(Role.INVESTIGATOR)
    for slug, title in (("alpha", "Faces in lectures"), ("beta", "Slides"), ("gamma", "More faces")):
        draft_study(owner=owner, slug=slug, title=title)
    assert [one["slug"] for one in get(owner, "studies/?search=faces")["results"]] == ["alpha", "gamma"]
    assert [one["slug"] for one in get(owner, "studies/?search=bet")["results"]] == ["beta"]
    assert [one["slug"] for one in get(owner, "studies/?ordering=-slug")["results"]] == ["gamma", "beta", "alpha"]


def test_pages_of_studies_show_each_study_once_in_every_order() -> None:
    first = draft_study(slug="study-000", title="Faces")
    rest = [copy(first) for _number in range(259)]
    for number, one in enumerate(rest, start=1):
        one.pk, one.slug = None, f"study-{number:03}"
    Study.objects.bulk_create(rest)
    for order in ("title", "-status", "created_on", "-slug"):
        pages = [get(first.owner, f"studies/?ordering={order}&page={number}")["results"] for number in range(1, 7)]
        assert sorted(one["slug"] for page in pages for one in page) == ["study-000", *(one.slug for one in rest)], order
