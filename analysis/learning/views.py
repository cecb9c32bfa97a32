"""Pages of learning analytics: where analysts land, and what a study's privacy budget allows."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.releases.selectors import reasons_for_exact_counts
from surveys.access import access_analytics
from surveys.models import ENDED
from surveys.privacy.budgets import bought_in_words, budget_in_words
from surveys.privacy.exact import shown_exactly
from surveys.protocols import protocol_in_force


@never_cache
@require_role(*Role)
@require_safe
def analytics(request: HttpRequest, slug: str) -> HttpResponse:
    """The budget, what it means, what it does not cover, and the ways to spend it; the only page of the study that analysts begin from."""
    seat = access_analytics(user_of(request), slug)
    study = seat.study
    definition = protocol_in_force(study).definition if study.protocol_id is not None else None
    budget = definition.privacy_budget if definition else None
    context: dict[str, object] = {"study": study, "seat": seat, "budget": budget, "has_ended": study.status in ENDED}
    if definition and budget:
        reasons = reasons_for_exact_counts(study)
        context |= {
            "meaning": budget_in_words(budget),
            "buys": bought_in_words(definition),
            "exactly": shown_exactly(definition, reasons_for_counts=reasons),
        }
    return render(request, "analysis/learning/analytics.html", context)
