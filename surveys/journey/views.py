"""The participant's pages: the steps, and those beside them. Only a click (POST) changes anything."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, render
from django.utils import translation
from django.views.decorators.http import require_http_methods, require_POST

from surveys.access import is_public
from surveys.credit.selectors import key_of
from surveys.credit.services import give_code, sign_credit
from surveys.errors import JourneyError, LinkUnknownError, ReturnUnknownError, StudyClosedError
from surveys.journey import services as participation
from surveys.journey import step_views, visitors
from surveys.journey.language import keeps_language, language_of, of_stranger, rest_of_address
from surveys.journey.pages import as_next_page
from surveys.journey.presentation import Presentation, presentation
from surveys.journey.services import AlreadyDoneError
from surveys.journey.steps import CONSENT, VIDEO
from surveys.journey.visitors import WITHDREW_HERE, Farewell, to_journey
from surveys.journey.withdrawals import withdrawal_code_is_known, withdrawal_is_remembered
from surveys.models import Participant, Study
from surveys.protocols import frozen_protocol, protocol_in_force
from surveys.recruitment.arrivals import Ended, WayBack, arrival_at, arrival_in, way_back
from surveys.tokens import looks_like_completion_code, mark_of, return_ticket_is_genuine, withdrawal_code

View = Callable[..., HttpResponse]
TURNED_AWAY = ("closed", "full", "inattentive")
"""The situations of people who came in vain."""


def participant_page(view: View) -> View:
    """A page that says why a participant cannot go on, and that no browser caches."""

    @wraps(view)
    @keeps_language
    def wrapped(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponse:
        try:
            response = view(request, slug, *args, **kwargs)
        except JourneyError as error:
            study = get_object_or_404(Study.objects.defer("definition"), slug=slug)
            token, participant = visitors.participant_of(request, slug)
            shown = _shown(study, request, participant)
            with translation.override(shown.spoken):
                response = render(
                    request,
                    "surveys/participant/not_open.html",
                    {
                        "study": shown,
                        "language": shown.language,
                        "situation": error.situation,
                        "message": str(error),
                        "back": _turned_away(request, study, error, participant),
                        "whose": mark_of(token) if participant and isinstance(error, StudyClosedError) else "",
                    },
                    status=error.http_status,
                )
            if error.protocol_id:  # they are deleted: no second request is told why, so the script shows this answer
                as_next_page(response)
        response["Cache-Control"] = "no-store"
        return response

    return wrapped


def _turned_away(request: HttpRequest, study: Study, error: JourneyError, participant: Participant | None) -> WayBack | None:
    """Where somebody goes whom the study does not take: back by the way that they came by under the protocol to which they agreed."""
    if error.situation not in TURNED_AWAY or study.protocol_id is None:
        return None
    in_force = protocol_in_force(study).definition.entry
    agreed_to = error.protocol_id or (participant and participant.protocol_id)
    entry = frozen_protocol(agreed_to).definition.entry if agreed_to else in_force
    token, visit = visitors.token_in(request), visitors.visit_of(request, study)
    with suppress(JourneyError):
        sent = QueryDict(visit.query) if visit else request.POST or request.GET
        arrival = arrival_in(token, entry) if agreed_to else arrival_at(sent, entry, study_id=study.pk)
        return way_back(arrival, Ended.SCREENED_OUT, in_force=in_force, study_id=study.pk, slug=study.slug, token=token)
    return None


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def journey(request: HttpRequest, slug: str) -> HttpResponse:
    """The step of a person. If they agreed in another tab since, a no is asked about: their data can be taken out."""
    if (request.POST.get("step"), request.POST.get("choice")) == (CONSENT, "decline"):
        token, participant = visitors.participant_of(request, slug)
        if participant is not None and request.POST.get("whose") == mark_of(token):
            return withdraw(request, slug)
    return step_views.journey(request, slug)


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def begin_anew(request: HttpRequest, slug: str) -> HttpResponse:
    """On a shared device: forget the person before, and begin at the first page. The way in decides whether that is possible. A tab from
    before this person began asks first.
    """
    study = get_object_or_404(Study.objects.defer("definition"), slug=slug)
    token, participant = visitors.participant_of(request, slug)
    forgets = mark_of(token) if participant else ""
    if request.method == "POST" and request.POST.get("whose", forgets) == forgets:
        response = to_journey(slug, query=request.GET.urlencode())
        visitors.forget(response, slug)
        return response
    shown = _shown(study, request, participant)
    with translation.override(shown.spoken):
        context = {"study": shown, "language": shown.language, "query": rest_of_address(request), "forgets": forgets}
        return render(request, "surveys/participant/begin_anew.html", context)


# The share that the lecture page reports, in tenths: 0, 0.1, … 1.
TENTHS: Mapping[str, int] = {f"{tenths / 10:g}": tenths for tenths in range(11)}


@require_POST
@participant_page
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The browser reports, in tenths, how much of the lecture has been watched; more than the time allows is not believed."""
    token, participant = visitors.participant_of(request, slug)
    if participant is None:
        raise LinkUnknownError
    if participant.step == VIDEO:
        shown = presentation(participant.protocol_id, participant.language).stimuli[participant.arm][participant.page]
        seconds, at_opening = visitors.since_opening(request.POST.get("opened", ""), participant)
        claimed = TENTHS.get(request.POST.get("share", ""), 0)
        tenths = shown.believable_tenths(claimed, at_opening=at_opening, seconds=seconds)
        participation.record_watched(token, page=participant.page, tenths=tenths)
    return HttpResponse(status=204)


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def resume(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """A personal link: a click on Continue makes this browser the participant's."""
    participant = visitors.participant_with(token, slug)
    if participant is None:
        raise LinkUnknownError
    shown = presentation(participant.protocol_id, language_of(request, participant.study, participant))
    with translation.override(shown.spoken):
        if request.method != "POST":
            _token, somebody = visitors.participant_of(request, slug)
            forgets = somebody is not None and somebody.pk != participant.pk
            context = {"study": shown, "language": shown.language, "forgets": forgets}
            return render(request, "surveys/participant/resume.html", context)
    response = to_journey(slug)
    visitors.remember_participant(response, slug, token)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def come_back(request: HttpRequest, slug: str, ticket: str) -> HttpResponse:
    """The way back from another site: in the browser that left, once, a click on Continue goes on. Elsewhere it opens nothing."""
    token, participant = visitors.participant_of(request, slug)
    if participant is None:
        raise ReturnUnknownError
    shown = presentation(participant.protocol_id, participant.language)
    pages = shown.stimuli.get(participant.arm, ())
    left = next((page for page in range(len(pages)) if return_ticket_is_genuine(ticket, token, page)), None)
    if left is None:
        raise ReturnUnknownError
    if participant.step != VIDEO or participant.page != left:
        return to_journey(slug)  # used before: the person is further on
    with translation.override(shown.spoken):
        if request.method != "POST":
            return render(request, "surveys/participant/come_back.html", {"study": shown, "language": shown.language})
        with suppress(AlreadyDoneError):
            participation.finish_stimulus(participant, page=left)
    return to_journey(slug)


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def credit(request: HttpRequest, slug: str) -> HttpResponse:
    """Credit for somebody who has just finished: signed blind for the page's script, or as a code. The participant's token is out of the
    browser by now, so the last page gave a ticket.
    """
    study = get_object_or_404(Study.objects.defer("definition"), slug=slug)
    key = key_of(study.pk)
    if request.method != "POST" or key is None:
        return to_journey(slug)
    ticket = request.POST.get("ticket", "")
    if blinded := request.POST.get("blinded"):
        return JsonResponse({"signature": sign_credit(study, ticket=ticket, blinded=blinded)})
    shown = presentation(protocol_in_force(study).id, language_of(request, study, None))
    with translation.override(shown.spoken):
        code = give_code(study, ticket=ticket) if request.POST.get("action") == "code" else ""
        context = {"study": shown, "language": shown.language, "ticket": ticket, "credit": key, "code": code}
        return render(request, "surveys/participant/credit.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@participant_page
def withdraw(request: HttpRequest, slug: str) -> HttpResponse:
    """Enter the code, confirm, gone. The pages of somebody on the way bring their mark in its place."""
    study = get_object_or_404(Study.objects.defer("definition"), slug=slug)
    token, participant = visitors.participant_of(request, slug)
    shown = _shown(study, request, participant)
    stage = "published" if study.data_published else "forgotten" if study.forgotten_on else "enter"
    receipt = None
    errors, code = [], request.POST.get("code", "").strip()[:64]
    is_own = visitors.is_own(request.POST, mark_of(token))
    if token and is_own and "whose" in request.POST:
        code = withdrawal_code(token)
    with translation.override(shown.spoken):
        if request.method == "POST" and stage == "enter":
            if not withdrawal_code_is_known(study, code=code):
                if is_public(study) and withdrawal_is_remembered(code):
                    stage = "done"
                else:
                    errors = [{"field": "code", "message": _about_unknown_code(code, is_own=is_own or not token)}]
            elif request.POST.get("stage") != "confirm":
                stage = "confirm"
            else:
                receipt = participation.withdraw(study, code=code)
                stage = "done"
        found = {"stage": stage, "receipt": receipt, "errors": errors, "code_value": code, "is_on_the_way": participant is not None}
        context = {"study": shown, "language": shown.language, "step": "withdraw", **found}
        response = render(request, "surveys/participant/withdraw.html", context, status=422 if errors else 200)
    if stage == "done" and not (token and visitors.participant_with(token, slug)) and visitors.visit_of(request, study) is None:
        visitors.remember_farewell(response, study, Farewell(ended=WITHDREW_HERE, language=language_of(request, study, participant)))
    return response


def _about_unknown_code(code: str, *, is_own: bool) -> str:
    if not code:
        begun = "" if is_own else translation.gettext("Another person has begun on this device since this page was opened.") + " "
        return begun + translation.gettext("Enter your code.")
    if looks_like_completion_code(code):
        return translation.gettext("This is the completion code, for your teacher. The withdrawal code begins with SECRET.")
    return translation.gettext("No data belong to this code. Look at it again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Nameless:
    """A study of which nobody has approved a word yet: visitors read neither its title nor whom to ask."""

    slug: str
    spoken: str
    language: str = ""


def _shown(study: Study, request: HttpRequest, participant: Participant | None) -> Presentation | Nameless:
    """The study in the visitor's language; nameless before its protocol is approved, and if it is a rehearsal."""
    if not is_public(study):
        return Nameless(slug=study.slug, spoken=of_stranger(request))
    return presentation(protocol_in_force(study).id, language_of(request, study, participant))
