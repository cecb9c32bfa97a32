"""Deleting operational data before their day, by typing the study's name."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from jobs.tasks import send_now
from surveys.access import access_owned_study
from surveys.batches.selectors import shown_counts
from surveys.retention.selectors import day_of_forgetting, people_left_to_forget
from surveys.retention.services import ROUTINE, begin_forgetting


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def forget(request: HttpRequest, slug: str) -> HttpResponse:
    """The lists of deleted and kept data; once confirmed, the start of the deletion. A worker does the rest."""
    user = user_of(request)
    study = access_owned_study(user, slug).study
    errors = []
    if request.method == "POST":
        if request.POST.get("confirmation", "").strip() == study.slug:
            begin_forgetting(study, actor=user)
            send_now(ROUTINE)
            return redirect("surveys:forget", slug)
        errors = [{"field": "confirmation", "message": gettext("Nothing was deleted. Type %(slug)s to go on.") % {"slug": study.slug}}]
    left = people_left_to_forget(study)
    context = {"study": study, "left": left, "day": day_of_forgetting(study), "counts": shown_counts(study), "errors": errors}
    return render(request, "surveys/investigator/forget.html", context, status=422 if errors else 200)
