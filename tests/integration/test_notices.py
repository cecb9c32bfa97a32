"""E-mails about whose turn it is: who gets which, and that they say nothing that only the platform may show."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts import sending
from accounts.models import Role, User
from analysis.releases import services
from analysis.services import blind
from audit.models import Entry
from surveys.allocation.services import change_arm
from surveys.models import MemberRole, Study, StudyMember, StudyStatus
from surveys.review import services as reviews
from surveys.studies import services as studies
from surveys.tasks import expire_approvals
from tests.factories import definition, draft_study, logged_in, page_of, person, recruiting_study, study_in
from tests.finished_people import TELLING_DIE, add_finished_people, compute
from tests.releases import built_release, closed_study, requested_release

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail_server")]
SITE = "https://candor.example.org"
SECRET = "A text that nobody may read on the way."
Sent = Callable[..., list[tuple[str, str]]]


@pytest.fixture(autouse=True)
def addressed(settings: Any) -> None:
    settings.SITE_URL = SITE


@pytest.fixture
def sent(committed: Callable[..., Any]) -> Sent:
    """Do something; return the messages that it sent, as (addressee, text)."""

    def do(act: Callable[..., object], *arguments: object, **options: object) -> list[tuple[str, str]]:
        mail.outbox.clear()
        with committed():
            act(*arguments, **options)
        sending._postman.submit(lambda: None).result()  # the postman takes one after the other
        assert all(len(one.to) == 1 for one in mail.outbox)
        return sorted((one.to[0], one.body) for one in mail.outbox)

    return do


def reachable(role: Role, name: str) -> User:
    user = person(role)
    user.email = f"{name}@example.org"
    user.save()
    return user


@pytest.fixture
def officer() -> User:
    return reachable(Role.IRB_OFFICER, "officer")


@pytest.fixture
def other_officer() -> User:
    return reachable(Role.IRB_OFFICER, "other")


def with_team(study: Study) -> Study:
    """Its owner can be reached, and so can an editor and a viewer."""
    User.objects.filter(pk=study.owner_id).update(email="owner@example.org")
    for role in MemberRole:
        StudyMember.objects.create(study=study, user=reachable(Role.INVESTIGATOR, role), role=role)
    return Study.objects.get(pk=study.pk)


@pytest.fixture
def waiting(officer: User) -> Study:
    return with_team(study_in(StudyStatus.IN_REVIEW))


def addressees(messages: list[tuple[str, str]]) -> list[str]:
    return [address.partition("@")[0] for address, _text in messages]


def test_officers_who_may_review_it_are_told_of_a_submitted_study(sent: Sent, officer: User, other_officer: User) -> None:
    study = with_team(draft_study())
    left = StudyMember.objects.create(study=study, user=other_officer, role=MemberRole.EDITOR)
    studies.change_definition(study, definition=definition(), actor=other_officer)  # who wrote on it does not review it
    left.delete()
    messages = sent(studies.submit_for_review, study, actor=study.owner)
    assert addressees(messages) == ["officer"]
    [(_address, text)] = messages
    assert f"A protocol was frozen and submitted for review ({study.owner.username})." in text
    assert f"{SITE}{reverse('surveys:review', args=[study.slug])}\n" in text
    assert mail.outbox[0].subject == f"Candor: {study.title}"


@pytest.mark.parametrize("decide", [reviews.approve, reviews.ask_for_changes, reviews.reject])
def test_the_team_is_told_of_a_decision_but_not_what_was_written(
    sent: Sent, officer: User, other_officer: User, waiting: Study, decide: Callable[..., Study]
) -> None:
    messages = sent(decide, waiting, actor=officer, reason=SECRET)
    assert addressees(messages) == ["editor", "owner"]
    for _address, text in messages:
        assert f"({officer.username})." in text
        assert SECRET not in text
        assert f"{SITE}{reverse('surveys:review', args=[waiting.slug])}\n" in text


def test_comments_go_to_the_other_side(sent: Sent, officer: User, other_officer: User, waiting: Study) -> None:
    asked = sent(reviews.comment, waiting, actor=officer, section="die", text=SECRET)
    answered = sent(reviews.comment, waiting, actor=waiting.owner, section="die", text=SECRET)
    assert (addressees(asked), addressees(answered)) == (["editor", "owner"], ["officer", "other"])
    assert SECRET not in str(asked + answered)
    assert sent(reviews.comment, waiting, actor=officer, section="arms", text="And these?") == [], "one message an hour says enough"
    cache.clear()
    assert addressees(sent(reviews.comment, waiting, actor=officer, section="arms", text="Well?")) == ["editor", "owner"]


def test_a_suspension_its_lifting_and_the_end_of_an_approval_are_told(sent: Sent, officer: User) -> None:
    study = with_team(recruiting_study())
    assert addressees(sent(reviews.suspend, study, actor=officer, reason=SECRET)) == ["editor", "owner"]
    assert addressees(sent(reviews.lift_suspension, study, actor=officer, reason=SECRET)) == ["editor", "owner"]
    assert sent(studies.resume, study, actor=study.owner) == []
    yesterday = timezone.localdate() - timedelta(days=1)
    Study.objects.filter(pk=study.pk).update(approved_until=yesterday)
    paused = sent(expire_approvals)
    assert addressees(paused) == ["editor", "owner"]
    assert "Recruiting was paused because the approval had ended." in paused[0][1]
    assert f"{SITE}{reverse('surveys:study', args=[study.slug])}\n" in paused[0][1]
    Study.objects.filter(pk=study.pk).update(approved_until=yesterday - timedelta(days=90))
    assert addressees(sent(expire_approvals)) == ["editor", "owner"]
    assert sent(expire_approvals) == []


def test_the_end_of_an_approval_is_announced_once_a_month_before_unless_a_renewal_waits(sent: Sent, officer: User) -> None:
    study = with_team(recruiting_study())
    for days, told in ((31, []), (30, ["editor", "owner"]), (30, []), (29, ["editor", "owner"])):
        Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() + timedelta(days=days))
        assert addressees(sent(expire_approvals)) == told
    assert Entry.objects.filter(action="study.reminded").count() == 2
    studies.submit_for_review(study, actor=study.owner)
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate() + timedelta(days=10))
    assert sent(expire_approvals) == []


def test_without_a_mail_server_nothing_is_sent_and_nobody_counts_as_told(sent: Sent, officer: User, settings: Any) -> None:
    settings.EMAIL_IS_CONFIGURED = False
    study = with_team(recruiting_study())
    Study.objects.filter(pk=study.pk).update(approved_until=timezone.localdate())
    assert sent(expire_approvals) == []
    assert sent(reviews.suspend, study, actor=officer, reason="r") == []
    assert not Entry.objects.filter(action="study.reminded").exists()


def test_officers_hear_of_data_to_be_published_and_the_team_of_the_decision(sent: Sent, officer: User) -> None:
    study = with_team(closed_study())
    releases: list[Any] = []
    asked = sent(lambda: releases.append(requested_release(study)))
    assert addressees(asked) == ["officer"]
    page = reverse("analysis:releases", args=[study.slug])
    assert f"{SITE}{page}\n" in asked[0][1]
    published = sent(services.approve, releases[0], actor=officer)
    assert addressees(published) == ["editor", "owner"]
    assert f"{SITE}{page}\n" in published[0][1]


def test_officers_hear_that_a_request_was_taken_back_and_of_no_package_that_nobody_had_shown_them(sent: Sent, officer: User) -> None:
    study = with_team(closed_study())
    assert sent(services.discard, built_release(study), actor=study.owner) == []
    requested = requested_release(study)
    told = sent(services.discard, requested, actor=study.owner)
    assert addressees(told) == ["officer"]
    assert "An investigator gave up a release that was not public" in told[0][1]
    assert Entry.objects.filter(action="release.discarded").count() == 2


def test_nobody_who_is_blinded_gets_a_letter_and_none_tells_an_arm(sent: Sent, officer: User) -> None:
    """From launch to publication, also to an officer who was to review the study and watches it blinded now, and to its blinded owner."""
    study = recruiting_study(allocation={"planned_participants": 400}, die=TELLING_DIE)
    reviews.assign(study, actor=officer, reviewer=(watching := reachable(Role.IRB_OFFICER, "watching")).username)
    study = with_team(study)
    StudyMember.objects.create(study=study, user=watching, role=MemberRole.BLINDED_VIEWER)
    StudyMember.objects.create(study=study, user=reachable(Role.ADMINISTRATOR, "admin"), role=MemberRole.BLINDED_VIEWER)
    blind(study, on=True, actor=study.owner)
    add_finished_people(study, 100)
    compute(study)
    told = sent(change_arm, study, arm="slides", actor=study.owner, quota=None, closed=True)
    changed = definition(title="Another title", minimum_seconds=9, allocation={"planned_participants": 400}, die=TELLING_DIE)
    study = studies.change_definition(study, definition=changed, actor=study.owner)
    for step, actor, options in (
        (studies.submit_for_review, study.owner, {}),
        (reviews.comment, officer, {"section": "arms", "text": "Slides or instructor?"}),
        (reviews.comment, study.owner, {"section": "arms", "text": "Slides."}),
        (reviews.approve, officer, {"reason": "Slides."}),
        (studies.resume, study.owner, {}),
        (reviews.suspend, officer, {"reason": "Stop slides."}),
        (reviews.lift_suspension, officer, {"reason": "Go on with slides."}),
        (studies.resume, study.owner, {}),
        (studies.close, study.owner, {}),
    ):
        told += sent(step, Study.objects.get(pk=study.pk), actor=actor, **options)
    releases: list[Any] = []
    told += sent(lambda: releases.append(requested_release(Study.objects.get(pk=study.pk))))
    told += sent(services.approve, releases[0], actor=officer)
    assert set(addressees(told)) == {"owner", "editor", "officer"}
    assert not [text for _address, text in told if re.search(r"slides|instructor", text, re.IGNORECASE)]


def test_a_rolled_back_event_is_not_told(sent: Sent, officer: User, waiting: Study) -> None:
    def decide_in_vain() -> None:
        with transaction.atomic():
            reviews.approve(waiting, actor=officer)
            transaction.set_rollback(True)

    assert sent(decide_in_vain) == []
    assert addressees(sent(reviews.approve, waiting, actor=officer)) == ["editor", "owner"]


def test_a_title_cannot_add_a_line_to_the_head_of_a_message(sent: Sent, officer: User, waiting: Study) -> None:
    Study.objects.filter(pk=waiting.pk).update(title="Lectures\nBcc: eve@example.org")
    messages = sent(reviews.comment, Study.objects.get(pk=waiting.pk), actor=officer, section="die", text="Why?")
    assert addressees(messages) == ["editor", "owner"]
    assert mail.outbox[0].subject == "Candor: Lectures Bcc: eve@example.org"


def test_everybody_can_stop_the_messages_and_that_is_in_the_log(sent: Sent, officer: User, other_officer: User) -> None:
    client = logged_in(officer)
    page = page_of(client.get(reverse("account")))
    assert "we write to officer@example.org" in page.text_content()
    for wanted, told in (("0", ["other"]), ("1", ["officer", "other"])):
        [button] = page.xpath("//button[@name='wanted']")
        assert button.get("value") == wanted
        page = page_of(client.post(reverse("account_notices"), {"wanted": wanted}, follow=True))
        assert addressees(sent(studies.submit_for_review, draft_study(slug=f"study-{wanted}"), actor=person(Role.ADMINISTRATOR))) == told
        entry = Entry.objects.filter(action="account.notices_changed").latest("sequence")
        assert (entry.actor_id, entry.details) == (officer.pk, {"wanted": wanted == "1"})


def test_an_assignment_is_told_to_its_officer_alone(sent: Sent, officer: User, other_officer: User, waiting: Study) -> None:
    assert addressees(sent(reviews.assign, waiting, actor=officer, reviewer=other_officer.username)) == ["other"]
    assert sent(reviews.assign, waiting, actor=officer, reviewer=other_officer.username) == []
    assert sent(reviews.assign, waiting, actor=officer, reviewer="") == []
    assert sent(reviews.assign, waiting, actor=other_officer, reviewer=other_officer.username) == [], "nobody writes to themselves"


@pytest.mark.parametrize(
    ("configured", "said"), [(True, "Your account has no e-mail address."), (False, "This installation sends no e-mail.")]
)
def test_the_account_says_why_nothing_comes(settings: Any, configured: bool, said: str) -> None:
    settings.EMAIL_IS_CONFIGURED = configured
    page = page_of(logged_in(person(Role.ANALYST)).get(reverse("account")))
    assert said in page.text_content()
    assert not page.xpath("//button[@name='wanted']")


@pytest.mark.parametrize("configured", [True, False])
def test_a_review_promises_an_e_mail_only_where_there_is_e_mail(settings: Any, officer: User, waiting: Study, configured: bool) -> None:
    settings.EMAIL_IS_CONFIGURED = configured
    page = page_of(logged_in(officer).get(reverse("surveys:review", args=[waiting.slug]))).text_content()
    assert "Any other officer may still decide." in page
    assert ("told by e-mail" in page) is configured


def test_people_who_cannot_log_in_any_more_are_told_nothing(sent: Sent, officer: User, waiting: Study) -> None:
    User.objects.filter(pk=waiting.owner_id).update(is_active=False)
    assert addressees(sent(reviews.approve, waiting, actor=officer)) == ["editor"]
