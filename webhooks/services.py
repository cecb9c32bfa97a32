"""Subscribing and telling. Telling writes to the outbox, in the transaction of the event."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from audit.services import record
from jobs.tasks import send
from surveys import actions as studies
from surveys.lifecycle.steps import locked
from surveys.models import Study
from webhooks import actions
from webhooks.addresses import check_address
from webhooks.errors import WebhookError
from webhooks.models import DAYS_OF_TWO_SECRETS, LONGEST_ADDRESS, ONLY_ONCE, Delivery, DeliveryStatus, Event, Webhook
from webhooks.selectors import moment_for

MOST_WEBHOOKS = 10
TOLD: dict[str, tuple[Event, ...]] = {
    studies.CLOSED: (Event.STUDY_CLOSED,),
    studies.SUBMITTED: (Event.REVIEW_SUBMITTED,),
    studies.PART_SIGNED: (Event.REVIEW_SIGNED,),
    studies.SIGNATURE_TAKEN_BACK: (Event.REVIEW_SIGNED,),
    **dict.fromkeys(
        (studies.APPROVED, studies.RETURNED, studies.REJECTED, studies.SUSPENDED, studies.SUSPENSION_LIFTED), (Event.REVIEW_DECIDED,)
    ),
}
"""The entries of a study's log of which programs are told. Other applications add theirs."""


@transaction.atomic
def add_webhook(study: Study, *, address: str, events: Sequence[str], site: str, actor: User) -> Webhook:
    """Tell this address about these events from now on. `site` is where this Candor is, without a slash at the end."""
    check_address(address, private_is_allowed=settings.WEBHOOKS_MAY_STAY_PRIVATE)
    if len(address) > LONGEST_ADDRESS:
        raise WebhookError(_("Expected at most %(most)s characters as %(name)s.") % {"most": LONGEST_ADDRESS, "name": "address"})
    if not events:
        raise WebhookError(_("Expected at least one event, found none."), field="events")
    asked = [event for event in Event.values if event in events]
    if len(asked) != len(set(events)):
        told = {"events": ", ".join(Event.values), "found": ", ".join(map(str, events))[:100]}
        raise WebhookError(_("Expected some of %(events)s, found %(found)s.") % told, field="events")
    study = locked(study, by=actor, no_key=True)
    there = Webhook.objects.filter(study=study)
    if there.filter(address=address).exists():
        raise WebhookError(_("This address is told already; remove it first to change what it is told."))
    if there.count() >= MOST_WEBHOOKS:
        raise WebhookError(_("Expected at most %(most)s webhooks of a study; remove one first.") % {"most": MOST_WEBHOOKS})
    hook = Webhook(study=study, address=address, events=asked, site=site, signed_as_before=False)
    hook.full_clean(exclude=("address",))  # Django's own check of addresses knows no local names
    hook.save(force_insert=True)
    record(actor=actor, action=actions.ADDED, subject=study, details={"address": address, "events": asked})
    return hook


@transaction.atomic
def renew_secret(hook: Webhook, *, actor: User) -> Webhook:
    """Draw another secret. The one before signs too for two more days, in which the program takes the new one over."""
    locked(hook.study, by=actor, no_key=True)
    hook = _held(hook)
    hook.secret_number += 1
    hook.earlier_secret_until = timezone.localdate() + timedelta(days=DAYS_OF_TWO_SECRETS)
    hook.save(update_fields=["secret_number", "earlier_secret_until"])
    record(actor=actor, action=actions.SECRET_RENEWED, subject=hook.study, details={"address": hook.address})
    return hook


@transaction.atomic
def remove_webhook(hook: Webhook, *, actor: User) -> None:
    """Cancel waiting messages, and delete the log of earlier ones. Nothing is told of this study meanwhile: see `_before_messages`."""
    locked(hook.study, by=actor, no_key=True)
    _before_messages(hook, action=actions.REMOVED, actor=actor, details={"address": hook.address})
    _held(hook).delete()


@transaction.atomic
def send_again(delivery: Delivery, *, actor: User) -> Delivery:
    """Send a message anew, under the same number; if one of the same kind waits, that one will do, and goes now."""
    hook = delivery.webhook
    locked(hook.study, by=actor, no_key=True)
    _before_messages(hook, action=actions.SENT_AGAIN, actor=actor, details={"address": hook.address, "event": delivery.event})
    again = _waiting_again(_held(hook), delivery)
    transaction.on_commit(partial(send, again))
    return again


def _before_messages(hook: Webhook, *, action: str, actor: User, details: dict[str, str]) -> None:
    """Write into the log first: what the log tells is written into the outbox under the log's lock, so the lock on a message comes second.
    An act that then fails takes its entry back.
    """
    record(actor=actor, action=action, subject=hook.study, details=details)


def _waiting_again(hook: Webhook, delivery: Delivery) -> Delivery:
    """The message of this kind that waits, or else this one, to be sent now. It holds one message, and nothing that a new one needs."""
    values = {"status": DeliveryStatus.WAITING, "due_at": timezone.now(), "holder": None, "attempts": 0, "news": False, "ended_on": None}
    there = hook.deliveries.filter(event=delivery.event)
    while True:
        waiting = there.filter(status=DeliveryStatus.WAITING).select_for_update().first()
        try:
            with transaction.atomic():
                if there.filter(pk=(waiting or delivery).pk).update(**values):
                    return there.get(pk=(waiting or delivery).pk)
        except IntegrityError:  # something of this kind happened just now, and its message waits
            continue
        raise WebhookError(_("This message was removed in the meantime."))


def _held(hook: Webhook) -> Webhook:
    """The webhook as stored now, locked until the transaction ends; messages to it are still written."""
    found = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("study").filter(pk=hook.pk).first()
    if found is None:
        raise WebhookError(_("This address was removed in the meantime."))
    return found


def emit(study_id: int, event: Event) -> None:
    """Write a message into the outbox for everybody who asked for it. To be called in the transaction of what happened."""
    for hook in Webhook.objects.filter(study_id=study_id).select_related("study").defer("study__definition"):
        if event not in hook.events:
            continue
        there = hook.deliveries.filter(event=event)
        if event in ONLY_ONCE and there.exists():
            continue
        waiting = there.filter(status=DeliveryStatus.WAITING)
        news = {"news": ExpressionWrapper(Q(attempts__gt=0), output_field=BooleanField())}  # one that has not left tells of this too
        if waiting.update(**news):
            continue
        try:
            with transaction.atomic():
                delivery = Delivery.objects.create(webhook=hook, event=event, due_at=moment_for(hook, event))
        except IntegrityError:  # another process was quicker, and its message may leave before this is there to be read
            waiting.update(**news)
            continue
        transaction.on_commit(partial(send, delivery))


def tell_of_entry(sender: object, *, action: str, subject: object, **kwargs: object) -> None:
    """Tell programs of an entry of the log, if it is one of those in `TOLD`."""
    for event in TOLD.get(action, ()):
        if isinstance(subject, Study):
            emit(subject.pk, event)
