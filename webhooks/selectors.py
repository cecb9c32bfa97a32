"""Reading a study's webhooks, for those who run it."""

from datetime import datetime
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from accounts.models import User
from audit.selectors import entries_about
from surveys import actions as studies
from surveys.access import access_own_study
from surveys.batches.selectors import withdrawals_renew_results
from surveys.models import Study
from webhooks import actions
from webhooks.models import Delivery, Webhook, due_at


def webhooks_of(study: Study) -> QuerySet[Webhook]:
    """The study's webhooks. `inherited`: the study was given to its owner, and somebody else asked for this address or made its secret,
    before that or since.
    """
    return Webhook.objects.filter(study=study).annotate(inherited=ExpressionWrapper(_inherited(study), output_field=BooleanField()))


def has_inherited_webhooks(study: Study) -> bool:
    hooks = Webhook.objects.filter(study=study)
    return hooks.exists() and hooks.filter(_inherited(study)).exists()  # most studies have none, and the log need not be asked


def _inherited(study: Study) -> Q:
    was_given = entries_about(study).filter(action=studies.TRANSFERRED).exists()
    asked = entries_about(study).filter(action__in=(actions.ADDED, actions.SECRET_RENEWED)).order_by("sequence")
    last = {entry.details["address"]: entry.actor_id for entry in asked}
    return ~Q(address__in=[address for address, actor in last.items() if not was_given or actor == study.owner_id])


def access_webhook(user: User, slug: str, webhook_id: UUID) -> Webhook:
    """The webhook, if this person runs its study; the same 404 whether it is forbidden or absent."""
    hook = webhooks_of(access_own_study(user, slug).study).select_related("study").filter(pk=webhook_id).first()
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
