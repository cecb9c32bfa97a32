"""Something happens while a message about the same waits, is on its way, or is just being written: programs hear of that, too."""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from audit.models import Entry
from surveys.models import Study
from tests.integration.test_webhooks import Receiver, deliver_all, hook_of
from tests.integration.test_webhooks import receiver as receiver
from tests.integration.test_webhooks import sent as sent
from tests.jobs import attempt, claimed
from tests.simultaneous import at_once, outcomes_at_once
from webhooks.errors import WebhookError
from webhooks.models import Delivery, DeliveryStatus, Event, Webhook
from webhooks.selectors import moment_for
from webhooks.services import emit, remove_webhook, renew_secret, send_again

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("while_it_is_sent", [False, True])
def test_news_that_join_a_message_of_yesterday_are_tried_for_a_day_too(study: Study, receiver: Receiver, while_it_is_sent: bool) -> None:
    """The program was away, and the message about to be given up. It comes back some minutes after something new has happened."""
    hook_of(study, receiver.address)
    receiver.status = 503
    emit(study.pk, Event.REVIEW_DECIDED)
    for _ in range(Delivery.MOST_ATTEMPTS - 1):
        deliver_all()
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    under_way = claimed(Delivery.objects.get()) if while_it_is_sent else None
    emit(study.pk, Event.REVIEW_DECIDED)
    if under_way is not None:
        attempt(under_way)
    for _ in range(Delivery.MOST_ATTEMPTS - 1):
        deliver_all()
        assert Delivery.objects.get().status == DeliveryStatus.WAITING
    receiver.status = 204
    deliver_all()
    assert Delivery.objects.get().status == DeliveryStatus.DELIVERED


def test_news_outlive_the_last_worker_who_falls_silent(study: Study) -> None:
    hook_of(study)
    emit(study.pk, Event.REVIEW_DECIDED)
    Delivery.objects.update(attempts=Delivery.MOST_ATTEMPTS - 1)
    claimed(Delivery.objects.get())
    emit(study.pk, Event.REVIEW_DECIDED)
    assert Delivery.objects.get().take_over()
    waits = Delivery.objects.get()
    assert (waits.status, waits.attempts, waits.news, waits.holder) == (DeliveryStatus.WAITING, 0, False, None)


@pytest.mark.parametrize("arrives", [True, False])
def test_what_goes_once_more_is_another_message_to_a_program_that_drops_what_it_had(
    study: Study, receiver: Receiver, arrives: bool
) -> None:
    hook_of(study, receiver.address)
    receiver.status = 204 if arrives else 503
    emit(study.pk, Event.REVIEW_DECIDED)
    if not arrives:
        Delivery.objects.update(attempts=Delivery.MOST_ATTEMPTS - 1)
    under_way = claimed(Delivery.objects.get())
    emit(study.pk, Event.REVIEW_DECIDED)
    attempt(under_way)
    receiver.status = 204
    deliver_all()
    numbers = [headers["Webhook-Id"] for headers, _body in receiver.received]
    assert len(set(numbers)) == len(numbers) == 2
    assert Delivery.objects.get().status == DeliveryStatus.DELIVERED


@pytest.mark.django_db(transaction=True)
def test_of_two_events_at_once_the_one_that_comes_second_is_told_too(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both find no message. The first one's is the only one, and leaves once both events are there for the program to read."""
    hook_of(study)
    both = Barrier(2, timeout=20)

    def meanwhile(*args: Any, **values: Any) -> Any:
        both.wait()  # neither has written a message yet
        return moment_for(*args, **values)

    monkeypatch.setattr("webhooks.services.moment_for", meanwhile)

    def happen() -> None:
        with transaction.atomic():
            emit(study.pk, Event.REVIEW_DECIDED)

    at_once(happen, happen)
    assert not Delivery.objects.get().news, "it has not left yet, and tells of both"
    under_way = claimed(Delivery.objects.get())
    emit(study.pk, Event.REVIEW_DECIDED)
    assert Delivery.objects.get(pk=under_way.pk).news, "it goes once more"


def test_the_very_message_is_sent_again_that_was_asked_for_or_the_one_that_waits(study: Study) -> None:
    hook = hook_of(study)
    ended = {"event": Event.RESULTS_UPDATED, "status": DeliveryStatus.DELIVERED, "ended_on": timezone.localdate()}
    for asked in sorted((Delivery.objects.create(webhook=hook, **ended) for _number in range(3)), key=lambda one: one.pk):
        assert send_again(asked, actor=study.owner).pk == asked.pk
        waits = Delivery.objects.get(status=DeliveryStatus.WAITING)
        assert waits == asked
        assert send_again(Delivery.objects.exclude(pk=waits.pk)[0], actor=study.owner) == waits
        Delivery.objects.filter(pk=waits.pk).update(due_at=None, **ended)
    Delivery.objects.all().delete()
    with pytest.raises(WebhookError, match="message was removed in the meantime"):
        send_again(asked, actor=study.owner)


@pytest.mark.django_db(transaction=True)
def test_an_address_is_removed_once_and_gets_no_secret_afterwards(study: Study) -> None:
    hook = hook_of(study)
    seen = [Webhook.objects.get(pk=hook.pk) for _tab in range(2)]
    ends = outcomes_at_once(*(lambda one=one: remove_webhook(one, actor=study.owner) for one in seen))
    late = [str(end) for end in ends if isinstance(end, WebhookError)]
    assert late == ["This address was removed in the meantime."], ends
    assert Entry.objects.filter(action="webhook.removed").count() == 1
    for late_step in (remove_webhook, renew_secret):
        with pytest.raises(WebhookError, match="was removed in the meantime"):
            late_step(hook, actor=study.owner)
    assert Entry.objects.filter(action__in=("webhook.removed", "webhook.secret_renewed")).count() == 1
