"""The page of what waits for a member of staff, the first one after login for officers; and the report of their decisions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.inbox.decisions import half_year, report_for, terms_around
from analysis.inbox.selectors import inbox_of
from analysis.inbox.serializers import TermSerializer


@in_own_language
@require_role(*Role)
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """For officers what waits for a decision, the oldest first; for people who run studies their own tasks."""
    return render(request, "analysis/inbox.html", {"inbox": inbox_of(user_of(request))})


@in_own_language
@require_role(Role.IRB_OFFICER)
@require_safe
def decisions(request: HttpRequest, kind: str = "html") -> HttpResponse:
    """The decisions of a term, as a page or as a table."""
    asked, error = TermSerializer(data={name: value for name, value in request.GET.items() if value}), ""
    if asked.is_valid():
        first, last = asked.validated_data["first"], asked.validated_data["last"]
    else:
        first, last = half_year(timezone.localdate())
        error = " ".join(str(problem) for problems in asked.errors.values() for problem in problems)
    report = report_for(user_of(request), first=first, last=last)
    if kind == "csv" and not error:
        name = f"decisions-{first}-{last}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(report.table(), content_type="text/csv; charset=utf-8", headers=headers)
    earlier, later = terms_around(first, last)
    context = {"report": report, "earlier": earlier, "later": later, "error": error}
    return render(request, "analysis/decisions.html", context, status=422 if error else 200)
