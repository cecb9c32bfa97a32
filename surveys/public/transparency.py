"""Public facts about a study, in plain words. The same for everybody: no session, no cookie, so it may be cached."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from surveys.access import study_in_public
from surveys.journey.language import asked_for
from surveys.journey.presentation import presentation
from surveys.lifecycle.selectors import approval_of
from surveys.models import ENDED, StudyStatus
from surveys.protocols import protocol_in_force
from surveys.retention.selectors import day_of_forgetting, months_kept

MINUTES = 5


@require_safe
@cache_control(public=True, max_age=MINUTES * 60)
@vary_on_headers("Accept-Language")
def about_study(request: HttpRequest, slug: str) -> HttpResponse:
    """The approval and its end, stored data and their deletion, access, withdrawal, publication, contact."""
    study = study_in_public(slug)
    shown = presentation(protocol_in_force(study).id, asked_for(request, study))
    definition = protocol_in_force(study).definition
    approval = approval_of(study)
    context = {
        "study": shown,
        "language": shown.language,
        "approved_on": approval.decided_on if approval else None,
        "approved_until": study.approved_until,
        "approval_ended": study.approved_until is not None and study.approved_until < timezone.localdate() and study.status not in ENDED,
        "is_suspended": study.suspended,
        "sha256": study.protocol.sha256 if study.protocol else "",
        "launched_on": study.launched_on,
        "closed_on": study.closed_on,
        "is_recruiting": study.status == StudyStatus.RECRUITING,
        "has_ended": study.status in ENDED,
        "has_background": bool(definition.background),
        "has_quiz": bool(definition.quiz),
        "months": months_kept(study),
        "forgotten_on": study.forgotten_on,
        "forgets_on": day_of_forgetting(study),
        "data_published": study.data_published,
        "published_data_url": reverse("analysis:public_study_releases", args=[slug]) if study.data_published else "",
        "release_plan": definition.release_plan.in_language(shown.language) if definition.release_plan else "",
    }
    with translation.override(shown.language):
        return render(request, "surveys/participant/about_study.html", context)
