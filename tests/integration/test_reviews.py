"""Review: every decision, its effects, who may take it, and the outcome when two things happen at once."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role, User
from accounts.services import change_role
from audit.models import Entry
from surveys.counts import exact_consent_counts
from surveys.errors import DefinitionError, TransitionError
from surveys.journey import services as participation
from surveys.models import Comment, Decision, MemberRole, Participant, Protocol, Study, StudyMember, StudyStatus, Verdict
from surveys.retention.services import forget_operational_data
from surveys.review import services as reviews
from surveys.sharing.services import remove_member
from surveys.studies import services as studies
from surveys.tokens import withdrawal_code
from tests.factories import (
    answer,
    definition,
    document,
    draft_study,
    heading,
    hidden_value,
    logged_in,
    page_of,
    person,
    recruiting_study,
    send,
    study_in,
    token_of,
    walk,
)

pytestmark = pytest.mark.django_db
S = StudyStatus
NEW_CONSENT = "## A text that was written anew\n\nPlease agree."


def amend(study: Study, **changes: Any) -> Study:
    return studies.change_definition(study, definition=definition(**{"consent": NEW_CONSENT} | changes), actor=study.owner)


def last_entry() -> Entry:
    entry = Entry.objects.last()
    assert entry is not None
    return entry


# Decisions


def test_an_approval_holds_for_a_year_unless_something_else_is_said(officer: User) -> None:
    today = timezone.localdate()
    study = reviews.approve(study_in(S.IN_REVIEW), actor=officer)
    assert (study.status, study.approved_until, study.submitted) == (S.APPROVED, today + timedelta(days=365), None)
    other = reviews.approve(study_in(S.IN_REVIEW, slug="another"), actor=officer, valid_until=today, conditions="Not in the exams.")
    decision = Decision.objects.get(study=other)
    assert (decision.verdict, decision.valid_until, decision.decided_by) == (Verdict.APPROVED, today, officer)
    assert last_entry().details == {"version": 1, "valid_until": today.isoformat(), "conditions": "Not in the exams."}


@pytest.mark.parametrize("days", [-1, 5 * 365 + 3])
def test_an_approval_ends_between_today_and_five_years_from_now(days: int, officer: User) -> None:
    study = study_in(S.IN_REVIEW)
    with pytest.raises(ValidationError, match="Expected a day from"):
        reviews.approve(study, actor=officer, valid_until=timezone.localdate() + timedelta(days=days))
    assert not Decision.objects.exists()


@pytest.mark.parametrize("decide", [reviews.ask_for_changes, reviews.reject])
def test_sending_a_protocol_back_needs_a_reason(decide: Any, officer: User) -> None:
    study = study_in(S.IN_REVIEW)
    with pytest.raises(ValidationError, match="Write the reason"):
        decide(study, actor=officer, reason="  ")
    decide(study, actor=officer, reason="The consent text is too long.")
    study.refresh_from_db()
    assert (study.status, study.submitted, last_entry().details["reason"]) == (S.DRAFT, None, "The consent text is too long.")
    assert "The consent text is too long." in page(study.owner, "study", study.slug)


def test_a_rejected_version_cannot_be_submitted_again_unchanged(officer: User) -> None:
    study = reviews.reject(study_in(S.IN_REVIEW), actor=officer, reason="Not in this department.")
    with pytest.raises(TransitionError, match="rejected exactly this protocol"):
        studies.submit_for_review(study, actor=study.owner)
    study = studies.submit_for_review(amend(study), actor=study.owner)
    assert (study.status, study.protocol and study.protocol.version) == (S.IN_REVIEW, 2)


def test_a_study_with_requested_changes_can_be_submitted_again(officer: User) -> None:
    study = reviews.ask_for_changes(study_in(S.IN_REVIEW), actor=officer, reason="Explain the die to me.")
    assert studies.submit_for_review(study, actor=study.owner).status == S.IN_REVIEW
    assert "Explain the die to me." not in page(study.owner, "study", study.slug)


def test_an_officer_never_decides_on_a_version_that_they_have_not_read(officer: User) -> None:
    study = study_in(S.IN_REVIEW)
    study = studies.submit_for_review(amend(studies.take_back(study, actor=study.owner)), actor=study.owner)
    with pytest.raises(TransitionError, match="You have read version 1, but version 2 waits"):
        reviews.approve(study, actor=officer, version=1)
    assert reviews.approve(study, actor=officer, version=2).status == S.APPROVED


@pytest.mark.parametrize("decide", [reviews.approve, reviews.ask_for_changes, reviews.reject, reviews.suspend, reviews.lift_suspension])
@pytest.mark.parametrize("who", ["owner", "administrator", "investigator"])
def test_only_an_officer_without_a_part_in_the_study_decides(decide: Any, who: str, officer: User) -> None:
    study = study_in(S.RECRUITING if decide == reviews.suspend else S.IN_REVIEW, **({"owner": officer} if who == "owner" else {}))
    actor = {"owner": officer, "administrator": person(Role.ADMINISTRATOR), "investigator": person(Role.INVESTIGATOR)}[who]
    reason = {} if decide == reviews.approve else {"reason": "because"}
    entries = Entry.objects.count()
    with pytest.raises(TransitionError, match="Only an IRB officer who has no part in the study"):
        decide(study, actor=actor, **reason)
    assert Entry.objects.count() == entries


def test_conditions_are_acknowledged_before_anybody_is_taken_in(officer: User) -> None:
    study = reviews.approve(study_in(S.IN_REVIEW), actor=officer, conditions="Not in the exams.")
    with pytest.raises(TransitionError, match="conditions that nobody has acknowledged"):
        studies.launch(study, actor=study.owner)
    with pytest.raises(TransitionError, match="no conditions that you have to acknowledge"):
        reviews.acknowledge_conditions(study, actor=officer)
    desk, page = logged_in(study.owner), reverse("surveys:study", args=[study.slug])
    assert "Not in the exams." in desk.get(page).content.decode()
    desk.post(page, {"action": "acknowledge"})
    assert last_entry().details == {"version": 1, "conditions": "Not in the exams."}
    desk.post(reverse("surveys:action", args=[study.slug, "launch"]))
    study.refresh_from_db()
    assert study.status == S.RECRUITING


@pytest.mark.parametrize("status", [S.IN_REVIEW, S.PAUSED])
def test_conditions_that_came_after_the_page_was_opened_are_not_acknowledged(officer: User, status: S) -> None:
    study = study_in(status)
    study = study if status == S.IN_REVIEW else studies.submit_for_review(study, actor=study.owner)
    study = reviews.approve(study, actor=officer, conditions="Not in the exams.")
    desk, page = logged_in(study.owner), reverse("surveys:study", args=[study.slug])
    (form,) = (one for one in page_of(desk.get(page)).forms if one.xpath('.//button[@value="acknowledge"]'))
    sent = dict(form.form_values()) | {"action": "acknowledge"}
    again = studies.take_back(study, actor=study.owner) if status == S.IN_REVIEW else study
    reviews.approve(studies.submit_for_review(again, actor=study.owner), actor=officer, conditions="Only at home.")
    desk.post(page, sent)
    assert not study.decisions.filter(acknowledged_on__isnull=False).exists()
    (form,) = (one for one in page_of(desk.get(page)).forms if one.xpath('.//button[@value="acknowledge"]'))
    desk.post(page, dict(form.form_values()) | {"action": "acknowledge"})
    assert last_entry().details["conditions"] == "Only at home."


def test_a_renewal_with_conditions_pauses_recruiting_until_they_are_acknowledged(officer: User) -> None:
    study, newcomer = recruiting_study(), Client()
    answer(newcomer, study, "welcome")
    study = reviews.approve(studies.submit_for_review(study, actor=study.owner), actor=officer, conditions="Not in the exams.")
    assert study.status == S.PAUSED
    assert heading(send(newcomer, study, "consent", choice="agree")) == "This study is taking a break"
    study = reviews.lift_suspension(reviews.suspend(study, actor=officer, reason="Wait."), actor=officer, reason="They stand.")
    with pytest.raises(TransitionError, match="conditions that nobody has acknowledged"):
        studies.resume(study, actor=study.owner)
    reviews.acknowledge_conditions(study, actor=study.owner)
    assert studies.resume(study, actor=study.owner).status == S.RECRUITING


@pytest.mark.parametrize("way_out", ["an editor who leaves", "an administrator who becomes an officer"])
def test_people_who_have_written_on_a_study_never_decide_on_it(way_out: str) -> None:
    study = draft_study()
    if way_out == "an editor who leaves":
        author = person(Role.IRB_OFFICER)
        StudyMember.objects.create(study=study, user=author, role=MemberRole.EDITOR)
        studies.change_definition(study, definition=definition(consent=NEW_CONSENT), actor=author)
        remove_member(study, user_id=author.pk, actor=author)
    else:
        author = person(Role.ADMINISTRATOR)
        studies.change_definition(study, definition=definition(consent=NEW_CONSENT), actor=author)
        author = change_role(user=author, role=Role.IRB_OFFICER)
    study = studies.submit_for_review(study, actor=study.owner)
    with pytest.raises(TransitionError, match="Only an IRB officer who has no part in the study"):
        reviews.approve(study, actor=author)
    refused = logged_in(author).post(f"/api/v1/studies/{study.slug}/actions/approve/", {}, content_type="application/json")
    assert refused.status_code == 409
    assert "another officer decides" in inbox(author)
    assert "another officer decides" in page(author, "review", study.slug)
    assert reviews.approve(study, actor=person(Role.IRB_OFFICER)).status == S.APPROVED


# Suspension


def test_a_suspended_study_can_be_resumed_only_after_an_officer_lifts_it(officer: User) -> None:
    study = reviews.suspend(recruiting_study(), actor=officer, reason="A student complained.")
    assert (study.status, study.suspended) == (S.PAUSED, True)
    assert "A student complained." in page(study.owner, "study", study.slug)
    with pytest.raises(TransitionError, match="Only an officer can lift that"):
        studies.resume(study, actor=study.owner)
    study = reviews.lift_suspension(study, actor=officer, reason="It was a misunderstanding.")
    assert study.status == S.PAUSED
    assert "A student complained." not in page(study.owner, "study", study.slug)
    assert studies.resume(study, actor=study.owner).status == S.RECRUITING
    assert list(study.decisions.values_list("verdict", flat=True)) == ["approved", "suspended", "lifted"]


def test_an_officer_lifts_only_the_suspension_that_they_have_read(officer: User) -> None:
    """Another officer lifted it and suspended the study anew, for a graver reason, while the form was open."""
    study, other = reviews.suspend(recruiting_study(), actor=officer, reason="A video stutters."), person(Role.IRB_OFFICER)
    address, reader = reverse("surveys:action", args=[study.slug, "lift"]), logged_in(officer)
    read = {"decision": reader.get(address).context["form"]["decision"].value(), "reason": "It plays again."}
    reviews.suspend(reviews.lift_suspension(study, actor=other, reason="Seen."), actor=other, reason="Names were read out.")
    assert "may have changed in the meantime" in reader.post(address, read, follow=True).content.decode()
    study.refresh_from_db()
    assert study.suspended
    suspension = study.decisions.latest("pk").pk
    reviews.ask_for_changes(studies.submit_for_review(study, actor=study.owner), actor=other, reason="Not while it is suspended.")
    assert reader.get(address).context["form"]["decision"].value() == suspension
    reader.post(address, {**read, "decision": suspension})
    study.refresh_from_db()
    assert not study.suspended


def test_the_form_of_a_decision_says_what_it_does(officer: User) -> None:
    waiting, running = study_in(S.IN_REVIEW), recruiting_study(slug="running")
    told = {
        (waiting.slug, "approve"): "under exactly this protocol",
        (waiting.slug, "return"): "can change the protocol and submit it again",
        (waiting.slug, "reject"): "can never be submitted again",
        (running.slug, "suspend"): "People who have already agreed may finish",
    }
    assert [name for (slug, name), said in told.items() if said not in page(officer, "action", slug, name)] == []


# Amendments


def test_editing_an_approved_study_takes_its_approval_away() -> None:
    study = study_in(S.APPROVED)
    unchanged = studies.change_definition(study, definition=definition(), actor=study.owner)
    assert unchanged.status == S.APPROVED
    study = amend(study)
    assert (study.status, study.approved_until) == (S.DRAFT, None)
    assert last_entry().details["approval_lost"] is True


def test_an_amendment_pauses_recruiting_and_newcomers_see_it_once_it_is_approved(officer: User) -> None:
    study, early, late = recruiting_study(), Client(), Client()
    walk(early, study, until="video")
    study = amend(study)
    assert study.status == S.RECRUITING
    study = studies.submit_for_review(study, actor=study.owner)
    assert (study.status, study.protocol and study.protocol.version, study.submitted and study.submitted.version) == (S.PAUSED, 1, 2)
    with pytest.raises(TransitionError, match="An amendment waits"):
        studies.resume(study, actor=study.owner)
    with pytest.raises(TransitionError, match="take it back from review first"):
        amend(study, contact="somebody else")
    assert answer(early, study, "video").status_code == 303
    study = studies.resume(reviews.approve(study, actor=officer), actor=study.owner)
    answer(late, study, "welcome")
    assert "A text that was written anew" in late.get(reverse("surveys:journey", args=[study.slug])).content.decode()
    walk(late, study, until="video")
    assert sorted(Participant.objects.values_list("protocol__version", flat=True)) == [1, 2]
    kept = early.get(reverse("surveys:consent_copy", args=[study.slug])).content.decode()
    assert "A text that was written anew" not in kept


def test_readers_of_the_older_consent_read_the_newer_one_before_agreeing(officer: User) -> None:
    study, slow = recruiting_study(), Client()
    answer(slow, study, "welcome")
    study = studies.submit_for_review(amend(study), actor=study.owner)
    studies.resume(reviews.approve(study, actor=officer), actor=study.owner)
    response = answer(slow, study, "consent", version="1")
    assert (response.status_code, Participant.objects.exists()) == (409, False)
    for words in ("The study was changed while this page was open.", "A text that was written anew"):
        assert words in response.content.decode()
    answer(slow, study, "consent", **{name: hidden_value(response, name) for name in ("version", "whose")})
    assert Participant.objects.get().protocol.version == 2


@pytest.mark.parametrize("verdict", ["sent back", "taken back"])
def test_an_amendment_that_is_not_approved_leaves_the_protocol_in_force(verdict: str, officer: User) -> None:
    study = recruiting_study()
    study = studies.submit_for_review(amend(study), actor=study.owner)
    if verdict == "sent back":
        study = reviews.ask_for_changes(study, actor=officer, reason="Shorter, please.")
    else:
        study = studies.take_back(study, actor=study.owner)
    study = studies.resume(study, actor=study.owner)
    assert (study.status, study.protocol and study.protocol.version) == (S.RECRUITING, 1)


@pytest.mark.parametrize("part", ["questions", "die", "allocation", "arms", "background"])
def test_parts_on_which_answers_depend_cannot_be_amended(part: str) -> None:
    changed: dict[str, Any] = {
        "questions": document()["questions"][:1],
        "die": document()["die"] | {"cheaters": "always_no"},
        "allocation": {"planned_participants": 50},
        "arms": [arm | {"weight": 2} for arm in document()["arms"]],
        "background": [],
    }
    study = recruiting_study()
    with pytest.raises(DefinitionError, match=f"cannot be changed.*: {part}. Duplicate the study instead."):
        amend(study, **{part: changed[part]})
    study.refresh_from_db()
    assert study.definition["consent"] != NEW_CONSENT


def test_the_database_refuses_to_change_or_delete_a_frozen_protocol() -> None:
    study = study_in(S.IN_REVIEW)
    for statement in ("UPDATE surveys_protocol SET sha256 = 'x'", "DELETE FROM surveys_protocol"):
        with pytest.raises(IntegrityError, match="a frozen protocol"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert Protocol.objects.get(study=study).sha256 != "x"


# Comments


def test_a_thread_is_open_until_an_officer_resolves_it_and_again_after_the_next_remark(officer: User) -> None:
    study = study_in(S.IN_REVIEW)
    reviews.comment(study, actor=officer, section="consent", text="Who is the contact?")
    reviews.comment(study, actor=study.owner, section="consent", text="I will add her.")
    with pytest.raises(TransitionError, match="Only an IRB officer"):
        reviews.comment(study, actor=study.owner, section="consent", text="", resolves=True)
    viewer = StudyMember.objects.create(study=study, user=person(Role.INVESTIGATOR), role=MemberRole.VIEWER).user
    for resolves in (False, True):
        with pytest.raises(TransitionError, match=r"Only people who run the study, and IRB officers .* can comment"):
            reviews.comment(study, actor=viewer, section="consent", text="May I?", resolves=resolves)
    with pytest.raises(ValidationError, match="Write your comment"):
        reviews.comment(study, actor=officer, section="consent", text=" ")
    reviews.comment(study, actor=officer, section="consent", text="", resolves=True)
    assert list(Comment.objects.values_list("author", "resolves")) == [(officer.pk, False), (study.owner.pk, False), (officer.pk, True)]
    assert last_entry().details == {"section": "consent", "version": 1, "resolves": True}


# Pages


def page(user: User, name: str, *arguments: Any) -> str:
    response = logged_in(user).get(reverse(f"surveys:{name}", args=arguments))
    assert response.status_code == 200
    return response.content.decode()


def inbox(user: User) -> str:
    return logged_in(user).get(reverse("analysis:inbox")).content.decode()


def test_the_queue_has_the_oldest_first_and_says_what_is_not_for_this_officer(officer: User) -> None:
    for slug, days in (("newer", 1), ("older", 9)):
        study = study_in(S.IN_REVIEW, slug=slug, owner=officer if slug == "newer" else person(Role.INVESTIGATOR))
        Study.objects.filter(pk=study.pk).update(submitted_on=timezone.localdate() - timedelta(days=days), title=f"the {slug} one")
    shown = inbox(officer)
    assert 0 < shown.index("the older one") < shown.index("Waiting for 9 days") < shown.index("the newer one")
    assert shown.count("another officer decides") == 1
    assert "Waits for a decision" in page(officer, "studies")


def test_comments_are_sent_from_the_packet_and_a_reason_is_asked_for_again(officer: User) -> None:
    study = study_in(S.IN_REVIEW)
    desk, address = logged_in(officer), reverse("surveys:comment", args=[study.slug])
    desk.post(address, {"section": "consent", "text": "Who is the contact?"})
    assert "Write your comment." in desk.post(address, {"section": "consent", "text": " "}, follow=True).content.decode()
    assert "Who is the contact?" in page(study.owner, "protocol", study.slug)
    assert "Who is the contact?" in page(study.owner, "review", study.slug)
    refused = desk.post(reverse("surveys:action", args=[study.slug, "reject"]), {"version": "1", "reason": ""})
    assert refused.status_code == 422
    assert "Give a reason: without one" in refused.content.decode()
    too_late = desk.post(reverse("surveys:action", args=[study.slug, "approve"]), {"version": "1", "valid_until": "2020-01-01"})
    assert "Expected a day from" in too_late.content.decode()
    study.refresh_from_db()
    assert study.status == S.IN_REVIEW


def test_agreements_are_counted_per_version_and_stay_after_a_withdrawal(officer: User) -> None:
    study, leaver = recruiting_study(), Client()
    walk(leaver, study, until="video")
    answer(Client(), study, "welcome")
    refuser = Client()
    answer(refuser, study, "welcome")
    answer(refuser, study, "consent", choice="decline")
    study = studies.submit_for_review(amend(study), actor=study.owner)
    study = studies.resume(reviews.approve(study, actor=officer), actor=study.owner)
    walk(Client(), study, until="video")
    participation.withdraw(study, code=withdrawal_code(token_of(leaver)))
    assert [asdict(row) for row in exact_consent_counts(study)] == [
        {"version": 1, "agreed": 1, "declined": 1, "withdrew": 1},
        {"version": 2, "agreed": 1, "declined": 0, "withdrew": 0},
    ]
    assert "Who agreed to which version" in page(officer, "review", study.slug)
    forget_operational_data(studies.close(study, actor=study.owner))
    assert not Participant.objects.exists()
    assert [(row.version, row.agreed) for row in exact_consent_counts(study)] == [(1, 1), (2, 1)]
