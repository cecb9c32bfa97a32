"""From the outbox to the program: claimed, sent, tried again, given up. Every step may be repeated after a crash.

A claim writes down the time of the next attempt before the present one is made: a worker killed in between has failed once.
"""

import json
import logging
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from webhooks.models import Delivery, DeliveryStatus

# The waits between attempts: about a day together.
WAITS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 360, 900))
MOST_ATTEMPTS = len(WAITS) + 1
LAST_WAIT = timedelta(minutes=5)
KEPT = timedelta(days=90)

logger = logging.getLogger(__name__)


def claim(delivery_id: UUID) -> Delivery | None:
    """Take a message that is due. None: it was taken before, or has ended."""
    now = timezone.now()
    with transaction.atomic():
        waiting = Delivery.objects.select_related("webhook__study").select_for_update(of=("self",))
        delivery = waiting.filter(pk=delivery_id, status=DeliveryStatus.WAITING, due_at__lte=now, attempts__lt=MOST_ATTEMPTS).first()
        if delivery is None:
            return None
        wait = WAITS[delivery.attempts] if delivery.attempts < len(WAITS) else LAST_WAIT
        delivery.attempts, delivery.due_at, delivery.news = delivery.attempts + 1, now + wait, False
        delivery.save(update_fields=("attempts", "due_at", "news"))
        return delivery


def attempt(delivery: Delivery) -> None:
    """Send a claimed message, and record the outcome."""
    import httpcore  # only workers send

    from webhooks.errors import RefusedAddressError
    from webhooks.sending import post, signature

    hook = delivery.webhook
    body = json.dumps(message(delivery), sort_keys=True).encode()
    timestamp = str(int(timezone.now().timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Candor",
        "Candor-Event": delivery.event,
        "Candor-Delivery": str(delivery.pk),
        "Candor-Timestamp": timestamp,
        "Candor-Signature": signature(hook.secret, timestamp=timestamp, body=body),
    }
    try:
        status = post(hook.address, headers=headers, body=body, private_is_allowed=settings.WEBHOOKS_MAY_STAY_PRIVATE)
    except RefusedAddressError as refusal:
        _ended(delivery, DeliveryStatus.FAILED, error=str(refusal))
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError, UnicodeError) as error:
        _failed(delivery, error=f"no answer: {type(error).__name__}")
    else:
        if 200 <= status < 300:
            _mine(delivery).filter(news=True).update(attempts=0, due_at=timezone.now())
            _ended(delivery, DeliveryStatus.DELIVERED, answered=status)
        else:
            _failed(delivery, answered=status, error=f"answered {status}, expected 2xx")


def message(delivery: Delivery) -> dict[str, object]:
    """The news that something changed, and where; never its content. Nobody learns more than their own account shows."""
    slug, site = delivery.webhook.study.slug, delivery.webhook.site
    return {
        "id": str(delivery.pk),
        "event": delivery.event,
        "study": slug,
        "links": {
            "page": site + reverse("surveys:study", args=[slug]),
            "api": site + reverse("surveys:api_study", args=[slug]),
            "results": site + reverse("analysis:api_results", args=[slug]),
        },
    }


def due() -> list[UUID]:
    """Messages to be sent now, including those that the queue forgot or killed workers had begun. A message after its last attempt is given
    up.
    """
    now = timezone.now()
    waiting = Delivery.objects.filter(status=DeliveryStatus.WAITING, due_at__lte=now)
    for delivery in waiting.filter(attempts__gte=MOST_ATTEMPTS):
        _ended(delivery, DeliveryStatus.FAILED, answered=delivery.answered, error=delivery.error or "no answer")
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:1000])


def forget() -> None:
    """The log goes back three months."""
    Delivery.objects.filter(ended_on__lt=timezone.localdate() - KEPT).delete()


def _failed(delivery: Delivery, *, error: str, answered: int | None = None) -> None:
    if delivery.attempts >= MOST_ATTEMPTS:
        _ended(delivery, DeliveryStatus.FAILED, answered=answered, error=error)
        logger.warning("A webhook was given up after %d attempts", delivery.attempts)
    else:
        _mine(delivery).update(answered=answered, error=error)


def _ended(delivery: Delivery, status: DeliveryStatus, *, answered: int | None = None, error: str = "") -> None:
    _mine(delivery).update(status=status, due_at=None, ended_on=timezone.localdate(), answered=answered, error=error)


def _mine(delivery: Delivery) -> QuerySet[Delivery]:
    """Unless somebody else made an attempt since, or it is to go once more."""
    return Delivery.objects.filter(pk=delivery.pk, status=DeliveryStatus.WAITING, attempts=delivery.attempts)
