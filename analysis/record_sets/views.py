"""The pages of records that somebody brings: bringing them, preparing and deciding about their package, and its public page."""

from collections.abc import Callable

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.data_sets.errors import DataSetError
from analysis.data_sets.forms import DescriptionForm, ReasonForm, first_errors
from analysis.data_sets.retention import typed_day
from analysis.data_sets.views import brought, delete, take_back
from analysis.models import PackageStatus, RecordPackage
from analysis.packages.archives.landing import Landing, for_every_site
from analysis.packages.errors import ReleaseError
from analysis.packages.licences import LICENCES
from analysis.record_sets import services
from analysis.record_sets.forms import ROLES, BringRecordsForm
from analysis.record_sets.package import KEYWORDS
from analysis.records.indented import to_chains
from analysis.records.services import save_hierarchy, stop_sweep, try_data_set
from analysis.releases.record_choices import RecordChoices
from analysis.sources.seats import NO_DATA_SET, DataSetSeat, access_record_set
from analysis.sources.selectors import public_record_packages, schema_of_records
from surveys.access import OWNER_ROLES
from surveys.questions.publication import Publication
from surveys.templatetags.catalogue_words import as_sentence

Errors = dict[str, str]
LONGEST_NAME = 200


@never_cache
@in_own_language
@require_role(*OWNER_ROLES)
@require_http_methods(["GET", "HEAD", "POST"])
def bring_records(request: HttpRequest) -> HttpResponse:
    """Files of students, with the role of each column. They are read in this request, and nothing of them waits anywhere."""
    form = BringRecordsForm(request.POST, request.FILES.getlist("file"))
    said = _("The records are here. Numbers of students were thrown away.")
    return brought(request, form, template="analysis/record_sets/bring.html", page="analysis:data_set_records", said=said)


@never_cache
@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def data_set_records(request: HttpRequest, data_set: str) -> HttpResponse:
    """The steps to a package, the officer's decision, and what became of it."""
    seat = access_record_set(user_of(request), data_set, needs="may_see_study")
    errors: Errors = {}
    if request.method == "POST":
        act, needs = ACTIONS.get(request.POST.get("action", ""), (None, ()))
        if act is None or not any(getattr(seat, need) for need in needs):
            raise Http404(NO_DATA_SET)
        try:
            if not (errors := act(request, seat)):
                return redirect("analysis:data_set_records", data_set)
        except (DataSetError, ReleaseError) as error:
            errors = {"listed" if act is _edit else "": str(error)}
    from analysis.record_sets.page import records_page

    context = records_page(seat, request.POST, errors) | {"role_choices": ROLES}
    return render(request, "analysis/record_sets/data_set_records.html", context, status=422 if errors else 200)


@in_own_language
@require_safe
def public_records(request: HttpRequest, data_set: str) -> HttpResponse:
    """The permanent page of a package; once it is retracted, the reason."""
    from analysis.record_sets.package import check_command
    from analysis.releases.record_summary import summary_in

    package = _public(data_set)
    told = package.summary["records"]
    context = {"package": package, "data_set": package.data_set, "licence": LICENCES[package.licence], "records": summary_in(told)}
    context["command"] = check_command(told["promised"])
    context["landing"] = _landing(request, package) if package.status == PackageStatus.BUILT else None
    return render(request, "analysis/record_sets/public.html", context)


def _landing(request: HttpRequest, package: RecordPackage) -> Landing:
    data_set = package.data_set
    return Landing.at(
        request,
        reverse("analysis:public_records", args=[data_set.slug]),
        files={reverse("analysis:public_records_package", args=[data_set.slug]): "application/zip"},
        title=data_set.title,
        description=as_sentence(package.summary.get("abstract") or package.summary["description"]),
        publication=Publication().with_authors(package.authors),
        keywords=KEYWORDS,
        doi="",
        version=1,
        day=data_set.decided_on,
        licence=LICENCES[package.licence],
    )


@for_every_site
@require_safe
def public_records_package(request: HttpRequest, data_set: str) -> HttpResponse:
    """The package, for everybody."""
    package = services.download(_public(data_set), counted=request.method == "GET")
    name = f'attachment; filename="{data_set}-records.zip"'
    return HttpResponse(package, content_type="application/zip", headers={"Content-Disposition": name})


def _public(slug: str) -> RecordPackage:
    found = public_record_packages().filter(data_set__slug=slug).first()
    if found is None:
        raise Http404("There are no such records.")
    return found


def _describe(request: HttpRequest, seat: DataSetSeat) -> Errors:
    form = DescriptionForm(request.POST)
    if form.is_valid():
        services.describe_records(seat.data_set, about=form.cleaned_data["about"], actor=seat.user)
    return first_errors(form)


def _roles(request: HttpRequest, seat: DataSetSeat) -> Errors:
    roles = dict(zip(request.POST.getlist("attribute"), request.POST.getlist("role"), strict=False))
    services.change_roles(seat.data_set, roles=roles, actor=seat.user, seen=request.POST.get("seen", ""))
    return {}


def _edit(request: HttpRequest, seat: DataSetSeat) -> Errors:
    attribute = request.POST.get("attribute", "")
    leaves = list(schema_of_records(seat.data_set).hierarchies.get(attribute, ()))
    chains = to_chains(request.POST.get("listed", ""), leaves=leaves, more=True)
    save_hierarchy(seat.data_set, attribute=attribute, chains=chains, actor=seat.user, seen=request.POST.get("seen", ""))
    messages.success(request, _("The hierarchy was kept."))
    return {}


def _suggested(request: HttpRequest, seat: DataSetSeat) -> Errors:
    save_hierarchy(seat.data_set, attribute=request.POST.get("attribute", ""), chains=None, actor=seat.user)
    messages.success(request, _("The suggested hierarchy stands again."))
    return {}


def _start(request: HttpRequest, seat: DataSetSeat) -> Errors:
    try_data_set(seat.data_set, actor=seat.user)
    return {}


def _stop(request: HttpRequest, seat: DataSetSeat) -> Errors:
    stopped = stop_sweep(seat.data_set, actor=seat.user)
    messages.success(request, _("The search was stopped.") if stopped else _("There was nothing to stop."))
    return {}


def _build(request: HttpRequest, seat: DataSetSeat) -> Errors:
    choices = RecordChoices.sent(schema_of_records(seat.data_set), request.POST)
    authors = [line.strip()[:LONGEST_NAME] for line in request.POST.get("authors", "").splitlines() if line.strip()]
    errors = choices.check()
    if not authors:
        errors["authors"] = _("Write the names of the authors.")
    if not errors and choices.chosen is not None:
        site, licence = request.build_absolute_uri("/").rstrip("/"), request.POST.get("licence", "")
        services.start_package(seat.data_set, chosen=choices.chosen, authors=authors, licence=licence, site=site, actor=seat.user)
    return errors


def _discard(request: HttpRequest, seat: DataSetSeat) -> Errors:
    services.discard_package(seat.data_set, actor=seat.user)
    messages.success(request, _("The package was given up and deleted."))
    return {}


def _request(request: HttpRequest, seat: DataSetSeat) -> Errors:
    try:
        day = typed_day(request.POST.get("delete_on", ""))
    except ValueError as error:
        return {"delete_on": str(error)}
    services.request_approval(seat.data_set, sha256=request.POST.get("sha256", ""), delete_on=day, actor=seat.user)
    messages.success(request, _("An IRB officer has been asked."))
    return {}


def _approve(request: HttpRequest, seat: DataSetSeat) -> Errors:
    services.publish(seat.data_set, sha256=request.POST.get("sha256", ""), delete_on=request.POST.get("delete_on", ""), actor=seat.user)
    messages.success(request, _("The records are public."))
    return {}


def _confirm(request: HttpRequest, seat: DataSetSeat) -> Errors:
    names, seen = request.POST.getlist("attributes"), request.POST.get("sha256", "")
    services.confirm_auxiliary(seat.data_set, names=names, sha256=seen, actor=seat.user)
    messages.success(request, _("The package is built again. Its owner looks at it, and asks you once more."))
    return {}


def _send_back(request: HttpRequest, seat: DataSetSeat) -> Errors:
    form, seen = ReasonForm(request.POST), request.POST.get("sha256", "")
    if form.is_valid():
        services.send_package_back(seat.data_set, reason=form.cleaned_data["reason"], sha256=seen, actor=seat.user)
    return first_errors(form)


def _retract(request: HttpRequest, seat: DataSetSeat) -> Errors:
    if not (reason := request.POST.get("reason", "").strip()):
        return {"reason": _("Expected a reason in words, found none.")}
    services.retract(seat.data_set, reason=reason, actor=seat.user)
    return {}


OWN, OFFICERS = ("may_change",), ("may_review",)
ACTIONS: dict[str, tuple[Callable[[HttpRequest, DataSetSeat], Errors], tuple[str, ...]]] = {
    "describe": (_describe, OWN),
    "roles": (_roles, OWN),
    "edit": (_edit, OWN),
    "suggested": (_suggested, OWN),
    "start": (_start, OWN),
    "stop": (_stop, OWN),
    "build": (_build, OWN),
    "discard": (_discard, OWN),
    "request": (_request, OWN),
    "take-back": (take_back, OWN),
    "delete": (delete, OWN),
    "approve": (_approve, OFFICERS),
    "confirm": (_confirm, OFFICERS),
    "send-back": (_send_back, OFFICERS),
    "retract": (_retract, (*OWN, *OFFICERS)),
}
"""The steps that the page sends, each with the permissions of a seat of which it needs one."""
