"""The twins of pages at work: each does what its page does, leaves the same line in the log, and refuses what its page refuses."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from accounts.models import Role, TokenScope, User
from accounts.services import issue_token
from analysis.data_sets.retention import usual_day
from analysis.models import Asking, Charge, DataSet, DataSetAnalyst, DataSetStatus, RecordHierarchies, Release, Snapshot, SnapshotStatus
from audit.models import Entry
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.studies.services import fingerprint
from tests.api_requests import API, get, post, problem, told_at
from tests.data_sets import data_set, named
from tests.factories import draft_study, logged_in, person, recruiting_study, study_in
from tests.integration.test_network_questions import source_of_circles
from tests.jobs import work_on
from tests.record_sets import built, record_set
from tests.releases import built_release, closed_study, requested_release, started_release

pytestmark = pytest.mark.django_db
LECTURE = Path(__file__).resolve().parents[2] / "surveys" / "sample" / "lectures" / "slides-only.webm"


def sent(client: Client, method: str, path: str, data: Any = None, **headers: str) -> HttpResponse:
    return client.generic(method, API + path, json.dumps(data), content_type="application/json", headers=headers)


def recorded() -> list[str]:
    return list(Entry.objects.order_by("sequence").values_list("action", flat=True))


def test_people_are_invited_accept_change_roles_and_leave() -> None:
    study, guest = draft_study(), person(Role.INVESTIGATOR)
    owner, at = logged_in(study.owner), f"studies/{study.slug}/"
    link = post(owner, f"{at}people/", {"addressee": guest.username, "role": "viewer"}).json()["link"]
    token = link.rstrip("/").rpartition("/")[2]
    assert get(study.owner, f"{at}people/")["invitations"][0]["addressee"] == guest.username
    assert get(guest, f"invitations/{token}/")["title"] == study.title
    problem(post(logged_in(person(Role.INVESTIGATOR)), f"invitations/{token}/"), 409)
    assert post(logged_in(guest), f"invitations/{token}/").json() == {"slug": study.slug}
    problem(post(logged_in(guest), f"invitations/{token}/"), 404)
    problem(sent(logged_in(guest), "PATCH", f"{at}people/{guest.username}/", {"role": "editor"}), 404)
    assert sent(owner, "PATCH", f"{at}people/{guest.username}/", {"role": "editor"}).json()["members"][0]["role"] == "editor"
    assert sent(owner, "PUT", f"{at}owner/", {"person": guest.username}).json()["owner"] == guest.username
    assert owner.delete(f"{API}{at}people/{study.owner.username}/").status_code == 204
    assert not StudyMember.objects.filter(study=study).exists()
    log = [one for one in recorded() if "invit" in one or "member" in one or "transfer" in one]
    assert log == ["study.invited", "study.invitation_accepted", "study.member_role_changed", "study.transferred", "study.member_removed"]


def test_nobody_learns_by_removing_who_has_an_account() -> None:
    study, stranger = draft_study(), person(Role.ANALYST)
    owner = logged_in(study.owner)
    answers = [owner.delete(f"{API}studies/{study.slug}/people/{name}/") for name in (stranger.username, "nobody-at-all")]
    assert problem(answers[0], 404) == problem(answers[1], 404)


def test_an_editor_does_not_manage_people_and_a_stranger_finds_nothing() -> None:
    study, editor = draft_study(), person(Role.INVESTIGATOR)
    StudyMember.objects.create(study=study, user=editor, role=MemberRole.EDITOR)
    for user in (editor, person(Role.INVESTIGATOR)):
        client, at = logged_in(user), f"studies/{study.slug}/"
        for method, path in (
            ("POST", "people/"),
            ("PUT", "owner/"),
            ("PATCH", f"people/{editor.username}/"),
            ("DELETE", f"people/{study.owner.username}/"),
            ("DELETE", "invitations/1/"),
            ("POST", "retention/"),
        ):
            problem(sent(client, method, at + path, {"addressee": "a@b.example", "role": "editor"}), 404)
    assert Study.objects.get(pk=study.pk).owner == study.owner


def test_operational_data_are_deleted_by_the_name_of_the_study_alone() -> None:
    study = closed_study()
    client, at = logged_in(study.owner), f"studies/{study.slug}/retention/"
    refused = problem(post(client, at, {"confirmation": "yes"}), 400)
    assert told_at(refused) == {"confirmation": f"Nothing was deleted. Type {study.slug} to go on."}
    assert get(study.owner, at)["forgotten_on"] is None
    assert post(client, at, {"confirmation": study.slug}).status_code == 202
    assert get(study.owner, at)["forgotten_on"] is not None
    running = recruiting_study(slug="running", owner=study.owner)
    problem(post(client, "studies/running/retention/", {"confirmation": running.slug}), 409)


def test_a_study_begins_with_an_example_from_a_title_as_a_copy_and_from_an_archive() -> None:
    owner = person(Role.INVESTIGATOR)
    client = logged_in(owner)
    assert {one["name"] for one in get(owner, "new-study/")} >= {"lecture-videos", "exam-cheating"}
    begun = post(client, "new-study/", {"example": "lecture-videos"})
    assert (begun.status_code, begun["Location"]) == (201, f"{API}studies/lecture-videos/")
    assert post(client, "new-study/", {"title": "A", "languages": ["de"]}).json()["slug"] == "a-study"
    for example in ("lecture-videos", "exam-cheating"):
        begun_there = {"example": example, "slug": f"my-{example}"}
        assert post(client, "new-study/", begun_there).json()["slug"] == f"my-{example}"
        assert set(told_at(problem(post(client, "new-study/", begun_there), 400))) == {"slug"}
    assert set(told_at(problem(post(client, "new-study/", {}), 400))) == {"title"}
    assert set(told_at(problem(post(client, "new-study/", {"title": "A", "languages": ["xx"]}), 400))) == {"languages.0"}
    said = {"slug": "Use 2 to 50 small letters, digits and hyphens."}
    for path, sent in (("new-study/", {"title": "A", "slug": "ä b"}), ("studies/lecture-videos/duplicate/", {"slug": "A"})):
        assert told_at(problem(post(client, path, sent), 400)) == said
    assert post(client, "studies/lecture-videos/duplicate/", {"slug": "the-copy"}).json()["definition"]["title"]["en"].startswith("Copy of")
    assert set(told_at(problem(post(client, "studies/lecture-videos/duplicate/", {"slug": "the-copy"}), 400))) == {"slug"}
    archive = client.get(f"{API}studies/the-copy/archive/").getvalue()
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert {"the-copy.yaml", "slides-only.webm"} <= set(files.namelist())
    upload = {"file": SimpleUploadedFile("study.zip", archive), "slug": "third"}
    brought = client.post(f"{API}import-study/", upload)
    assert (brought.status_code, brought.json()["slug"]) == (201, "third")
    assert {one["name"] for one in get(owner, "studies/third/media/")["results"]} >= {"slides-only.webm"}
    broken = client.post(f"{API}import-study/", {"file": SimpleUploadedFile("study.zip", b"PK no archive")})
    assert "study.zip" in problem(broken, 400)["detail"]


def test_changes_are_taken_back_and_a_version_comes_again() -> None:
    study = draft_study()
    client, at = logged_in(study.owner), f"studies/{study.slug}/"
    before = get(study.owner, f"{at}definition/")
    headers = {"If-Match": f'"{fingerprint(study)}"'}
    assert sent(client, "PATCH", f"{at}definition/", {"minimum_seconds": 33}, **headers).status_code == 200
    assert [one["number"] for one in get(study.owner, f"{at}history/")] == [2, 1]
    assert "minimum_seconds" not in before or before["minimum_seconds"] != 33
    assert post(client, f"{at}history/taken-back/", {"number": 2}).json() == before
    problem(post(client, f"{at}history/taken-back/", {"number": 2}), 409)
    assert post(client, f"{at}history/taken-back/", {"number": 3}).json()["minimum_seconds"] == 33
    problem(post(client, f"{at}history/restored/", {"version": 1}), 428)
    problem(sent(client, "POST", f"{at}history/restored/", {"version": 1}, **headers), 412)
    assert sent(client, "POST", f"{at}history/restored/", {"version": 1}, **{"If-Match": "*"}).json() == before
    problem(sent(client, "POST", f"{at}history/restored/", {"version": 99}, **{"If-Match": "*"}), 404)


def test_an_approved_study_is_a_draft_again_for_a_reason() -> None:
    study = study_in(StudyStatus.APPROVED)
    at = f"studies/{study.slug}/new-version/"
    assert set(told_at(problem(post(logged_in(study.owner), at, {}), 400))) == {"reason"}
    assert post(logged_in(study.owner), at, {"reason": "A better consent."}).json()["status"] == "draft"
    problem(post(logged_in(study.owner), at, {"reason": "Once more."}), 409)


def test_a_file_of_an_arm_is_named_by_the_definition_and_taken_out_again() -> None:
    study = draft_study()
    client, at = logged_in(study.owner), f"studies/{study.slug}/arms/slides/files/"
    upload = {"file": SimpleUploadedFile("mine.webm", LECTURE.read_bytes()), "place": "video"}
    added = client.post(API + at, upload)
    assert added.status_code == 201, added.content
    name = added.json()["name"]
    arms = {arm["name"]: arm for arm in get(study.owner, f"studies/{study.slug}/definition/")["arms"]}
    assert name in arms["slides"]["video"]["sources"]
    assert client.delete(f"{API}{at}{name}/").status_code == 204
    captions = {"file": SimpleUploadedFile("c.vtt", b"WEBVTT\n"), "place": "captions", "language": "fr"}
    assert set(told_at(problem(client.post(API + at, captions), 400))) == {"language"}
    wrong = {"file": SimpleUploadedFile("c.exe", b"MZ"), "place": "video"}
    problem(client.post(API + at, wrong), 400)
    problem(client.post(API + at.replace("slides", "no-such-arm"), upload), 404)


def test_mistakes_in_a_study_file_come_with_their_places() -> None:
    study = draft_study()
    document = get(study.owner, f"studies/{study.slug}/definition/")
    document["arms"][0]["label"] = {"en": ""}
    document["questions"][1]["name"] = "Not A Name"
    del document["consent"]
    answer = sent(logged_in(study.owner), "PUT", f"studies/{study.slug}/definition/", document, **{"If-Match": "*"})
    places = told_at(problem(answer, 400))
    assert set(places) >= {"consent", "questions.1.name"}
    assert any(place.startswith("arms.0.label") for place in places)
    assert places["consent"] == "this part is missing"
    document = get(study.owner, f"studies/{study.slug}/definition/") | {"control": "nobody"}
    answer = sent(logged_in(study.owner), "PUT", f"studies/{study.slug}/definition/", document, **{"If-Match": "*"})
    assert set(told_at(problem(answer, 400))) == {"control"}


class TestReleases:
    def test_a_release_goes_from_choices_to_the_public_by_two_people(self) -> None:
        study, officer = closed_study(), person(Role.IRB_OFFICER)
        client, at = logged_in(study.owner), f"studies/{study.slug}/releases/"
        chosen = {"title": "Marks", "authors": ["Hopper, Grace"], "questions": ["attention"], "background": "counts", "smallest_count": 5}
        started = post(client, at, chosen)
        assert (started.status_code, started.json()["status"], started.json()["steps"]) == (202, "queued", ["discard"])
        here = f"{at}{started.json()['number']}/"
        problem(post(client, at, chosen), 409)
        problem(post(client, f"{here}request/", {}), 409)
        work_on(Release.objects.get())
        assert get(study.owner, here)["rows"] == []
        assert len(get(officer, here)["rows"]) == 10
        assert "release.rows_seen" in recorded()
        problem(post(client, f"{here}approve/", {}), 409)
        sha256 = post(client, f"{here}request/", {}).json()["package_sha256"]
        assert get(officer, here)["steps"] == ["approve", "refuse"]
        problem(post(logged_in(officer), f"{here}approve/", {"sha256": "0" * 64}), 409)
        problem(post(logged_in(officer), f"{here}refuse/", {"reason": " "}), 400)
        assert post(logged_in(officer), f"{here}approve/", {"sha256": sha256}).json()["status"] == "published"
        assert post(client, f"{here}retract/", {"reason": "A mistake."}).json()["status"] == "retracted"

    @pytest.mark.parametrize("role", [Role.ADMINISTRATOR, Role.INVESTIGATOR, Role.ANALYST])
    def test_only_an_officer_without_a_part_approves(self, role: Role) -> None:
        release = requested_release(closed_study())
        answer = post(logged_in(person(role)), f"studies/{release.study.slug}/releases/{release.pk}/approve/", {})
        problem(answer, 409 if role == Role.ADMINISTRATOR else 404)
        release.refresh_from_db()
        assert release.status == "requested"

    def test_a_release_of_another_study_is_not_there(self) -> None:
        release, other = started_release(closed_study()), draft_study(slug="other")
        problem(post(logged_in(other.owner), f"studies/{other.slug}/releases/{release.pk}/discard/", {}), 404)
        problem(logged_in(other.owner).get(f"{API}studies/{other.slug}/releases/{release.pk}/"), 404)

    def test_a_token_that_reads_takes_no_step(self) -> None:
        release = built_release(closed_study())
        token = issue_token(user=release.study.owner, name="reads", scope=TokenScope.READ, days=1)
        reader = Client(headers={"Authorization": f"Bearer {token}"})
        at = f"studies/{release.study.slug}/releases/{release.pk}/"
        assert reader.get(API + at).status_code == 200
        problem(post(reader, f"{at}request/", {}), 403)

    def test_choices_that_do_not_fit_are_named(self) -> None:
        study = closed_study()
        chosen = {"title": "A\nB", "authors": ["x\x07"], "questions": [], "k": 4, "smallest_count": 3}
        answer = problem(post(logged_in(study.owner), f"studies/{study.slug}/releases/", chosen), 400)
        assert set(told_at(answer)) == {"title", "authors", "questions", "smallest_count"}
        chosen = {"title": "A", "authors": ["x"], "questions": ["attention"], "k": 4}
        assert set(told_at(problem(post(logged_in(study.owner), f"studies/{study.slug}/releases/", chosen), 400))) == {"k"}


class TestDataSets:
    def test_a_data_set_is_asked_for_approved_and_deleted(self) -> None:
        made, officer, analyst = data_set(), person(Role.IRB_OFFICER), person(Role.ANALYST)
        owner, at = logged_in(made.owner), f"data-sets/{made.slug}/"
        link = post(owner, f"{at}people/", {"addressee": analyst.username}).json()["link"]
        assert post(logged_in(analyst), f"data-set-invitations/{link.rstrip('/').rpartition('/')[2]}/").json() == {"slug": made.slug}
        assert set(told_at(problem(post(owner, f"{at}actions/submit/", {}), 400))) == {"epsilon", "delta"}
        most = 1 / (10 * owner.get(f"{API}{at}").json()["students"])
        for wrong, said in (
            ({"epsilon": 0}, {"epsilon": "Expected a number above 0, found 0."}),
            ({"delta": -1e-6}, {"delta": "Expected a number above 0, found -1e-06."}),
            ({"delta": 5}, {"delta": f"Expected a number below {most:g}, 1 in ten times the students, found 5."}),
        ):
            assert told_at(problem(post(owner, f"{at}actions/submit/", {"epsilon": 1, "delta": 1e-6} | wrong), 400)) == said
        budget = {"epsilon": 1.0, "delta": 1e-6, "delete_on": f"{usual_day()}"}
        past = problem(post(owner, f"{at}actions/submit/", budget | {"delete_on": "2020-01-01"}), 400)
        assert set(told_at(past)) == {"delete_on"}
        assert post(owner, f"{at}actions/submit/", budget).json()["status"] == DataSetStatus.WAITING
        problem(post(owner, f"{at}actions/approve/", budget), 404)
        problem(post(logged_in(officer), f"{at}actions/approve/", budget | {"about": made.about, "epsilon": 2.0}), 409)
        seen = budget | {"about": made.about, "analysts": [analyst.username]}
        assert post(logged_in(officer), f"{at}actions/approve/", seen).json()["analysts"] == [analyst.username]
        assert set(told_at(problem(post(owner, f"{at}actions/delete/", {}), 400))) == {"sure"}
        assert logged_in(analyst).delete(f"{API}{at}people/{analyst.username}/").status_code == 204
        assert not DataSetAnalyst.objects.exists()
        assert post(owner, f"{at}actions/delete/", {"sure": True}).json()["forgotten_on"] is not None

    def test_an_analyst_manages_nobody(self) -> None:
        made, analyst, other = data_set(), person(Role.ANALYST), person(Role.ANALYST)
        named(made, analyst)
        named(made, other)
        for user in (analyst, person(Role.INVESTIGATOR)):
            problem(logged_in(user).delete(f"{API}data-sets/{made.slug}/people/{other.username}/"), 404)
            problem(post(logged_in(user), f"data-sets/{made.slug}/people/", {"addressee": "a@b.example"}), 404)
        assert DataSetAnalyst.objects.count() == 2

    def test_records_are_asked_for_sent_back_and_published(self) -> None:
        made, officer = record_set(), person(Role.IRB_OFFICER)
        package = built(made)
        owner, at = logged_in(made.owner), f"data-sets/{made.slug}/records/actions/"
        seen = {"sha256": package.package_sha256, "delete_on": f"{usual_day()}"}
        problem(post(owner, f"{at}request/", {"sha256": "0" * 64}), 409)
        assert post(owner, f"{at}request/", seen).json()["status"] == DataSetStatus.WAITING
        assert post(owner, f"{at}take-back/", {}).json()["status"] == DataSetStatus.DRAFT
        assert post(owner, f"{at}request/", seen).status_code == 200
        problem(post(owner, f"{at}approve/", seen), 404)
        assert post(logged_in(officer), f"{at}send-back/", {"reason": "Whose?"}).json()["status"] == DataSetStatus.DRAFT
        assert post(owner, f"{at}request/", seen).status_code == 200
        assert post(logged_in(officer), f"{at}approve/", seen).json()["status"] == DataSetStatus.APPROVED
        assert post(owner, f"{at}retract/", {"reason": "A mistake."}).json()["verdict"]["status"] == "retracted"
        problem(post(owner, f"data-sets/{made.slug}/actions/submit/", {"epsilon": 1, "delta": 1e-6}), 404)
        assert DataSet.objects.get().status == DataSetStatus.APPROVED


def test_networks_cost_before_they_are_asked_about() -> None:
    source = source_of_circles()
    token = issue_token(user=source.study.owner, name="spends", scope=TokenScope.ANALYTICS_SPEND, days=1)
    client, at = Client(headers={"Authorization": f"Bearer {token}"}), f"studies/{source.study.slug}/analytics/networks/"
    asked = {"kind": "network_degrees", "circle": "team", "epsilon": 0.5}
    offer = post(client, f"{at}preview/", asked).json()
    assert (offer["error"], offer["mostly_noise"], offer["obstacle"]) == (12, True, "")
    assert not Charge.objects.exists()
    problem(post(client, f"{at}preview/", asked | {"rho": 0.1}), 400)
    problem(post(client, f"{at}preview/", asked | {"circle": "nobody"}), 400)
    assert post(client, at, asked).json()["answer"] is None
    work_on(Asking.objects.get())
    (answer,) = client.get(API + at).json()
    assert len(answer["answer"]["cells"]) == 9
    assert post(client, at, asked).json()["number"] == answer["number"]
    assert Charge.objects.count() == 1


def test_a_table_that_failed_is_made_again() -> None:
    source = source_of_circles()
    Snapshot.objects.filter(source=source).update(status=SnapshotStatus.FAILED, data=None, schema=None, n=None)
    assert post(logged_in(source.study.owner), f"studies/{source.study.slug}/analytics/ledger/made-again/").status_code == 200
    assert Snapshot.objects.filter(source=source).order_by("-number")[0].status != SnapshotStatus.FAILED


def test_a_hierarchy_of_a_study_is_changed_and_suggested_again() -> None:
    study = closed_study()
    at = f"studies/{study.slug}/records/"
    client = logged_in(study.owner)
    one = next(one for one in get(study.owner, at)["attributes"] if one["hierarchy"] and one["role"] == "quasi_identifier")
    flat = {value: [value, "*"] for value in one["hierarchy"] if value != "*"}
    changed = post(client, f"{at}hierarchies/", {"attribute": one["name"], "hierarchy": flat})
    assert changed.status_code == 200, changed.content
    assert RecordHierarchies.objects.get(study=study).document == {one["name"]: flat}
    assert post(client, f"{at}hierarchies/", {"attribute": one["name"], "hierarchy": None}).status_code == 200
    assert RecordHierarchies.objects.get(study=study).document == {}
    problem(post(client, f"{at}hierarchies/", {"attribute": "nothing", "hierarchy": None}), 409)


def test_an_account_says_who_asks_and_turns_notices_off() -> None:
    user = person(Role.IRB_OFFICER)
    token = issue_token(user=user, name="mine", scope=TokenScope.WRITE, days=1)
    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert client.get(f"{API}account/").json() == {"name": user.username, "role": "irb_officer", "scope": "write", "notices": True}
    assert sent(client, "PATCH", "account/", {"notices": False}).json()["notices"] is False
    assert User.objects.get(pk=user.pk).wants_notices is False
