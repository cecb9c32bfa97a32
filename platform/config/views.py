"""The way to everybody's first page, and the page of waiting, running and failed work, for administrators."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from config.heartbeat import is_alive
from jobs.selectors import all_work


@require_role(*Role)
@require_safe
def first_page(request: HttpRequest) -> HttpResponse:
    """After login officers see what waits for them, everybody else the studies."""
    return redirect("analysis:inbox" if user_of(request).role == Role.IRB_OFFICER else "surveys:studies")


@require_role(Role.ADMINISTRATOR)
@require_safe
def work(request: HttpRequest) -> HttpResponse:
    kinds = all_work()
    context = {
        "kinds": kinds,
        "silent": [part for part in ("worker", "beat") if not is_alive(part)],
        "is_idle": not any(one.waiting or one.running for one in kinds),
        "failed": [one for one in kinds if one.failed],
    }
    return render(request, "jobs/work.html", context)
