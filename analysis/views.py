"""The live page, its figures and tables as files, and what can be done on it."""

import hashlib

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST, require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis import services
from analysis.figures.shown import shown_figure
from analysis.live.downloads import figure_file, table_file
from analysis.live.drawings import figures_of
from analysis.live.matrix import matrix_of
from analysis.live.page import LiveView, live_view
from analysis.models import Blinding, RunKind
from analysis.news.tokens import token_for_results
from analysis.news.versions import version_of_results
from analysis.selectors import finished_runs, state_of_work
from surveys.access import access_own_study, access_results
from surveys.batches.selectors import batch_progress, version_of_shown_numbers
from surveys.errors import TransitionError
from surveys.models import ENDED, Study
from surveys.protocols import versions_that_recruited


@in_own_language
@require_role(*Role)
@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """The results so far; the page asks for itself again every few seconds, and gets 204 while nothing is new."""
    user = user_of(request)
    seat = access_results(user, slug)
    study = seat.study
    work = {kind.value: state_of_work(study, kind) for kind in RunKind}
    batch = batch_progress(study)
    blinded_for_all = Blinding.objects.filter(study=study, is_active=True).exists()
    blinded = study.status not in ENDED and (_asks_blinded(request) or blinded_for_all or seat.is_blinded)
    numbers = version_of_shown_numbers(study), finished_runs(study), blinded
    state = hashlib.sha256(repr((numbers, work, batch)).encode()).hexdigest()[:16]
    news: dict[str, str] = {"token": token_for_results(study.pk), "version": version_of_results(study)} if settings.PUSH else {}
    if request.GET.get("state") == state:
        return HttpResponse(status=204, headers={f"News-{name}": value for name, value in news.items()})
    live = _live(request, study)
    progress = live.progress if live else None
    context = {
        "study": study,
        "live": live,
        "counts": progress.counts if progress else None,
        "versions": sorted(versions_that_recruited(study)),
        "batch": batch,
        "run": {"status": work["first_results"].status, "n": live.first.n if live and live.first else None, "progress": None},
        "work": work["full_results"],
        "outcomes": list(live.outcomes()) if live else [],
        "matrix": matrix_of(live) if live else None,
        "figures": {name: shown_figure(draw) for name, draw in figures_of(live).items()} if live else {},
        "state": state,
        "news": news,
        "blinded_for_all": blinded_for_all,
        "may_change": seat.may_change,
        "always_blinded": blinded_for_all or seat.is_blinded,
        "query": "?blinded=1" if _asks_blinded(request) else "",
    }
    return render(request, "analysis/results.html", context)


@require_role(*Role)
@require_safe
def figure(request: HttpRequest, slug: str, figure: str, kind: str) -> HttpResponse:
    """One figure as an SVG or PNG file."""
    return figure_file(_live(request, access_results(user_of(request), slug).study), figure, kind).response


@require_role(*Role)
@require_safe
def table(request: HttpRequest, slug: str, table: str) -> HttpResponse:
    """One table as a CSV file."""
    user = user_of(request)
    return table_file(_live(request, access_results(user, slug).study), table, actor=user).response


@in_own_language
@require_role(*Role)
@require_POST
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Start the full computation now, or stop the one that is under way."""
    study = access_own_study(user_of(request), slug).study
    match request.POST.get("action"):
        case "start":
            try:
                services.request_full_results(study, actor=user_of(request))
            except TransitionError as error:
                messages.error(request, str(error))
        case "cancel":
            stopped = services.cancel_full_results(study, actor=user_of(request))
            messages.success(request, gettext("The computation was stopped.") if stopped else gettext("There was nothing to stop."))
        case _:
            raise BadRequest
    return _back(request, slug)


@require_role(*Role)
@require_POST
def blinding(request: HttpRequest, slug: str) -> HttpResponse:
    """Hide the arms from everybody until the study is closed, or show them again."""
    user, on = user_of(request), request.POST.get("on")
    study = access_own_study(user, slug).study
    if on not in ("0", "1"):
        raise BadRequest
    services.blind(study, on=on == "1", actor=user)
    return redirect("analysis:results", slug)


def _live(request: HttpRequest, study: Study) -> LiveView | None:
    return live_view(study, reader=user_of(request), language=get_language() or "en", ask_blinded=_asks_blinded(request))


def _asks_blinded(request: HttpRequest) -> bool:
    return request.GET.get("blinded") == "1"


def _back(request: HttpRequest, slug: str) -> HttpResponse:
    response = redirect("analysis:results", slug)
    if _asks_blinded(request):
        response["Location"] += "?blinded=1"
    return response
