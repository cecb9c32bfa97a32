"""Diagnose a study's design: simulate it under ways to cheat and to leave."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.diagnosis.forms import DiagnosisForm
from analysis.diagnosis.services import delete_diagnosis, diagnose, stop_diagnosis
from analysis.models import Diagnosis
from surveys.access import access_own_study
from surveys.protocols import definition_for


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def diagnosis(request: HttpRequest, slug: str) -> HttpResponse:
    """Start, watch, stop and delete a diagnosis."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    study, definition = seat.study, definition_for(seat)
    sent = request.POST if request.POST.get("action") == "start" else None
    form = DiagnosisForm(sent, definition=definition, language=get_language() or "en")
    match request.POST.get("action"):
        case "start" if form.is_valid():
            diagnose(study, definition=definition, asked=form.asked(), actor=user)
            return redirect("analysis:diagnosis", slug)
        case "stop":
            stopped = stop_diagnosis(study, actor=user)
            messages.success(request, gettext("The simulations were stopped.") if stopped else gettext("There was nothing to stop."))
            return redirect("analysis:diagnosis", slug)
        case "delete":
            deleted = delete_diagnosis(study, actor=user)
            messages.success(request, gettext("The diagnosis was deleted.") if deleted else gettext("There was nothing to delete."))
            return redirect("analysis:diagnosis", slug)
    errors = [{"field": name, "message": f"{form.fields[name].label}: {found[0]}"} for name, found in form.errors.items()]
    view = None
    if (found := Diagnosis.objects.filter(study=study).first()) is not None:
        from analysis.diagnosis.page import diagnosis_view  # SciPy, which most web processes can do without

        view = diagnosis_view(found, definition, language=get_language() or "en")
    context = {"study": study, "view": view, "form": form, "errors": errors, "definition": definition}
    return render(request, "analysis/diagnosis.html", context, status=422 if errors else 200)
