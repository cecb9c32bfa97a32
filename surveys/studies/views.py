"""Pages for people who run studies: the list, and the actions that they can take on a study now."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import require_role, user_of
from accounts.models import Role
from surveys.access import OWNER_ROLES, access_study, studies_as_analyst, studies_of, studies_with_results_of
from surveys.allocation.findable import too_few
from surveys.allocation.selectors import drawing_of
from surveys.batches.selectors import batch_progress, shown_counts
from surveys.errors import SurveyError
from surveys.lifecycle.selectors import approval_of, stopped_by
from surveys.lifecycle.steps import obstacles_to_recruiting
from surveys.models import RUNNING, StudyStatus
from surveys.preregistration.selectors import plans_of
from surveys.privacy.words import privacy_in_words
from surveys.protocols import protocol_in_force
from surveys.retention.selectors import day_of_forgetting, forgets_soon
from surveys.review.selectors import open_threads
from surveys.studies.consequences import consequences_of
from surveys.studies.forms import WORDS, take_action
from surveys.studies.listing import Listing
from surveys.studies.next_step import next_step
from surveys.studies.readiness import to_do
from surveys.studies.study_actions import actions_of
from surveys.study_file import define

MOST_CHARACTERS_BACK = 2000


@require_role(*Role)
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies that this person may see."""
    user = user_of(request)
    with_results = set(studies_with_results_of(user).values_list("pk", flat=True))
    listing = Listing(studies_of(user), request.GET.dict())
    rows = [(study, study.pk in with_results, batch_progress(study) if study.status in RUNNING else None) for study in listing.page]
    context = {"listing": listing, "studies": rows, "asked": studies_as_analyst(user), "may_create": user.role in OWNER_ROLES}
    return render(request, "surveys/investigator/study_list.html", context)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: its numbers, and the steps that this person can take now."""
    seat = access_study(user_of(request), slug)
    found, open_now = seat.study, {name: WORDS[name] for name in actions_of(seat)}
    if request.method == "POST":
        name = request.POST.get("action", "")
        if name in open_now and open_now[name].has_own_page:
            return redirect("surveys:action", slug, name)
        try:
            take_action(seat, name, request.POST)
        except SurveyError as error:
            messages.error(request, str(error))
        return redirect("surveys:study", slug)
    definition = define(found.definition)
    in_force = protocol_in_force(found).definition if found.protocol_id else definition
    missing = [one for one in to_do(found) if one.needed] if found.status == StudyStatus.DRAFT else []
    following = next_step(seat, missing=missing)
    own_page = {name: reverse("surveys:action", args=[slug, name]) for name in open_now}
    obstacles = obstacles_to_recruiting(found) if found.status in (StudyStatus.APPROVED, *RUNNING) else []
    stopped = stopped_by(found)
    others = {name: words for name, words in open_now.items() if name != following.action and own_page[name] != following.page}
    if obstacles:
        others.pop("resume", None)
    context = {
        "study": found,
        "next": following,
        "drawing": drawing_of(found),
        "counts": shown_counts(found),
        "batch": batch_progress(found),
        "actions": {name: words for name, words in others.items() if not words.irreversible},
        "final_actions": {name: words for name, words in others.items() if words.irreversible},
        "obstacles": obstacles,
        "sections": list(definition.sections.items()),
        "panels_alone": all(way.way.is_panel for way in in_force.entry.every_way),
        "approval": approval_of(found),
        "is_preregistered": bool(plans_of(found)),
        "stopped_by": stopped,
        "open_threads": open_threads(found) if stopped else 0,
        "warnings": definition.warnings(),
        "few_people": too_few(definition) if found.status == StudyStatus.DRAFT else "",
        "privacy": privacy_in_words(definition.epsilon, questions=len(definition.questions), total=definition.epsilon_total),
        "missing": missing,
        "may_change": seat.may_change,
        "asks_for_words": seat.may_change and definition.asks_for_words,
        "forgets_on": day_of_forgetting(found) if seat.owns else None,
        "forgets_soon": forgets_soon(found),
    }
    return render(request, "surveys/investigator/study_detail.html", context)


@require_role(*Role)
@require_http_methods(["GET", "HEAD", "POST"])
def action(request: HttpRequest, slug: str, action: str) -> HttpResponse:
    """A step with a page of its own: one that needs words, such as a reason, or one that cannot be undone."""
    seat = access_study(user_of(request), slug)
    found, words = seat.study, WORDS.get(action)
    if words is None or not words.has_own_page or action not in actions_of(seat):
        return _too_late(request, slug, gettext("This cannot be done now. The study may have changed in the meantime."))
    stopped = stopped_by(found)
    read = {"version": found.submitted and found.submitted.version, "decision": stopped and stopped.pk}
    form = words.form(request.POST if request.method == "POST" else None, initial=read)
    if form.is_valid():
        try:
            take_action(seat, action, request.POST)
            messages.success(request, gettext("Done: %(step)s.") % {"step": words.label})
            return redirect("surveys:study", slug)
        except ValidationError as error:
            form.add_error(None, error)
        except SurveyError as error:
            return _too_late(request, slug, str(error))
    errors = [{"field": form[name].auto_id, "message": problem} for name, problems in form.errors.items() for problem in problems]
    context = {
        "study": found,
        "action": words,
        "form": form,
        "errors": errors,
        "consequences": consequences_of(found, action, counts=shown_counts(found)) if words.irreversible else [],
        "obstacles": obstacles_to_recruiting(found) if action == "launch" else [],
        "open_threads": open_threads(found) if action == "approve" else 0,
    }
    return render(request, "surveys/irb/action.html", context, status=422 if errors else 200)


def _too_late(request: HttpRequest, slug: str, problem: str) -> HttpResponse:
    """Back to the study, with the words that were typed: they may be wanted for a comment."""
    messages.error(request, problem)
    for name in ("conditions", "reason"):
        if typed := request.POST.get(name, "").strip():
            messages.info(request, gettext("You had written: %(words)s") % {"words": typed[:MOST_CHARACTERS_BACK]})
    return redirect("surveys:study", slug)
