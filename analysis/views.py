"""The results page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.selectors import latest_results, outcomes_in_words, state_of_work
from surveys.selectors import access_own_study, counts_of


@require_role(Role.INVESTIGATOR, Role.ADMINISTRATOR)
@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    """What the answers say so far; the page asks for itself again every few seconds."""
    study = access_own_study(user_of(request), slug)
    run = latest_results(study)
    context = {
        "study": study,
        "counts": counts_of(study),
        "run": {"status": state_of_work(study), "n": run.n if run else None, "progress": None},
        "outcomes": outcomes_in_words(study, run, language=get_language() or "en") if run else [],
    }
    return render(request, "analysis/results.html", context)
