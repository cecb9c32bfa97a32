"""A study's life: which step is open to whom in which status, the effects of each step, and the page for it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files import File
from django.core.files.base import ContentFile
from django.http import Http404
from django.urls import reverse

from accounts.models import Role, User
from audit.models import Entry
from audit.selectors import verify
from surveys.access import access_own_study, access_study, studies_of, study_in_public
from surveys.errors import ConcurrentEditError, DefinitionError, TransitionError
from surveys.media import services as media
from surveys.media.services import MediaError, add_media_file
from surveys.models import ArmState, MediaFile, Protocol, Study, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.studies.forms import WORDS
from tests.factories import (
    LECTURES,
    add_quick_media,
    definition,
    document,
    draft_study,
    everything_stored,
    hidden_value,
    logged_in,
    person,
    recruiting_study,
    study_in,
)

pytestmark = pytest.mark.django_db
S = StudyStatus


def approve(study: Study, *, actor: User) -> Study:
    return reviews.approve(study, actor=person(Role.IRB_OFFICER))


def ask_for_changes(study: Study, *, actor: User) -> Study:
    return reviews.ask_for_changes(study, actor=person(Role.IRB_OFFICER), reason="the consent text is too long")


def reject(study: Study, *, actor: User) -> Study:
    return reviews.reject(study, actor=person(Role.IRB_OFFICER), reason="not to be done")


def suspend(study: Study, *, actor: User) -> Study:
    return reviews.suspend(study, actor=person(Role.IRB_OFFICER), reason="a complaint")


ACTIONS: dict[str, Callable[..., Study]] = {
    "submit": studies.submit_for_review,
    "approve": approve,
    "return": ask_for_changes,
    "reject": reject,
    "suspend": suspend,
    "take-back": studies.take_back,
    "launch": studies.launch,
    "pause": studies.pause,
    "resume": studies.resume,
    "close": studies.close,
    "archive": studies.archive,
}
# Where each action leads from each status; missing entries are refused.
LEADS: dict[tuple[StudyStatus, str], tuple[StudyStatus, str]] = {
    (S.DRAFT, "submit"): (S.IN_REVIEW, "study.submitted"),
    (S.IN_REVIEW, "approve"): (S.APPROVED, "study.approved"),
    (S.IN_REVIEW, "return"): (S.DRAFT, "study.returned"),
    (S.IN_REVIEW, "reject"): (S.DRAFT, "study.rejected"),
    (S.IN_REVIEW, "take-back"): (S.DRAFT, "study.taken_back"),
    (S.APPROVED, "take-back"): (S.DRAFT, "study.taken_back"),
    (S.RECRUITING, "submit"): (S.RECRUITING, "study.submitted"),
    (S.PAUSED, "submit"): (S.PAUSED, "study.submitted"),
    (S.RECRUITING, "suspend"): (S.PAUSED, "study.suspended"),
    (S.PAUSED, "suspend"): (S.PAUSED, "study.suspended"),
    (S.APPROVED, "launch"): (S.RECRUITING, "study.launched"),
    (S.RECRUITING, "pause"): (S.PAUSED, "study.paused"),
    (S.RECRUITING, "close"): (S.CLOSED, "study.closed"),
    (S.PAUSED, "resume"): (S.RECRUITING, "study.resumed"),
    (S.PAUSED, "close"): (S.CLOSED, "study.closed"),
    (S.CLOSED, "archive"): (S.ARCHIVED, "study.archived"),
}


ALSO = {"approve": ("study.preregistered",)}


@pytest.mark.parametrize("status", StudyStatus)
@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_leads_where_it_should_or_is_refused_and_changes_nothing(status: StudyStatus, name: str) -> None:
    act, study = ACTIONS[name], study_in(status)
    entries = Entry.objects.count()
    if expected := LEADS.get((status, name)):
        act(study, actor=study.owner)
        study.refresh_from_db()
        assert study.status == expected[0]
        written = Entry.objects.order_by("sequence")[entries:].values_list("action", "subject_id")
        assert sorted(written) == sorted((action, str(study.pk)) for action in (expected[1], *ALSO.get(name, ())))
    else:
        with pytest.raises(TransitionError):
            act(study, actor=study.owner)
        study.refresh_from_db()
        assert study.status == status
        assert Entry.objects.count() == entries
    assert verify().broken_at is None


@pytest.mark.parametrize("role", [Role.INVESTIGATOR, Role.ANALYST, Role.ADMINISTRATOR])
def test_only_an_irb_officer_can_approve(role: Role) -> None:
    study = study_in(S.IN_REVIEW)
    with pytest.raises(TransitionError, match="Only an IRB officer"):
        reviews.approve(study, actor=person(role))
    study.refresh_from_db()
    assert study.status == S.IN_REVIEW


def test_an_officer_cannot_approve_a_study_of_their_own() -> None:
    officer = person(Role.IRB_OFFICER)
    study = study_in(S.IN_REVIEW, owner=officer)
    with pytest.raises(TransitionError, match="who has no part in the study"):
        reviews.approve(study, actor=officer)


# Actions that the study's page offers to each role in each status.
OWNERS = {
    S.DRAFT: {"submit"},
    S.IN_REVIEW: {"take-back"},
    S.APPROVED: {"launch"},
    S.RECRUITING: {"pause", "close", "renew"},
    S.PAUSED: {"resume", "close", "renew"},
    S.CLOSED: {"archive"},
    S.ARCHIVED: set(),
}
OFFICERS = {S.IN_REVIEW: {"approve", "return", "reject"}, S.RECRUITING: {"suspend"}, S.PAUSED: {"suspend"}}
FINAL = {"launch", "close", "archive"}
"""Actions with a page of their own."""
EVERY_ACTION = {*WORDS, "", "delete"}


@pytest.mark.parametrize("status", StudyStatus)
@pytest.mark.parametrize("who", ["owner", "officer", "administrator"])
def test_the_page_offers_what_is_open_to_this_person_and_refuses_the_rest(status: StudyStatus, who: str) -> None:
    study = study_in(status)
    users = {"owner": study.owner, "officer": person(Role.IRB_OFFICER), "administrator": person(Role.ADMINISTRATOR)}
    desk, address = logged_in(users[who]), reverse("surveys:study", args=[study.slug])
    expected = OFFICERS.get(status, set()) if who == "officer" else OWNERS[status]
    response = desk.get(address)
    if who == "officer" and status == S.DRAFT:
        assert response.status_code == 404
        return
    page = response.content.decode()
    final = {name for name in EVERY_ACTION - {"", "delete"} if f'href="{reverse("surveys:action", args=[study.slug, name])}"' in page}
    assert final == expected & FINAL
    assert {name for name in EVERY_ACTION if f'name="action" value="{name}"' in page} == expected - FINAL
    before = everything_stored()
    refused = EVERY_ACTION - expected
    for action in refused:
        assert desk.post(address, {"action": action})["Location"] == address
    assert desk.get(address).content.decode().count("This cannot be done now.") == len(refused)
    after = everything_stored()
    assert {label for label in after if after[label] != before[label]} <= {"sessions.Session"}


@pytest.mark.parametrize(("status", "action"), [(status, action) for status, actions in OWNERS.items() for action in sorted(actions)])
def test_the_owner_takes_each_step_on_the_page(status: StudyStatus, action: str) -> None:
    study = study_in(status)
    desk = logged_in(study.owner)
    answer = desk.post(reverse("surveys:study", args=[study.slug]), {"action": action})
    if action in FINAL:
        page = reverse("surveys:action", args=[study.slug, action])
        assert answer["Location"] == page
        assert study.status == Study.objects.values_list("status", flat=True).get(pk=study.pk)
        desk.post(page)
    study.refresh_from_db()
    assert study.status == LEADS[status, action.removesuffix("-paused").replace("renew", "submit")][0]


@pytest.mark.parametrize(("action", "status"), [("approve", S.APPROVED), ("return", S.DRAFT), ("reject", S.DRAFT)])
def test_the_officer_decides_on_the_page(action: str, status: StudyStatus) -> None:
    study, officer = study_in(S.IN_REVIEW), person(Role.IRB_OFFICER)
    desk = logged_in(officer)
    form = desk.post(reverse("surveys:study", args=[study.slug]), {"action": action}, follow=True)
    assert hidden_value(form, "version") == "1"
    desk.post(form.redirect_chain[-1][0], {"version": "1", "reason": "as discussed"})
    study.refresh_from_db()
    assert study.status == status
    assert Entry.objects.last().actor == officer


def test_review_freezes_the_protocol_with_the_hashes_of_its_media() -> None:
    study = study_in(S.IN_REVIEW)
    protocol = Protocol.objects.get(study=study)
    assert study.protocol == protocol
    assert set(protocol.media) == definition().files()
    assert protocol.definition == study.definition
    assert Entry.objects.get(action="study.submitted").details == {"version": 1, "sha256": protocol.sha256}


def test_a_change_after_review_makes_a_new_version_and_leaves_the_old_one() -> None:
    study = study_in(S.APPROVED)
    study = studies.take_back(study, actor=study.owner)
    study = studies.change_definition(study, definition=definition(minimum_seconds=7), actor=study.owner)
    study = studies.submit_for_review(study, actor=study.owner)
    first, second = Protocol.objects.filter(study=study)
    assert (first.version, first.definition["minimum_seconds"]) == (1, 0)
    assert (second.version, second.definition["minimum_seconds"]) == (2, 7)
    assert study.protocol == second
    assert first.sha256 != second.sha256


@pytest.mark.parametrize("status", [S.IN_REVIEW, S.CLOSED, S.ARCHIVED])
def test_studies_in_review_or_over_cannot_be_changed(status: StudyStatus) -> None:
    study = study_in(status)
    with pytest.raises(TransitionError, match=f"This study cannot be changed now; it is {study.get_status_display().lower()}."):
        studies.change_definition(study, definition=definition(), actor=study.owner)
    with (LECTURES / "captions-en.vtt").open("rb") as content, pytest.raises(TransitionError, match="to a draft or an amendment only"):
        add_media_file(study, name="captions-en.vtt", content=content, actor=study.owner)


def test_a_file_that_is_still_examined_while_its_study_is_submitted_comes_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would differ from the one that officers approve and people see, so that the study could ask for no renewal later."""
    study, look = draft_study(), media.examine

    def submit_meanwhile(*given: Any) -> MediaFile:
        found = look(*given)
        studies.submit_for_review(Study.objects.get(pk=study.pk), actor=study.owner)
        return found

    monkeypatch.setattr(media, "examine", submit_meanwhile)
    with (LECTURES / "captions-en.vtt").open("rb") as content, pytest.raises(TransitionError, match="to a draft or an amendment only"):
        add_media_file(study, name="captions-en.vtt", content=File(content), actor=study.owner)
    facts = MediaFile.objects.get(study=study, name="captions-en.vtt", current=True)
    assert Protocol.objects.get().media["captions-en.vtt"]["id"] == str(facts.pk)


def test_a_study_without_its_files_is_not_ready_for_review() -> None:
    study = studies.create_study(definition=definition(), owner=person(Role.INVESTIGATOR))
    for name in definition().files() - {"captions-en.vtt", "slides-only.mp4"}:
        add_quick_media(study, name)
    with pytest.raises(
        TransitionError, match=r"The file captions-en\.vtt has not been uploaded\. The file slides-only\.mp4 has not been uploaded\."
    ):
        studies.submit_for_review(study, actor=study.owner)
    assert not Protocol.objects.exists()
    page = logged_in(study.owner).get(reverse("surveys:study", args=[study.slug])).content.decode()
    assert "The file captions-en.vtt has not been uploaded." in page


def test_a_study_knows_its_epsilon_per_question_and_in_total() -> None:
    study = draft_study()
    assert study.epsilon_per_question == pytest.approx(1.3862943611)  # ln 4
    assert study.epsilon_total == pytest.approx(4 * 1.3862943611)
    study = studies.change_definition(study, definition=definition(questions=document()["questions"][:1]), actor=study.owner)
    assert study.epsilon_total == pytest.approx(1.3862943611)


def test_launching_sets_quotas_and_the_day() -> None:
    arms = [arm | {"quota": 10} if arm["name"] == "slides" else arm for arm in document()["arms"]]
    study = recruiting_study(arms=arms)
    assert dict(ArmState.objects.filter(study=study).values_list("arm", "quota")) == {"slides": 10, "instructor": None}
    assert study.launched_on is not None
    assert study.closed_on is None
    assert studies.close(study, actor=study.owner).closed_on is not None


def test_two_studies_cannot_have_one_slug_and_a_study_keeps_its_own() -> None:
    study = draft_study()
    with pytest.raises(DefinitionError, match="a study called lecture-videos exists already; choose another slug"):
        studies.create_study(definition=definition(), owner=study.owner)
    with pytest.raises(DefinitionError, match="expected lecture-videos, got another; a study keeps its slug"):
        studies.change_definition(study, definition=definition(slug="another"), actor=study.owner)


def test_a_newer_file_of_the_same_name_leaves_the_frozen_one_alone() -> None:
    study = study_in(S.IN_REVIEW)
    frozen = dict(Protocol.objects.get().media["captions-en.vtt"])
    study = studies.take_back(study, actor=study.owner)
    with (LECTURES / "captions-en.vtt").open("rb") as content:
        newer = add_media_file(study, name="captions-en.vtt", content=File(content), actor=study.owner)
    assert study.media_files.filter(name="captions-en.vtt").count() == 2
    assert study.media_files.get(name="captions-en.vtt", current=True) == newer
    assert Protocol.objects.get(version=1).media["captions-en.vtt"] == frozen
    study = studies.submit_for_review(study, actor=study.owner)
    assert Protocol.objects.get(version=2).media["captions-en.vtt"]["id"] == str(newer.pk)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.mp4", b"not a video", "a.mp4: The file is not an MP4 or WebM video"),
        ("a.vtt", b"not captions", "a.vtt: The captions are not WebVTT"),
        ("a.png", b"not a picture", "a.png: expected a PNG, JPEG or WebP picture"),
        ("a.webp", b"RIFF\x00\x00\x00\x00WAVEfmt ", "a.webp: expected a PNG, JPEG or WebP picture"),
        (
            "a.exe",
            b"MZ",
            "a.exe: expected a video (.mp4, .webm), a recording (.mp3, .m4a, .ogg), captions (.vtt), a picture (.png, .jpg, .webp) "
            "or the words of a language (.po), got .exe",
        ),
        (
            "a",
            b"",
            "a: expected a video (.mp4, .webm), a recording (.mp3, .m4a, .ogg), captions (.vtt), a picture (.png, .jpg, .webp) "
            "or the words of a language (.po), got no suffix",
        ),
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"x" * 5 * 1024**2, "a.png: expected a picture of at most 5 MB"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(name: str, content: bytes, sentence: str) -> None:

    study = draft_study()
    before = everything_stored()
    with pytest.raises(MediaError) as raised:
        add_media_file(study, name=name, content=ContentFile(content), actor=study.owner)
    assert str(raised.value).startswith(sentence)
    assert everything_stored() == before


def names(user: User) -> set[str]:
    return set(studies_of(user).values_list("slug", flat=True))


def test_everybody_sees_the_studies_that_are_theirs_to_see() -> None:
    ada, bob = person(Role.INVESTIGATOR), person(Role.INVESTIGATOR)
    for slug, owner, status in (("ada-draft", ada, S.DRAFT), ("ada-review", ada, S.IN_REVIEW), ("bob-closed", bob, S.CLOSED)):
        study_in(status, slug=slug, owner=owner)
    assert names(ada) == {"ada-draft", "ada-review"}
    assert names(bob) == {"bob-closed"}
    assert names(person(Role.IRB_OFFICER)) == {"ada-review", "bob-closed"}
    assert names(person(Role.ADMINISTRATOR)) == {"ada-draft", "ada-review", "bob-closed"}
    assert names(person(Role.ANALYST)) == set()


@pytest.mark.parametrize("access", [access_study, access_own_study])
def test_a_forbidden_study_and_an_absent_one_look_the_same(access: Callable[..., Any]) -> None:
    draft_study()
    messages = []
    for slug in ("lecture-videos", "nowhere"):
        with pytest.raises(Http404) as raised:
            access(person(Role.INVESTIGATOR), slug)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_an_officer_may_look_at_a_study_and_not_change_it() -> None:
    study, officer = study_in(S.IN_REVIEW), person(Role.IRB_OFFICER)
    assert access_study(officer, study.slug).study == study
    with pytest.raises(Http404):
        access_own_study(officer, study.slug)


@pytest.mark.parametrize("status", StudyStatus)
def test_the_public_reads_about_approved_studies_only(status: StudyStatus) -> None:
    study = study_in(status)
    if status in (S.DRAFT, S.IN_REVIEW):
        with pytest.raises(Http404):
            study_in_public(study.slug)
    else:
        assert study_in_public(study.slug) == study


def test_a_draft_that_somebody_else_changed_is_not_overwritten() -> None:
    study = draft_study()
    seen = studies.fingerprint(study)
    changed = definition(slug=study.slug, contact="first@example.org")
    study = studies.change_definition(study, definition=changed, actor=study.owner, expected_fingerprint=seen)
    assert studies.fingerprint(study) != seen
    before = everything_stored()
    late = definition(slug=study.slug, contact="second@example.org")
    with pytest.raises(ConcurrentEditError, match=seen):
        studies.change_definition(study, definition=late, actor=study.owner, expected_fingerprint=seen)
    assert everything_stored() == before
