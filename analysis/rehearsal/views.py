"""Rehearse a study with bots, and compare what is found with what was planted."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.rehearsal.forms import PlantedForm
from analysis.rehearsal.page import rehearsal_view
from surveys.access import access_own_study
from surveys.protocols import definition_for, protocol_view_for
from surveys.rehearsal.selectors import rehearsal_of
from surveys.rehearsal.services import delete_rehearsal, rehearse, stop_rehearsal


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def rehearsal(request: HttpRequest, slug: str) -> HttpResponse:
    """The sandbox copy of a study: send bots, stop them, see what was found, and take everything away again."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    study = seat.study
    sent = request.POST if request.POST.get("action") == "start" else None
    definition = definition_for(seat)
    form = PlantedForm(sent, asks_directly=definition.direct_group is not None, compares=not definition.is_survey)
    match request.POST.get("action"):
        case "start" if form.is_valid():
            rehearse(study, protocol=protocol_view_for(seat), planted=form.planted(), actor=user)
            return redirect("analysis:rehearsal", slug)
        case "stop":
            stopped = stop_rehearsal(study, actor=user)
            messages.success(request, gettext("The bots were stopped.") if stopped else gettext("There was nothing to stop."))
            return redirect("analysis:rehearsal", slug)
        case "delete":
            deleted = delete_rehearsal(study, actor=user)
            messages.success(request, gettext("The rehearsal was deleted.") if deleted else gettext("There was nothing to delete."))
            return redirect("analysis:rehearsal", slug)
    sandbox = rehearsal_of(study)
    errors = [{"field": name, "message": f"{form.fields[name].label}: {found[0]}"} for name, found in form.errors.items()]
    context = {
        "study": study,
        "view": rehearsal_view(sandbox, language=get_language() or "en") if sandbox else None,
        "form": form,
        "errors": errors,
    }
    return render(request, "analysis/rehearsal.html", context, status=422 if errors else 200)
