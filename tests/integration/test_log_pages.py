"""The audit log as people read it, and the entries that it must hold."""

import re
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.formats import date_format

from accounts.models import Role, User
from audit import triggers
from audit.exported import verify_lines
from audit.models import Entry
from audit.selectors import PAGE_SIZE
from audit.services import record
from surveys import actions
from surveys.allocation.services import change_arm
from surveys.log import services as log
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.studies.services import close
from tests.factories import draft_study, logged_in, page_of, person, recruiting_study, study_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def officer() -> User:
    return person(Role.IRB_OFFICER, username="orla")


def sentences(response: Any) -> list[str]:
    """The sentences of the entries on the page."""
    return [" ".join("".join(line.itertext()).split()) for line in page_of(response).xpath('//*[@class="log-what"]')]


def test_an_entry_says_in_a_sentence_who_did_what_to_what_and_when(officer: User) -> None:
    study = recruiting_study()
    page = page_of(logged_in(officer).get("/log/"))
    launched = page.xpath('//li[contains(., "A study was launched")]')[0]
    text = " ".join("".join(launched.itertext()).split())
    assert date_format(timezone.localdate()) in text
    assert re.search(r"\d\d:\d\d UTC", text)
    for part in (study.owner.username, study.title, "length: 48", "study.launched", Entry.objects.get(action=actions.LAUNCHED).hash):
        assert part in text


def test_entries_are_found_by_kind_person_study_and_period(officer: User) -> None:
    one = recruiting_study()
    other = draft_study(slug="another-study")
    client = logged_in(officer)
    assert "A study was launched and the hash of its allocation list published" in " ".join(sentences(client.get("/log/?kind=study.")))
    assert sentences(client.get("/log/?kind=study.launched")) == [
        f"A study was launched and the hash of its allocation list published: {one.title}"
    ]
    assert {entry.split(": ")[0] for entry in sentences(client.get(f"/log/?person={other.owner.username}"))} == {
        "A study was created or imported",
    }
    assert (
        len(sentences(client.get(f"/log/?study={one.slug}")))
        == Entry.objects.filter(subject_id=str(one.pk), action__startswith="study.").count()
    )
    assert sentences(client.get("/log/?until=2001-01-01")) == []
    assert len(sentences(client.get("/log/?since=2001-01-01&kind=study."))) == Entry.objects.filter(action__startswith="study.").count()
    wrong = client.get("/log/?since=yesterday")
    assert (wrong.status_code, "Enter a valid date." in wrong.content.decode()) == (422, True)


@pytest.mark.parametrize("address", ["/log/", "/api/v1/log/"])
@pytest.mark.parametrize(("period", "found"), [("until=9999-12-31", True), ("since=9999-12-31", False), ("until=0001-01-01", False)])
def test_the_first_and_the_last_day_of_the_calendar_are_days_like_others(officer: User, address: str, period: str, found: bool) -> None:
    record(actor=officer, action="account.logged_in", subject=officer, details={"place": "zq7marked"})
    answer = logged_in(officer).get(f"{address}?{period}&kind=account.logged_in")
    assert answer.status_code == 200
    assert ("zq7marked" in answer.content.decode()) == found


def test_paging_by_key_shows_every_entry_once_in_both_directions(officer: User) -> None:
    for number in range(2 * PAGE_SIZE + 7):
        record(actor=officer, action=actions.PAUSED, subject=None, details={"number": number})
    client, address, seen, pages = logged_in(officer), "/log/?kind=study.paused", [], []
    while address:
        page = client.get(address)
        pages.append(address)
        found = page_of(page).xpath('//*[@class="log-how"]/span/text()')
        seen += [int(text.split(": ")[1]) for text in found]
        older = page_of(page).xpath('//a[text()="Older"]/@href')
        address = f"/log/{older[0]}" if older else ""
    assert seen == list(reversed(range(2 * PAGE_SIZE + 7)))
    newer = page_of(client.get(pages[-1])).xpath('//a[text()="Newer"]/@href')[0]
    assert len(sentences(client.get(f"/log/{newer}"))) == PAGE_SIZE


def test_a_page_takes_few_queries_however_long_the_log(officer: User) -> None:
    study = recruiting_study()
    client = logged_in(officer)
    counts = []
    for _round in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get("/log/")
        counts.append(len(queries))
        for number in range(40):
            record(actor=officer, action=actions.PAUSED, subject=study if number % 2 else officer)
    assert counts[0] == counts[1] <= 12


def test_the_owner_reads_the_log_of_their_own_study_alone() -> None:
    one, other = draft_study(), draft_study(slug="another-study")
    client = logged_in(one.owner)
    assert sentences(client.get(f"/studies/{one.slug}/log/")) == [f"A study was created or imported: {one.title}"]
    assert client.get(f"/studies/{other.slug}/log/").status_code == 404
    assert client.get("/log/").status_code == 403


def test_the_finding_of_a_check_stands_on_the_page_in_words(officer: User) -> None:
    recruiting_study()
    client = logged_in(officer)
    before = Entry.objects.count()
    page = client.post("/log/verify/", follow=True)
    assert f"All {before} entries are as they were written." in page.content.decode()
    triggers.remove(connection)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_entry SET actor_name = 'eve' WHERE sequence = 2")
    page = client.post("/log/verify/", follow=True)
    assert "Entry 2 is not as it was written: its content is not what was recorded. Intact before it: 1." in page.content.decode()


def test_a_long_log_is_checked_by_a_worker(officer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LARGEST_CHECKED_AT_ONCE", 1)
    asked: list[tuple[int, ...]] = []
    monkeypatch.setattr(log.tasks.verify_log, "apply_async", lambda args, **options: asked.append(args))
    client = logged_in(officer)
    assert "The log is being checked." in client.post("/log/verify/", follow=True).content.decode()
    answered = client.post("/api/v1/log/verify/")
    assert (answered.status_code, answered.json()["finding"]) == (202, "The log is being checked.")
    log.tasks.verify_log(*asked[0])
    assert "as it was written" in client.get("/log/").content.decode()
    assert Entry.objects.get(action="log.verified").actor == officer


def test_the_exported_file_holds_everything_and_verifies(officer: User) -> None:
    recruiting_study()
    response = logged_in(officer).get("/log/export/")
    lines = b"".join(response.streaming_content).decode().splitlines(keepends=True)
    verification = verify_lines(lines)
    assert (verification.broken_at, verification.intact) == (None, Entry.objects.count())
    assert '"action": "log.exported"' in lines[-2]


def file_of(response: Any) -> list[str]:
    return b"".join(response.streaming_content).decode().splitlines(keepends=True)


@pytest.mark.parametrize("address", ["/studies/{slug}/log/export/", "/api/v1/studies/{slug}/log/export/"])
def test_the_entries_of_one_study_are_a_file_that_verifies_and_says_what_it_is(address: str, officer: User) -> None:
    study, other = recruiting_study(), draft_study(slug="another-study")
    response = logged_in(study.owner).get(address.format(slug=study.slug))
    assert response["Content-Disposition"] == f'attachment; filename="audit-log-{study.slug}.jsonl"'
    lines = file_of(response)
    verification = verify_lines(lines)
    about = Entry.objects.filter(subject_kind="surveys.study", subject_id=str(study.pk))
    assert (verification.broken_at, verification.intact) == (None, about.count())
    assert '"action": "log.exported"' in lines[-2]
    assert f"the entries about the study {study.slug}" in lines[0]
    assert not [line for line in lines if other.slug in line]
    whole = file_of(logged_in(officer).get("/log/export/"))
    assert set(lines[1:-1]) < set(whole), "the same lines stand in the whole log"
    assert logged_in(other.owner).get(address.format(slug=study.slug)).status_code == 404


def test_asking_for_the_head_of_a_file_exports_nothing() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    before = Entry.objects.count()
    response = client.head(f"/studies/{study.slug}/log/export/")
    assert (response.status_code, Entry.objects.count()) == (200, before)


def test_the_page_of_a_study_offers_its_file_and_says_what_it_proves() -> None:
    study = draft_study()
    page = page_of(logged_in(study.owner).get(f"/studies/{study.slug}/log/"))
    assert page.xpath(f'//a[@href="/studies/{study.slug}/log/export/"]')
    assert "cannot prove alone that no entry was left out" in page.text_content()


def test_programs_read_the_log_with_the_same_filters_and_pages(officer: User) -> None:
    study = recruiting_study()
    for number in range(PAGE_SIZE + 3):
        record(actor=officer, action=actions.PAUSED, subject=study, details={"number": number})
    client, address = logged_in(officer), f"/api/v1/studies/{study.slug}/log/"
    first = client.get(address, {"kind": "study.paused"}).json()
    assert [entry["details"]["number"] for entry in first["entries"]] == list(range(PAGE_SIZE + 2, 2, -1))
    assert first["newer"] is None
    older = client.get(address, {"kind": "study.paused", "before": first["older"]}).json()
    assert [entry["details"]["number"] for entry in older["entries"]] == [2, 1, 0]
    back = client.get(address, {"kind": "study.paused", "after": older["newer"]}).json()
    assert back["entries"] == first["entries"]
    (launched,) = client.get("/api/v1/log/", {"kind": "study.launched", "study": study.slug}).json()["entries"]
    entry = Entry.objects.get(action=actions.LAUNCHED)
    assert (launched["hash"], launched["actor_name"], launched["details"]) == (entry.hash, study.owner.username, entry.details)
    assert launched["meaning"] == "A study was launched and the hash of its allocation list published"
    assert client.get("/api/v1/log/", {"until": "2001-01-01"}).json()["entries"] == []
    wrong = client.get("/api/v1/log/", {"since": "yesterday"})
    assert (wrong.status_code, "since" in {one["place"] for one in wrong.json()["errors"]}) == (400, True)
    assert logged_in(study.owner).get("/api/v1/log/").status_code == 403


def test_programs_have_the_chain_checked_and_take_the_whole_log(officer: User) -> None:
    recruiting_study()
    client = logged_in(officer)
    before = Entry.objects.count()
    found = client.post("/api/v1/log/verify/").json()
    assert found == {"intact": before, "broken_at": None, "finding": f"All {before} entries are as they were written."}
    lines = file_of(client.get("/api/v1/log/export/", headers={"Accept": "application/jsonl"}))
    assert (verify_lines(lines).broken_at, len(lines)) == (None, Entry.objects.count() + 1)


@pytest.fixture
def blinded(officer: User) -> Study:
    """A study with a telling entry and a rehearsal, in which the officer is a blinded viewer, and another one in which somebody else is."""
    study, other, rehearsal = recruiting_study(), draft_study(slug="another-study"), draft_study(slug="a-rehearsal")
    change_arm(study, arm="slides", actor=study.owner, quota=7, closed=False)
    Study.objects.filter(pk=rehearsal.pk).update(rehearsal_of=study, accepts_bots=True)
    for one, user, role in (
        (study, officer, MemberRole.BLINDED_VIEWER),
        (other, officer, MemberRole.VIEWER),
        (other, person(Role.ANALYST), MemberRole.BLINDED_VIEWER),
    ):
        StudyMember.objects.create(study=one, user=user, role=role)
    return study


@pytest.mark.parametrize("role", [Role.IRB_OFFICER, Role.ADMINISTRATOR])
def test_a_blinded_viewer_reads_nothing_about_that_study_in_the_whole_log(blinded: Study, officer: User, role: Role) -> None:
    User.objects.filter(pk=officer.pk).update(role=role, is_superuser=role == Role.ADMINISTRATOR, is_staff=role == Role.ADMINISTRATOR)
    client = logged_in(User.objects.get(pk=officer.pk))
    hidden = [("surveys.study", str(one.pk)) for one in (blinded, Study.objects.get(rehearsal_of=blinded))]
    for query in ("", "?kind=study.", "?kind=study.arm_changed", f"?study={blinded.slug}", f"?person={blinded.owner.username}", "?after=0"):
        page, program = client.get(f"/log/{query}"), client.get(f"/api/v1/log/{query}")
        assert (page.status_code, program.status_code) == (200, 200)
        assert f"You are a blinded viewer or an analyst of {blinded.slug}" in page.content.decode()
        assert program.json()["left_out"] == [blinded.slug]
        assert len(sentences(page)) == len(program.json()["entries"])
        for entry in program.json()["entries"]:
            assert (entry["subject_kind"], entry["subject_id"]) not in hidden
        assert "quota: 7" not in page.content.decode()
        assert '"quota"' not in program.content.decode()
    assert any(entry["action"] == "study.created" for entry in client.get("/api/v1/log/").json()["entries"]), "other studies are there"
    for address in ("/log/export/", "/api/v1/log/export/"):
        lines = file_of(client.get(address))
        assert f"all entries but those about {blinded.slug}, of which {officer.username} is a blinded viewer" in lines[0]
        assert verify_lines(lines).broken_at is None
        assert not [line for line in lines if "quota" in line]
    for address in ("/studies/{}/log/", "/studies/{}/log/export/", "/api/v1/studies/{}/log/", "/api/v1/studies/{}/log/export/"):
        assert client.get(address.format(blinded.slug)).status_code == 404


def test_once_the_study_is_closed_its_entries_are_in_the_whole_log_again(blinded: Study, officer: User) -> None:
    close(blinded, actor=blinded.owner)
    client = logged_in(officer)
    assert "arm: slides" in client.get("/log/").content.decode()
    assert len(file_of(client.get("/log/export/"))) == Entry.objects.count() + 1


def test_a_blinded_administrator_sees_no_quota_and_cannot_make_the_study_theirs(blinded: Study) -> None:
    administrator = person(Role.ADMINISTRATOR)
    client = logged_in(administrator)
    addresses = (f"/studies/{blinded.slug}/arms/", f"/api/v1/studies/{blinded.slug}/arms/")
    assert [client.get(address).status_code for address in addresses] == [200, 200]
    StudyMember.objects.create(study=blinded, user=administrator, role=MemberRole.BLINDED_VIEWER)
    assert [client.get(address).status_code for address in addresses] == [404, 404]
    Study.objects.filter(pk=blinded.pk).update(status=StudyStatus.APPROVED)
    assert client.post(f"/admin/surveys/study/{blinded.pk}/change/", {"owner": administrator.pk}).status_code == 403


def test_all_that_is_recorded_of_a_study_is_about_the_study() -> None:
    """The log hides entries from a blinded viewer by their subject, so no telling entry may stand under another subject."""
    study = study_in(StudyStatus.CLOSED)
    client = logged_in(study.owner)
    client.post(f"/studies/{study.slug}/results/compute/", {"action": "start"})
    client.get(f"/studies/{study.slug}/results/tables/participants.csv")
    of_a_study = Entry.objects.exclude(action__startswith="account.").exclude(action__startswith="log.")
    assert of_a_study.count() >= 6
    assert set(of_a_study.values_list("subject_kind", "subject_id")) == {("surveys.study", str(study.pk))}


def actions_since(sequence: int) -> list[str]:
    return list(Entry.objects.filter(sequence__gt=sequence).order_by("sequence").values_list("action", flat=True))


@pytest.mark.parametrize(
    ("address", "action"),
    [
        ("/studies/{slug}/codes/", "study.codes_opened"),
        ("/studies/{slug}/results/tables/participants.csv", "results.table_fetched"),
        ("/api/v1/studies/{slug}/results/", "results.fetched"),
        ("/api/v1/studies/{slug}/definition/?format=yaml", "study.exported"),
        ("/s/{slug}/allocation/1/", "study.allocation_fetched"),
    ],
)
def test_pages_and_files_that_staff_open_are_recorded(address: str, action: str) -> None:
    study = study_in(StudyStatus.CLOSED)
    client = logged_in(study.owner)
    before = Entry.objects.count()
    assert client.get(address.format(slug=study.slug)).status_code == 200
    assert actions_since(before) == [action]
    assert Entry.objects.latest("sequence").subject_id == str(study.pk)


def test_a_page_that_is_asked_for_again_and_again_is_recorded_once_a_day() -> None:
    study = recruiting_study()
    client = logged_in(study.owner)
    before = Entry.objects.count()
    for _again in range(3):
        client.get(f"/studies/{study.slug}/codes/")
    client.post(f"/studies/{study.slug}/codes/", {"action": "check", "codes": "ABCD-EFGH\nIJKL"})
    assert actions_since(before) == ["study.codes_opened", "study.codes_checked"]
    assert "ABCD" not in repr(Entry.objects.latest("sequence").details)


def test_the_public_download_of_a_list_is_not_recorded() -> None:
    study = study_in(StudyStatus.CLOSED)
    before = Entry.objects.count()
    assert Client().get(f"/s/{study.slug}/allocation/1/").status_code == 200
    assert actions_since(before) == []


def test_computations_and_exported_study_files_are_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    study: Study = recruiting_study()
    client = logged_in(study.owner)
    before = Entry.objects.count()
    client.post(f"/studies/{study.slug}/results/compute/", {"action": "start"})
    client.post(f"/studies/{study.slug}/results/compute/", {"action": "cancel"})
    call_command("export_study", study.slug)
    assert actions_since(before) == ["results.computation_requested", "results.computation_stopped", "study.exported"]


def test_an_administrators_changes_to_an_account_are_recorded() -> None:
    administrator, somebody = person(Role.ADMINISTRATOR), person(Role.ANALYST, username="anna")
    client = logged_in(administrator)
    before = Entry.objects.count()
    form = {"username": "anna", "role": "analyst", "first_name": "Anna", "last_name": "", "email": ""}
    form |= {"initial-username": "anna", "initial-role": "analyst", "initial-is_active": "True"}
    assert client.post(f"/admin/accounts/user/{somebody.pk}/change/", form).status_code == 302
    passwords = {"password1": "a long new password", "password2": "a long new password", "usable_password": "true"}
    assert client.post(f"/admin/accounts/user/{somebody.pk}/password/", passwords).status_code == 302
    entries = list(Entry.objects.filter(sequence__gt=before).order_by("sequence").values_list("action", "details"))
    assert entries[0] == ("account.changed", {"fields": ["Active", "First name"]})
    assert [action for action, _details in entries] == ["account.changed", "account.changed"]
    assert "a long new password" not in repr(entries)
