"""Prepare protected records: roles, hierarchies, what is possible, and an example."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role, User
from analysis.answers.record_schemas import schema_of_study
from analysis.data_sets.errors import DataSetError
from analysis.models import DataSet, DataSetStatus, RecordSweep, key_of
from analysis.packages.errors import ReleaseError
from analysis.records.indented import to_chains
from analysis.records.services import save_hierarchy, start_sweep, stop_sweep, try_data_set
from analysis.releases.protecting import hierarchies_of
from analysis.releases.selectors import data_sets, no_records
from analysis.sources.places import Place
from analysis.sources.seats import access_record_set
from surveys.access import access_own_study
from surveys.models import Study
from surveys.protocols import definition_for

SIMULATED = "simulated"


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def records_or_query(request: HttpRequest, /, **where: str) -> HttpResponse:
    """The same counts from records and from a desk, of a study or of records that somebody brought.

    POST starts or stops the search, which is that of the page of records.
    """
    user = user_of(request)
    place = Place(
        access_own_study(user, where["slug"]) if "slug" in where else access_record_set(user, where["data_set"], needs="has_the_files")
    )
    if request.method == "POST":
        try:
            _start_or_stop(request, place.whole, user)
        except (ReleaseError, DataSetError) as wrong:
            messages.error(request, str(wrong))
        return redirect(request.path)
    from analysis.records.comparison import comparison_of, figures_of, verdict_of
    from analysis.records.page import sweep_view

    sweep = RecordSweep.objects.filter(**key_of(place.whole)).first()
    found = comparison_of(sweep)
    context = {
        **place.context,
        "view": sweep and sweep_view(sweep),
        "found": found,
        "verdict": found and verdict_of(found),
        "figures": figures_of(found) if found else [],
        **_data_of(place.whole),
    }
    return render(request, "analysis/records/records_or_query.html", context)


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def records(request: HttpRequest, slug: str) -> HttpResponse:
    """POST edits a hierarchy, or starts or stops the look at what is possible."""
    user = user_of(request)
    seat = access_own_study(user, slug)
    study, definition = seat.study, definition_for(seat)
    attribute, typed, error = request.POST.get("attribute", ""), request.POST.get("listed", ""), ""
    schema = schema_of_study(definition)
    if request.method == "POST":
        try:
            match request.POST.get("action"):
                case "edit":
                    leaves = list(schema.editable.get(attribute, ()))
                    chains = to_chains(typed, leaves=leaves)
                    save_hierarchy(study, attribute=attribute, chains=chains, actor=user, seen=request.POST.get("seen", ""))
                    messages.success(request, gettext("The hierarchy was kept."))
                case "suggested":
                    save_hierarchy(study, attribute=attribute, chains=None, actor=user)
                    messages.success(request, gettext("The suggested hierarchy stands again."))
                case _:
                    _start_or_stop(request, study, user)
            return redirect("analysis:records", slug)
        except ReleaseError as wrong:
            error = str(wrong)
    from analysis.records.page import attributes_of, sweep_view

    sweep = RecordSweep.objects.filter(study=study).first()
    context = {
        "study": study,
        "attributes": attributes_of(schema, hierarchies_of(study, schema.editable)),
        "view": sweep and sweep_view(sweep),
        **_data_of(study),
        "errors": [{"field": f"listed-{attribute}", "message": error}] if error else [],
        "wrong": {"attribute": attribute, "typed": typed, "error": error},
    }
    return render(request, "analysis/records/records.html", context, status=422 if error else 200)


def _start_or_stop(request: HttpRequest, whole: Study | DataSet, user: User) -> None:
    match request.POST.get("action"):
        case "start":
            if isinstance(whole, DataSet):
                try_data_set(whole, actor=user)
            else:
                start_sweep(whole, simulated=request.POST.get("data") == SIMULATED, actor=user)
        case "stop":
            stopped = stop_sweep(whole, actor=user)
            messages.success(request, gettext("The search was stopped.") if stopped else gettext("There was nothing to stop."))
        case _:
            messages.error(request, gettext("Choose what is to be done."))


def _data_of(whole: Study | DataSet) -> dict[str, object]:
    """The data whose records can be tried, and why others cannot. Records that somebody brought stand still once an officer is asked."""
    if isinstance(whole, DataSet):
        return {"obstacles": [], "may_start": whole.status == DataSetStatus.DRAFT and whole.forgotten_on is None}
    sets = data_sets(whole)
    why = [" ".join(one.obstacles) or no_records(whole, simulated=one.simulated) for one in sets]
    data = [one for one, said in zip(sets, why, strict=True) if not said]
    return {"obstacles": [said for said in dict.fromkeys(why) if said], "data": data, "may_start": bool(data)}
