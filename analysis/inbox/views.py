"""The page of what waits for a member of staff; the first one after login for officers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import in_own_language, require_role, user_of
from accounts.models import Role
from analysis.inbox.selectors import inbox_of


@require_role(*Role)
@in_own_language
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """For officers what waits for a decision, the oldest first; for people who run studies their own tasks."""
    return render(request, "analysis/inbox.html", {"inbox": inbox_of(user_of(request))})
