"""Pages of releases: for people who run a study, for IRB officers, and for everybody."""

import hashlib
from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role, User
from analysis import actions
from analysis.answers.record_schemas import schema_of_study
from analysis.deposits.description import description_of
from analysis.deposits.offered import NAMES, configured, planned
from analysis.deposits.selectors import deposit_of
from analysis.models import OPEN_RELEASES, RecordPackage, Release, ReleaseStatus
from analysis.packages.archives.landing import Landing, for_every_site
from analysis.packages.archives.ro_crate import served_as
from analysis.packages.archives.schema_org import DATACITE
from analysis.packages.errors import ReleaseError, ReleaseGoneError
from analysis.packages.licences import LICENCES
from analysis.releases import services
from analysis.releases.building import STAGES
from analysis.releases.findings import file_of, findings_of
from analysis.releases.forms import ReleaseForm
from analysis.releases.keys import signing_key
from analysis.releases.record_choices import RecordChoices
from analysis.releases.record_summary import asked_of, private_errors, record_summary
from analysis.releases.selectors import (
    access_release,
    data_sets,
    no_records,
    preview,
    public_keys,
    public_release,
    public_releases,
    published_records,
    published_smallest_count,
    releases,
    sees_single_people,
    steps_open_to,
    with_attempts,
)
from analysis.releases.statistics import statistics_of
from analysis.sources.selectors import public_record_packages
from audit.services import record_once_a_day
from candor.packages.signing import public_pem
from surveys.access import Seat, access_own_study, access_study
from surveys.errors import SurveyError
from surveys.media.ranged_response import ranged_response
from surveys.protocols import definition_for
from surveys.retention.release_plans import release_plans
from surveys.templatetags.catalogue_words import as_sentence


@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def study_releases(request: HttpRequest, slug: str) -> HttpResponse:
    """All releases of a study, and the choices for the next one."""
    user = user_of(request)
    seat = (access_own_study if request.method == "POST" else access_study)(user, slug)
    study = seat.study
    found = list(with_attempts(releases()).filter(study=study).order_by("-pk"))
    sets = data_sets(study)
    offered, why_not = [one for one in sets if not one.obstacles], list(dict.fromkeys(said for one in sets for said in one.obstacles))
    form, status = None, HTTPStatus.OK
    if seat.may_change and offered and not any(one.status in OPEN_RELEASES for one in found):
        definition = definition_for(seat)
        schema = schema_of_study(definition)
        can_count, published = bool(definition.countable_background) and study.forgotten_on is None, published_smallest_count(study)
        possible = [one.simulated for one in offered if not no_records(study, simulated=one.simulated)]
        before = published_records(study, simulated=possible[0]) if len(possible) == 1 else None
        fixed, last = before.protection if before else None, found[0] if found else None
        records = None
        if possible and request.method == "POST":
            records = RecordChoices.sent(schema, request.POST, fixed=fixed)
        elif possible:
            records = RecordChoices.empty(schema, last=last.protection if last else None, fixed=fixed)
        form = ReleaseForm(definition=definition, can_count=can_count, records=records, data_sets=offered, public_threshold=published)
        if request.method == "POST":
            form.read(request.POST)
            if not form.errors:
                site = request.build_absolute_uri("/").rstrip("/")
                try:
                    release = services.start_release(study, choices=form.choices(), site=site, actor=user)
                except ReleaseError as error:  # what was typed stays
                    messages.error(request, str(error))
                    status = HTTPStatus.CONFLICT
                else:
                    return redirect("analysis:releases_one", slug, release.pk)
        else:
            form.fill(last)
    elif request.method == "POST":
        messages.error(request, " ".join(why_not) or gettext("Another release of this study is under way."))
        return redirect("analysis:releases", slug)
    context = {"study": study, "releases": found, "obstacles": why_not, "form": form, "errors": form.summary if form else []}
    context["missing"] = list(dict.fromkeys(one.missing for one in offered if one.missing)) if form else []
    context["plans"] = release_plans(study) if form else []
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context["errors"] else status
    return render(request, "analysis/releases/study_releases.html", context, status=status)


@in_own_language
@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def study_release(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """One release: its state, its content, its promises and risks, and the actions possible now."""
    user = user_of(request)
    release = access_release(user, slug, release_id)
    if request.method == "POST":
        try:
            _take_step(request, release, user)
        except SurveyError as error:
            messages.error(request, str(error))
        return redirect("analysis:releases_one", slug, release_id)
    seat = Seat(user, release.study)
    sees_people, runs_study = sees_single_people(seat, release), seat.may_change
    shown = preview(release, of_people=sees_people)
    if shown.rows and release.status in OPEN_RELEASES:
        record_once_a_day(actor=user, action=actions.RELEASE_ROWS_SEEN, subject=release.study)
    context = {
        "study": release.study,
        "release": release,
        "licence": LICENCES[release.licence],
        "plans": release_plans(release.study),
        "preview": shown,
        "people_wait": not sees_people,
        "records": record_summary(release, private=private_errors(release.study) if runs_study else None),
        "asked": asked_of(release),
        "step": _step_of(release),
        "stage": STAGES.index(release.stage) + 1 if release.stage else 0,
        "stages": len(STAGES),
        "steps": steps_open_to(user, release),
        "runs_study": runs_study,
        "deposit": deposit_of(release),
    }
    return render(request, "analysis/releases/study_release.html", context)


@in_own_language
@require_role(*Role)
@require_safe
def what_would_be_sent(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """The requests that reserve and publish a DOI for this release, as they would be sent. Looking at them sends nothing."""
    release = access_release(user_of(request), slug, release_id)
    deposit, offered = deposit_of(release), configured()
    name = deposit.service if deposit is not None else offered.name if offered is not None else ""
    if not name:
        raise Http404("This server has no service that gives DOIs.")
    description = description_of(release)
    missing = NAMES[name].wants(description)
    context = {
        "study": release.study,
        "release": release,
        "service": NAMES[name].label,
        "missing": missing,
        "steps": [] if missing else planned(name, description, dict.fromkeys([one["name"] for one in release.files], b"")),
    }
    return render(request, "analysis/releases/what_would_be_sent.html", context)


@in_own_language
@require_safe
def public_list(request: HttpRequest, slug: str = "") -> HttpResponse:
    """All public data, or those of one study."""
    found = public_releases()
    if slug and not (found := found.filter(study__slug=slug)):
        raise Http404("This study has no public data.")
    records = RecordPackage.objects.none() if slug else public_record_packages()
    return render(request, "analysis/releases/public_list.html", {"releases": found, "records": records})


@in_own_language
@require_safe
def public_page(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """The page of a release at its permanent address; once it is retracted, the reason."""
    release = public_release(slug, version)
    context = {
        "release": release,
        "study": release.study,
        "licence": LICENCES[release.licence],
        "records": record_summary(release),
        "findings": findings_of(release) if release.status == ReleaseStatus.PUBLISHED else None,
        "statistics": statistics_of(release) if release.status == ReleaseStatus.PUBLISHED else None,
        "versions": public_releases().filter(study=release.study).order_by("-version"),
        "known": release.described,
        "deposit": deposit_of(release),
        "landing": _landing(request, release) if release.status == ReleaseStatus.PUBLISHED else None,
    }
    return render(request, "analysis/releases/public_page.html", context)


def _landing(request: HttpRequest, release: Release) -> Landing:
    here = {"slug": release.study.slug, "version": release.version}
    files = {reverse("analysis:public_package", kwargs=here): "application/zip"}
    files |= {reverse("analysis:public_file", kwargs={**here, "name": one["name"]}): served_as(one["name"]) for one in release.files}
    deposit = deposit_of(release)
    return Landing.at(
        request,
        reverse("analysis:public_release", kwargs=here),
        files=files,
        described_by=request.build_absolute_uri(reverse("analysis:public_file", kwargs={**here, "name": DATACITE}))
        if DATACITE in [one["name"] for one in release.files]
        else "",
        keywords=release.described.keywords,
        doi=deposit.doi if deposit is not None and deposit.stands else "",
        title=release.title,
        description=as_sentence(release.summary.get("abstract") or release.summary["description"]),
        publication=release.described,
        version=release.version,
        day=release.decided_on,
        licence=LICENCES[release.licence],
    )


@for_every_site
@require_safe
def public_files(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """The files of the package as a list for programs: name, size, SHA-256, media type, address."""
    release = public_release(slug, version)
    if release.status != ReleaseStatus.PUBLISHED:
        raise ReleaseGoneError(release.reason)
    found = []
    for one in release.files:
        address = request.build_absolute_uri(reverse("analysis:public_file", args=[slug, version, one["name"]]))
        found.append({**one, "media_type": served_as(one["name"]), "address": address})
    return JsonResponse({"files": found})


@for_every_site
@require_safe
def public_file(request: HttpRequest, slug: str, version: int, name: str) -> HttpResponseBase:
    """One file of the package, or the part of it that is asked for; nobody counts or notes who reads it."""
    release = public_release(slug, version)
    if release.status != ReleaseStatus.PUBLISHED:
        raise ReleaseGoneError(release.reason)
    content = file_of(release, name)
    if content is None:
        raise Http404("There is no such file.")
    response = ranged_response(request, content, content_type=served_as(name), etag=hashlib.sha256(content).hexdigest())
    if name.endswith(".html"):  # it opens from a disk, with a policy of its own
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@for_every_site
@require_safe
def public_package(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """The package, for everybody."""
    release, package = services.download(slug, version, counted=request.method == "GET")
    name = f'attachment; filename="{release.study.slug}-{release.version}.zip"'
    return HttpResponse(package, content_type="application/zip", headers={"Content-Disposition": name})


@for_every_site
@require_safe
def signing_keys(request: HttpRequest) -> HttpResponse:
    """The key of this installation, followed by its former keys with which public data were signed."""
    now = public_pem(signing_key())
    return HttpResponse(now + "".join(key for key in public_keys() if key != now), content_type="application/x-pem-file")


def _take_step(request: HttpRequest, release: Release, user: User) -> None:
    """The services check permissions themselves."""
    name, sent = request.POST.get("step", ""), request.POST
    if name in services.STEPS:
        looked_at, names = sent.get("sha256", ""), sent.getlist("attributes")
        services.take_step(release, name, actor=user, sha256=looked_at, reason=sent.get("reason", ""), names=names)
    else:
        messages.error(request, gettext("Choose what is to be done."))


def _step_of(release: Release) -> int:
    """Its place in the row of steps: built, examined, decided, public."""
    return {
        ReleaseStatus.QUEUED: 2,
        ReleaseStatus.BUILDING: 2,
        ReleaseStatus.BUILT: 3,
        ReleaseStatus.REQUESTED: 4,
        ReleaseStatus.PUBLISHED: 5,
    }.get(ReleaseStatus(release.status), 0)
