"""Somebody sends a message again, or removes an address, while a transaction tells of several events: the locks have one order."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections, transaction

from audit.services import record
from surveys import actions as studies
from surveys.models import Study
from tests.integration.test_short_locks import until_somebody_waits
from tests.integration.test_webhooks import hook_of
from tests.integration.test_webhooks import sent as sent
from webhooks.models import Delivery, DeliveryStatus, Event, Webhook
from webhooks.services import emit, remove_webhook, send_again

pytestmark = pytest.mark.usefixtures("postgresql")


def by_workers(study: Study) -> None:
    """As a worker tells of results: what waits is written first, then something of another kind."""
    emit(study.pk, Event.RESULTS_UPDATED)
    until_somebody_waits()
    emit(study.pk, Event.N_REACHED)
    emit(study.pk, Event.BATCH_COUNTED)


def by_the_log(study: Study) -> None:
    """As people decide: every entry of the log is told."""
    record(actor=study.owner, action=studies.LAUNCHED, subject=study)
    until_somebody_waits()
    record(actor=study.owner, action=studies.CLOSED, subject=study)
    record(actor=study.owner, action=studies.SUBMITTED, subject=study)


def meanwhile(tell: Callable[[Study], None], study: Study, act: Callable[[], object]) -> object:
    """The outcome of an act that began once the telling had its first lock."""

    def perform() -> object:
        try:
            return act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Study.objects.select_for_update(no_key=True).get(pk=study.pk) if tell is by_the_log else None
            if tell is by_workers:
                emit(study.pk, Event.RESULTS_UPDATED)
            else:
                record(actor=study.owner, action=studies.PAUSED, subject=study)
            begun = pool.submit(perform)
            tell(study)
        return begun.result(timeout=30)


@pytest.mark.parametrize(("tell", "event"), [(by_workers, Event.RESULTS_UPDATED), (by_the_log, Event.STUDY_CLOSED)])
@pytest.mark.parametrize("waits", [True, False])
def test_a_message_is_sent_again_while_other_events_are_told(
    study: Study, tell: Callable[[Study], None], event: Event, waits: bool
) -> None:
    hook = hook_of(study)
    emit(study.pk, event)
    message = Delivery.objects.get()
    if not waits:
        Delivery.objects.update(status=DeliveryStatus.FAILED, due_at=None)
    again = meanwhile(tell, study, lambda: send_again(message, actor=study.owner))
    assert isinstance(again, Delivery)
    assert Delivery.objects.get(pk=again.pk).status == DeliveryStatus.WAITING
    assert Delivery.objects.filter(webhook=hook, event=event, status=DeliveryStatus.WAITING).count() == 1
    assert Delivery.objects.filter(webhook=hook).count() > 1, "the other events are told"


def test_an_address_is_removed_while_other_events_are_told(study: Study) -> None:
    hook = hook_of(study)
    emit(study.pk, Event.STUDY_CLOSED)
    meanwhile(by_the_log, study, lambda: remove_webhook(hook, actor=study.owner))
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()
