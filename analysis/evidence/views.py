"""The public page of evidence, and the signed file behind it."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from analysis.evidence.selectors import PACKAGE, latest


@require_safe
@cache_control(public=True, max_age=300)
def evidence(request: HttpRequest) -> HttpResponse:
    """The same for everybody, logged in or not."""
    found = latest()
    return render(request, "analysis/evidence/page.html", {"evidence": found, "report": found and found.report})


@require_safe
@cache_control(public=True, max_age=300)
def evidence_package(request: HttpRequest) -> HttpResponse:
    """The report with its signature."""
    found = latest()
    if found is None or found.report is None:
        raise Http404("There is no report of evidence.")
    return HttpResponse(found.package, content_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{PACKAGE}"'})
