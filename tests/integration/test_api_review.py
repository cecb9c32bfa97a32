"""Review for programs: the decisions, comments and protocols of the pages, under the same rules."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Role, User
from audit.models import Entry
from surveys.models import Comment, Study, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from tests.api_requests import API, get, post, problem, told_at
from tests.factories import definition, draft_study, logged_in, person, recruiting_study, study_in

pytestmark = pytest.mark.django_db


def test_decisions_come_with_their_reasons_and_versions_the_newest_first(officer: User) -> None:
    study = reviews.ask_for_changes(study_in(StudyStatus.IN_REVIEW), actor=officer, reason="Say how long it takes.")
    study = studies.change_definition(study, definition=definition(consent="## Anew\n\nTwenty minutes."), actor=study.owner)
    study = reviews.approve(studies.submit_for_review(study, actor=study.owner), actor=officer, conditions="Not in the exams.")
    studies_page = f"studies/{study.slug}/review/"
    found = get(study.owner, studies_page)
    assert [(one["verdict"], one["version"], one["decided_by"]) for one in found["decisions"]] == [
        ("approved", 2, officer.username),
        ("changes", 1, officer.username),
    ]
    assert (found["decisions"][0]["conditions"], found["decisions"][0]["acknowledged_by"]) == ("Not in the exams.", None)
    assert found["decisions"][1]["reason"] == "Say how long it takes."
    assert found["approved_until"] == found["decisions"][0]["valid_until"] is not None
    reviews.acknowledge_conditions(study, actor=study.owner)
    assert get(officer, studies_page)["decisions"][0]["acknowledged_by"] == study.owner.username


def test_a_program_lifts_the_suspension_that_it_has_read_and_no_later_one(officer: User) -> None:
    study, other = recruiting_study(), person(Role.IRB_OFFICER)
    suspended, lifting = reviews.suspend(study, actor=officer, reason="A video is broken."), f"studies/{study.slug}/actions/lift/"
    read = {"decision": get(officer, f"studies/{study.slug}/review/")["decisions"][0]["id"], "reason": "It plays again."}
    lifted = reviews.lift_suspension(suspended, actor=other, reason="It plays again.")
    reviews.suspend(lifted, actor=other, reason="The die is wrong.")
    problem(post(logged_in(officer), lifting, read), 409)
    assert Study.objects.get(pk=study.pk).suspended
    read["decision"] = get(officer, f"studies/{study.slug}/review/")["decisions"][0]["id"]
    assert post(logged_in(officer), lifting, read).status_code == 200
    assert not Study.objects.get(pk=study.pk).suspended


def test_a_program_acknowledges_the_conditions_that_it_has_read(officer: User) -> None:
    study = reviews.approve(study_in(StudyStatus.IN_REVIEW), actor=officer, conditions="Not in the exams.")
    acknowledging = f"studies/{study.slug}/actions/acknowledge/"
    decision = get(study.owner, f"studies/{study.slug}/review/")["decisions"][0]["id"]
    problem(post(logged_in(study.owner), acknowledging, {"decision": decision + 1}), 409)
    assert post(logged_in(study.owner), acknowledging, {"decision": decision}).status_code == 200


def test_a_thread_is_opened_by_a_comment_and_ended_by_an_officer(officer: User) -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    address = f"studies/{study.slug}/review/comments/"
    written = post(logged_in(officer), address, {"section": "consent", "text": "How long does it take?"})
    assert written.status_code == 201, written.content
    assert json.loads(written.content)["author"] == officer.username
    assert post(logged_in(study.owner), address, {"section": "consent", "text": "Twenty minutes."}).status_code == 201
    assert problem(post(logged_in(study.owner), address, {"section": "consent", "resolves": True}), 409)["type"].endswith("transition")
    (thread,) = get(study.owner, f"studies/{study.slug}/review/")["threads"]
    assert (thread["section"], thread["is_open"], [one["version"] for one in thread["comments"]]) == ("consent", True, [1, 1])
    assert post(logged_in(officer), address, {"section": "consent", "resolves": True}).status_code == 201
    assert get(study.owner, f"studies/{study.slug}/review/")["threads"][0]["is_open"] is False
    assert Entry.objects.filter(action="study.commented").count() == Comment.objects.count() == 3


def test_a_comment_that_says_nothing_or_is_on_nothing_is_refused(officer: User) -> None:
    study, draft = study_in(StudyStatus.IN_REVIEW), draft_study(slug="never-submitted")
    address = f"studies/{study.slug}/review/comments/"
    assert "text" in told_at(problem(post(logged_in(officer), address, {"section": "consent", "text": "  "}), 400))
    assert "section" in told_at(problem(post(logged_in(officer), address, {"section": "weather", "text": "Rain."}), 400))
    problem(post(logged_in(draft.owner), f"studies/{draft.slug}/review/comments/", {"section": "consent", "text": "To myself."}), 409)
    problem(post(logged_in(officer), f"studies/{draft.slug}/review/comments/", {"section": "consent", "text": "Unseen."}), 404)
    assert not Comment.objects.exists()


def test_a_protocol_is_the_frozen_document_with_its_hash(officer: User) -> None:
    study = recruiting_study()
    study = studies.change_definition(study, definition=definition(consent="## Anew\n\nPlease agree."), actor=study.owner)
    address = f"studies/{study.slug}/protocol/"
    stored = study.protocols.get(version=1)
    found = get(officer, address)
    assert (found["version"], found["sha256"], found["definition"]) == (1, stored.sha256, stored.definition)
    text = json.dumps({"definition": found["definition"], "media": stored.media}, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest() == found["sha256"]
    assert {one["name"]: one["sha256"] for one in found["files"]} == {name: facts["sha256"] for name, facts in stored.media.items()}
    assert get(officer, f"{address}?draft=1")["version"] == 1, "a draft is for those who write it"
    draft = get(study.owner, f"{address}?draft=1")
    assert (draft["version"], draft["frozen_on"], draft["versions"], draft["reviewed_before"]) == (2, None, [1], 1)
    assert draft["sha256"] != stored.sha256
    assert get(study.owner, f"{address}?version=1")["sha256"] == stored.sha256
    problem(logged_in(study.owner).get(f"{API}{address}?version=2"), 404)
    for version in ("newest", "-1", "9" * 30):
        assert "version" in told_at(problem(logged_in(officer).get(f"{API}{address}?version={version}"), 400))


def test_changes_of_a_version_are_listed_by_section_against_the_last_reviewed_one(officer: User) -> None:
    study = study_in(StudyStatus.IN_REVIEW, contact="ask Ada", minimum_seconds=3)
    address = f"studies/{study.slug}/protocol/changes/"
    assert get(officer, address) == {"study": study.slug, "version": 1, "since": None, "sections": []}
    study = reviews.ask_for_changes(study, actor=officer, reason="Somebody else.")
    for contact in ("ask Bob", "ask Cem"):
        study = studies.change_definition(study, definition=definition(contact=contact, minimum_seconds=9), actor=study.owner)
        study = studies.submit_for_review(study, actor=study.owner)
        if contact == "ask Bob":
            study = studies.take_back(study, actor=study.owner)
    found = get(officer, address)
    assert (found["version"], found["since"]) == (3, 1), "nobody decided on version 2"
    assert found["sections"] == [
        {"section": "overview", "changes": [{"place": "contact", "old": "ask Ada", "new": "ask Cem", "translation": ""}]},
        {"section": "die", "changes": [{"place": "minimum seconds", "old": "3", "new": "9", "translation": ""}]},
    ]
    (only,) = get(study.owner, f"{address}?version=3&since=2")["sections"]
    assert only["changes"] == [{"place": "contact", "old": "ask Bob", "new": "ask Cem", "translation": ""}]
    problem(logged_in(officer).get(f"{API}{address}?since=7"), 404)
    problem(logged_in(officer).get(f"{API}{address}?version=7"), 404)
    assert "since" in told_at(problem(logged_in(officer).get(f"{API}{address}?since=the-first"), 400))


def test_the_queue_tells_what_waits_what_ends_and_what_is_suspended(officer: User) -> None:
    today = timezone.localdate()
    first, running = study_in(StudyStatus.IN_REVIEW, slug="first", owner=officer), recruiting_study(slug="running")
    studies.submit_for_review(running, actor=running.owner)
    for slug, days in (("first", 9), ("running", 2)):
        Study.objects.filter(slug=slug).update(submitted_on=today - timedelta(days=days))
    reviews.comment(running, actor=officer, section="consent", text="Still so?")
    ending, halted = recruiting_study(slug="ending"), recruiting_study(slug="halted")
    Study.objects.filter(pk=ending.pk).update(approved_until=today + timedelta(days=60))
    reviews.suspend(halted, actor=officer, reason="A complaint.")
    found = get(officer, "review/")
    assert found["waiting"][0] == {
        "study": "first",
        "title": first.title,
        "owner": officer.username,
        "kind": "protocol",
        "version": 1,
        "submitted_on": str(today - timedelta(days=9)),
        "days": 9,
        "open_threads": 0,
        "own": True,
        "reviewer": None,
    }
    told = [(one["study"], one["kind"], one["days"], one["open_threads"], one["own"]) for one in found["waiting"][1:]]
    assert told == [("running", "renewal", 2, 1, False)]
    assert [(one["study"], one["approved_until"]) for one in found["ending"]] == [("ending", str(today + timedelta(days=60)))]
    assert [one["study"] for one in found["suspended"]] == ["halted"]
    problem(logged_in(running.owner).get(f"{API}review/"), 403)
