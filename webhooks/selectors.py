"""Reading a study's webhooks, for those who run it."""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from accounts.models import User
from surveys.access import access_own_study
from surveys.batches.selectors import withdrawals_renew_results
from surveys.models import Study
from webhooks.models import Delivery, Webhook, due_at


def access_webhook(user: User, slug: str, webhook_id: UUID) -> Webhook:
    """The webhook, if this person runs its study; the same 404 whether it is forbidden or absent."""
    hook = Webhook.objects.select_related("study").filter(study=access_own_study(user, slug).study, pk=webhook_id).first()
    if hook is None:
        raise Http404("There is no such webhook.")
    return hook


def deliveries_of(hook: Webhook) -> QuerySet[Delivery]:
    """The log, the newest day first, and what waits before what has ended."""
    return hook.deliveries.order_by("-queued_on", "-status", "pk")


def access_delivery(user: User, slug: str, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """The message, if this person runs its study."""
    delivery = access_webhook(user, slug, webhook_id).deliveries.filter(pk=delivery_id).first()
    if delivery is None:
        raise Http404("There is no such message.")
    return delivery


def moment_for(hook: Webhook, event: str) -> datetime:
    """The moment at which a message that is written now may leave. The study is read again: a worker may have waited long for an answer."""
    study = Study.objects.defer("definition").get(pk=hook.study_id)
    return due_at(event, now=timezone.now(), after_withdrawals=withdrawals_renew_results(study))
