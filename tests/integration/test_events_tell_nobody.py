"""The attack on events: somebody keeps every message, its time, and the list of messages, and tries to tell who came when."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import DateTimeField
from django.test import Client
from django.utils import timezone

from accounts.models import Role
from analysis import services as analysis
from analysis.models import Run, RunStatus
from analysis.releases.services import approve, refuse, request_approval, retract
from surveys.batches.rules import WAITING_PER_GROUP
from surveys.models import SIGNED_PARTS, Study
from surveys.review import services as review
from surveys.studies import services as studies
from tests.api_requests import get
from tests.factories import draft_study, person, recruiting_study, walk
from tests.finished_people import TELLING_DIE, add_finished_people
from tests.jobs import Sent, catch, claimed, work_off
from tests.releases import built_release, closed_study, withdraw_one
from webhooks import outbox, selectors, services
from webhooks.models import BY_PARTICIPANTS, DAY, MARK, WAITS, Delivery, Event, Webhook
from webhooks.services import add_webhook, emit

pytestmark = pytest.mark.django_db
FIRST = 4 * WAITING_PER_GROUP
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    return catch(monkeypatch)


def hook_of(study: Study) -> Webhook:
    return add_webhook(study, address="https://lab.example.org/", events=list(Event), site="https://candor.example.org", actor=study.owner)


def new_study(slug: str) -> Study:
    study = recruiting_study(slug=slug, allocation={"planned_participants": 2 * FIRST, "block_multiples": [1]}, die=TELLING_DIE)
    hook_of(study)
    return study


def batch(study: Study) -> None:
    """As at the end of the journey of the person who completes a batch."""
    analysis.refresh_when_answers_change(Study, study_id=study.pk)
    while (run := Run.objects.filter(study=study, status=RunStatus.QUEUED).order_by("pk").first()) is not None:
        work_off(run)


def seen(study: Study, *, completed_at: datetime, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, datetime, str]]:
    """All that an observer gets of a batch that was complete at this moment: events, the times of their messages, and their bodies."""
    add_finished_people(study, FIRST, counted=False)
    with monkeypatch.context() as clock:
        clock.setattr(timezone, "now", lambda: completed_at)
        batch(study)
    deliveries = list(Delivery.objects.filter(webhook__study=study).select_related("webhook__study").order_by("event"))
    return [(one.event, one.due_at or completed_at, body_of(one)) for one in deliveries]


def body_of(delivery: Delivery) -> str:
    message = outbox.message(delivery)
    assert message.pop("id") == str(delivery.pk)
    assert delivery.pk.version == 4, "a number that tells no time"
    return json.dumps(message).replace(delivery.webhook.study.slug, "STUDY")


SECONDS = (0, 1, 59, 61, 200, 299)


def test_messages_do_not_tell_the_second_in_which_a_batch_was_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = [
        seen(new_study(f"after-{seconds}"), completed_at=NOON + timedelta(seconds=seconds), monkeypatch=monkeypatch) for seconds in SECONDS
    ]
    assert {event for event, _at, _body in worlds[0]} == {Event.RESULTS_UPDATED, Event.BATCH_COUNTED}
    assert {at for _event, at, _body in worlds[0]} == {NOON + MARK}
    for world in worlds[1:]:
        assert world == worlds[0]


def test_the_attack_sees_the_second_where_messages_leave_after_a_fixed_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors, "due_at", lambda event, *, now, after_withdrawals: now + timedelta(minutes=1))
    worlds = [
        seen(new_study(f"after-{seconds}"), completed_at=NOON + timedelta(seconds=seconds), monkeypatch=monkeypatch) for seconds in SECONDS
    ]
    assert [world[0][1] - timedelta(minutes=1) for world in worlds] == [NOON + timedelta(seconds=seconds) for seconds in SECONDS]


def test_nobody_who_comes_between_two_batches_moves_anything(committed: Callable[..., Any]) -> None:
    study = new_study("between")
    add_finished_people(study, FIRST, counted=False)
    batch(study)
    Delivery.objects.all().delete()
    before = get(study.owner, f"studies/{study.slug}/webhooks/")
    for _ in range(3):
        with committed():
            walk(Client(), study)
    assert not Delivery.objects.exists()
    assert get(study.owner, f"studies/{study.slug}/webhooks/") == before


@pytest.mark.parametrize("event", BY_PARTICIPANTS)
def test_a_batch_while_the_message_is_on_its_way_waits_for_the_next_mark_too(event: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study("twice")
    monkeypatch.setattr(services, "ONLY_ONCE", ())
    emit(study.pk, event)
    Delivery.objects.update(due_at=timezone.now())
    under_way = claimed(Delivery.objects.get())
    emit(study.pk, event)
    outbox._delivered(under_way, answered=204)
    due = Delivery.objects.get().due_at
    assert due is not None
    assert due > timezone.now()
    assert round(due.timestamp()) % MARK.total_seconds() == 0


def test_results_that_a_withdrawal_changed_while_a_message_was_on_its_way_are_told_by_the_day() -> None:
    """Attack: a receiver that answers slowly holds a worker which read the study before it was closed."""
    study = new_study("slow-answer")
    add_finished_people(study, FIRST)
    emit(study.pk, Event.RESULTS_UPDATED)
    Delivery.objects.update(due_at=timezone.now())
    under_way = claimed(Delivery.objects.get())
    assert under_way.webhook.study.status == "recruiting"
    studies.close(study, actor=study.owner)
    withdraw_one(study)
    emit(study.pk, Event.RESULTS_UPDATED)
    outbox._delivered(under_way, answered=204)
    due = Delivery.objects.get(event=Event.RESULTS_UPDATED).due_at
    assert due is not None
    assert round(due.timestamp()) % DAY.total_seconds() == 0


def test_withdrawals_move_no_attempt_at_a_message_that_is_tried_again() -> None:
    """Attack: a receiver that is always busy hears by the next pause, and staff by the number of attempts, that there was something new."""
    study, pauses = new_study("busy"), []
    add_finished_people(study, FIRST)
    studies.close(study, actor=study.owner)
    emit(study.pk, Event.RESULTS_UPDATED)
    withdraw_one(study)
    for attempt in range(Delivery.MOST_ATTEMPTS):
        Delivery.objects.update(due_at=timezone.now())
        under_way = claimed(Delivery.objects.get(event=Event.RESULTS_UPDATED))
        if attempt == 1:
            emit(study.pk, Event.RESULTS_UPDATED)
        outbox._failed(under_way, answered=503, error="busy")
        assert under_way.due_at is not None
        pauses.append(under_way.due_at - timezone.now())
        if attempt == 3:
            emit(study.pk, Event.RESULTS_UPDATED)
            assert Delivery.objects.get(pk=under_way.pk).attempts == 4
    assert [round(pause.total_seconds()) for pause in pauses[:-1]] == [wait.total_seconds() for wait in WAITS]
    again = Delivery.objects.get(pk=under_way.pk)
    assert again.due_at is not None
    assert (round(again.due_at.timestamp()) % DAY.total_seconds(), again.attempts) == (0, 0), "and then it is tried for a day"


def test_a_message_that_was_sent_keeps_its_day_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    study = new_study("kept")
    seen(study, completed_at=NOON, monkeypatch=monkeypatch)
    for delivery in Delivery.objects.all():
        Delivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now())
        claimed(delivery).finish(answered=204)
    clock_times = [field.name for field in Delivery._meta.get_fields() if isinstance(field, DateTimeField)]
    assert clock_times == ["due_at"]
    assert set(Delivery.objects.values_list("due_at", "holder")) == {(None, None)}


def events() -> list[str]:
    """The events since the last look."""
    found = sorted(Delivery.objects.values_list("event", flat=True))
    Delivery.objects.all().delete()
    return found


def test_reviews_are_told_by_what_happened_and_not_by_whom() -> None:
    study, reader = draft_study(), person(Role.IRB_OFFICER)
    hook_of(study)
    studies.submit_for_review(study, actor=study.owner)
    assert reader.get_username() not in "".join(body_of(one) for one in Delivery.objects.select_related("webhook__study"))
    assert events() == ["review.submitted"]
    review.comment(study, actor=reader, section="consent", text="Shorter, please.")
    assert events() == []
    for signed in (True, False):
        review.sign(study, actor=reader, part=SIGNED_PARTS[0], version=1, signed=signed)
        assert events() == ["review.signed"]
    review.ask_for_changes(study, actor=reader, reason="Shorter, please.")
    assert events() == ["review.decided"]
    studies.submit_for_review(study, actor=study.owner)
    assert events() == ["review.submitted"]
    review.approve(study, actor=reader)
    assert events() == ["review.decided"]


def test_releases_are_told_from_the_package_to_the_retraction() -> None:
    study, reader = closed_study(), person(Role.IRB_OFFICER)
    hook_of(study)
    release = built_release(study)
    assert events() == ["release.built"]
    request_approval(release, actor=study.owner)
    assert events() == ["release.requested"]
    refuse(release, reason="Wait for the last exam.", actor=reader)
    assert events() == ["release.decided"]
    release = built_release(study)
    request_approval(release, actor=study.owner)
    events()
    assert approve(release, actor=reader)
    assert events() == ["release.decided", "release.published"]
    retract(release, reason="A wrong licence.", actor=reader)
    assert events() == ["release.retracted"]
