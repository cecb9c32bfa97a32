"""Prepare protected records: roles, hierarchies, what is possible, and an example."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.answers.record_schemas import schema_of_study
from analysis.models import RecordSweep
from analysis.packages.errors import ReleaseError
from analysis.records.indented import to_chains
from analysis.records.services import save_hierarchy, start_sweep, stop_sweep
from analysis.releases.protecting import hierarchies_for
from analysis.releases.selectors import data_sets, no_records
from surveys.access import access_own_study
from surveys.protocols import definition_for

SIMULATED = "simulated"


@never_cache
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def records(request: HttpRequest, slug: str) -> HttpResponse:
    """POST edits a hierarchy, or starts or stops the look at what is possible."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    study, definition = seat.study, definition_for(seat)
    attribute, typed, error = request.POST.get("attribute", ""), request.POST.get("listed", ""), ""
    if request.method == "POST":
        try:
            match request.POST.get("action"):
                case "edit":
                    leaves = list(hierarchies_for(study, definition).get(attribute, ()))
                    save_hierarchy(study, attribute=attribute, chains=to_chains(typed, leaves=leaves), actor=user)
                    messages.success(request, gettext("The hierarchy was kept."))
                case "suggested":
                    save_hierarchy(study, attribute=attribute, chains=None, actor=user)
                    messages.success(request, gettext("The suggested hierarchy stands again."))
                case "start":
                    start_sweep(study, simulated=request.POST.get("data") == SIMULATED, actor=user)
                case "stop":
                    stopped = stop_sweep(study, actor=user)
                    messages.success(request, gettext("The search was stopped.") if stopped else gettext("There was nothing to stop."))
                case _:
                    messages.error(request, gettext("Choose what is to be done."))
            return redirect("analysis:records", slug)
        except ReleaseError as wrong:
            error = str(wrong)
    from analysis.records.page import attributes_of, sweep_view

    sweep = RecordSweep.objects.filter(study=study).first()
    sets = data_sets(study)
    why = [" ".join(one.obstacles) or no_records(study, simulated=one.simulated) for one in sets]
    context = {
        "study": study,
        "attributes": attributes_of(schema_of_study(definition), hierarchies_for(study, definition)),
        "view": sweep and sweep_view(sweep),
        "obstacles": [said for said in dict.fromkeys(why) if said],
        "data": [one for one, said in zip(sets, why, strict=True) if not said],
        "errors": [{"field": f"listed-{attribute}", "message": error}] if error else [],
        "wrong": {"attribute": attribute, "typed": typed, "error": error},
    }
    return render(request, "analysis/records/records.html", context, status=422 if error else 200)
