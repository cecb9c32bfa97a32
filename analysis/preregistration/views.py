"""The report at the end of a study: each planned analysis beside what was done."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.preregistration.selectors import report_on
from surveys.access import access_results


@require_role(*Role)
@never_cache
@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """For everybody who may see the results; while the study runs the page says when there will be a report."""
    study = access_results(user_of(request), slug).study
    return render(request, "analysis/preregistration/report.html", {"study": study, "report": report_on(study)})
