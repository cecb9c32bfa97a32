"""From the outbox to the program: claimed, sent, tried again, given up. Every step may be repeated after a crash."""

import json
import logging
from datetime import timedelta

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from jobs.queues import Queue
from jobs.registry import job, routine
from webhooks.errors import RefusedAddressError
from webhooks.models import WAITS, Delivery, DeliveryStatus
from webhooks.selectors import moment_for

# Longer than the single time-outs allow, for servers that send their answer drop by drop.
MOST_SECONDS = 40
NO_ANSWER = (OSError, UnicodeError, SoftTimeLimitExceeded)
KEPT = timedelta(days=90)

logger = logging.getLogger(__name__)


@job(kind="delivery", model=Delivery, expects=(RefusedAddressError,), queue=Queue.MAIL, most_seconds=MOST_SECONDS)
def attempt(delivery: Delivery) -> None:
    """Send a claimed message, and record the outcome."""
    import httpcore  # only workers send

    from webhooks.sending import post

    body = json.dumps(message(delivery), sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Candor",
        "Candor-Event": delivery.event,
        "Candor-Delivery": str(delivery.pk),
        **signed(delivery, body),
    }
    try:
        status = post(delivery.webhook.address, headers=headers, body=body, private_is_allowed=settings.WEBHOOKS_MAY_STAY_PRIVATE)
    except (*NO_ANSWER, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        _failed(delivery, error=f"no answer: {type(error).__name__}")
    else:
        if 200 <= status < 300:
            _delivered(delivery, answered=status)
        else:
            _failed(delivery, answered=status, error=f"answered {status}, expected 2xx")


def signed(delivery: Delivery, body: bytes) -> dict[str, str]:
    """The headers by which the program checks that the message comes from here, now, and unchanged."""
    from webhooks.sending import signature, signature_as_before

    hook, number, timestamp = delivery.webhook, str(delivery.pk), str(int(timezone.now().timestamp()))
    signatures = [signature(hook.key(one), message_id=number, timestamp=timestamp, body=body) for one in hook.valid_secrets]
    headers = {
        "Webhook-Id": number,
        "Webhook-Timestamp": timestamp,
        "Webhook-Signature": " ".join(signatures),
        "Candor-Timestamp": timestamp,
    }
    if (secret := hook.secret_as_before) is not None:
        headers["Candor-Signature"] = signature_as_before(secret, timestamp=timestamp, body=body)
    return headers


def message(delivery: Delivery) -> dict[str, object]:
    """The news that something changed, and where; never its content. Nobody learns more than their own account shows."""
    slug, site = delivery.webhook.study.slug, delivery.webhook.site
    return {
        "id": str(delivery.pk),
        "event": delivery.event,
        "type": delivery.event,
        "study": slug,
        "links": {
            "page": site + reverse("surveys:study", args=[slug]),
            "api": site + reverse("surveys:api_study", args=[slug]),
            "results": site + reverse("analysis:api_results", args=[slug]),
            "review": site + reverse("surveys:api_review", args=[slug]),
        },
    }


@routine(kind="old_deliveries", every=timedelta(hours=1))
def forget() -> None:
    """The log goes back three months."""
    Delivery.objects.filter(ended_on__lt=timezone.localdate() - KEPT).delete()


@transaction.atomic
def _delivered(delivery: Delivery, *, answered: int) -> None:
    if not _goes_once_more(delivery, answered=answered, error=""):
        delivery.finish(answered=answered)


@transaction.atomic
def _failed(delivery: Delivery, *, error: str, answered: int | None = None) -> None:
    """Later once more, at times that what happens meanwhile does not move: they would tell its minute."""
    if delivery.attempts < delivery.MOST_ATTEMPTS:
        delivery.wait(WAITS[delivery.attempts - 1], answered=answered, error=error)
    elif not _goes_once_more(delivery, answered=answered, error=error):
        delivery.finish(status=DeliveryStatus.FAILED, answered=answered, error=error)
        logger.warning("A webhook was given up after %d attempts", delivery.attempts)


def _goes_once_more(delivery: Delivery, **outcome: object) -> bool:
    """Whether it happened again since the first attempt. Then the message leaves once more, when a new one would."""
    if not delivery.mine().select_for_update().filter(news=True).exists():
        return False
    delivery.tell_of_news(moment_for(delivery.webhook, delivery.event) - timezone.now(), **outcome)
    return True
