"""The page of a study's webhooks: the addresses, the secret (once), and the outcomes of the messages."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from surveys.access import access_own_study
from surveys.models import Study
from webhooks.errors import WebhookError
from webhooks.models import Event, Webhook
from webhooks.selectors import access_delivery, access_webhook, deliveries_of, webhooks_of
from webhooks.services import add_webhook, remove_webhook, renew_secret, send_again

SHOWN = 30


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """Add an address, remove one, send a message again."""
    user = user_of(request)
    study = access_own_study(user, slug).study
    if request.method != "POST":
        return _page(request, study)
    match request.POST.get("action"):
        case "remove":
            remove_webhook(access_webhook(user, slug, _number(request, "webhook")), actor=user)
            messages.success(request, gettext("This address is not told any more."))
        case "renew":
            renewed = renew_secret(access_webhook(user, slug, _number(request, "webhook")), actor=user)
            return _page(request, study, added=renewed)
        case "again":
            send_again(access_delivery(user, slug, _number(request, "webhook"), _number(request, "delivery")), actor=user)
            messages.success(request, gettext("The message is being sent again."))
        case _:
            address, events = request.POST.get("address", "").strip(), request.POST.getlist("events")
            try:
                site = request.build_absolute_uri("/").rstrip("/")
                added = add_webhook(study, address=address, events=events, site=site, actor=user)
            except WebhookError as error:
                return _page(request, study, errors=[{"field": error.field, "message": str(error)}])
            return _page(request, study, added=added)  # not a redirection: the secret is shown this once
    return redirect("webhooks:webhooks", slug)


def _page(request: HttpRequest, study: Study, *, added: Webhook | None = None, errors: list[dict[str, str]] | None = None) -> HttpResponse:
    context = {
        "study": study,
        "hooks": [
            {
                "hook": hook,
                "two_secrets": len(hook.valid_secrets) > 1,
                "events": [Event(name).label for name in hook.events],
                "deliveries": deliveries_of(hook)[:SHOWN],
            }
            for hook in webhooks_of(study)
        ],
        "added": added,
        "errors": errors or [],
        "error_of": {one["field"]: one["message"] for one in errors or ()},
        "events": Event.choices,
        "chosen": request.POST.getlist("events") if errors else Event.values,
        "address": request.POST.get("address", "") if errors else "",
    }
    response = render(request, "webhooks/webhooks.html", context, status=422 if errors else 200)
    if added:
        response["Cache-Control"] = "no-store"
    return response


def _number(request: HttpRequest, name: str) -> UUID:
    """The object's number; no object has the number zero."""
    try:
        return UUID(request.POST.get(name, ""))
    except ValueError:
        return UUID(int=0)
