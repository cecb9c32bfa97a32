"""Plan a study: before there is one, or with what a study defines."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from analysis.planning.categories import category_sentences
from analysis.planning.figures import figures_of
from analysis.planning.forms import read_plan
from analysis.planning.front import front_of
from analysis.planning.page import page_of
from analysis.planning.plans import changed, make_plan
from analysis.planning.starts import NEW_STUDY, Start, start_of
from analysis.planning.survey import make_survey_plan, survey_page_of
from surveys.access import access_study
from surveys.definition import StudyDefinition
from surveys.models import Study, StudyStatus
from surveys.protocols import definition_for

PLANNERS = (Role.INVESTIGATOR, Role.IRB_OFFICER, Role.ADMINISTRATOR)


@require_role(*PLANNERS)
@require_safe
def plan(request: HttpRequest) -> HttpResponse:
    """A study that nobody has written down yet."""
    return _planned(request, NEW_STUDY)


@require_role(*Role)
@require_safe
def study_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """A study's own die, arms and numbers; a draft as its owner left it, everything else as it was submitted."""
    seat = access_study(user_of(request), slug)
    takes_a_die = seat.study.status == StudyStatus.DRAFT and seat.may_change
    return _planned(request, start_of(definition_for(seat)), seat.study, takes_a_die=takes_a_die, definition=definition_for(seat))


def _planned(
    request: HttpRequest,
    start: Start,
    study: Study | None = None,
    *,
    takes_a_die: bool = False,
    definition: StudyDefinition | None = None,
) -> HttpResponse:
    """A button asks for another plan and is redirected to that plan's address, so that the address always is the plan."""
    form = read_plan(request.GET, start)
    if (other := changed(form)) is not None:
        return redirect(f"{request.path}?{other.query}")
    if start.is_survey:
        shown = survey_page_of(make_survey_plan(form))
    else:
        planned = make_plan(form)
        shown = {**page_of(planned), "figures": figures_of(planned), "front": front_of(planned)}
    categories = list(category_sentences(definition, form, language=get_language() or "en")) if definition else []
    context = {"study": study, **shown, "takes_a_die": takes_a_die, "categories": categories}
    return render(request, "analysis/planning/plan.html", context)
