"""Turns errors into responses: pages for people, RFC 9457 problem documents for programs. No other module does this.

An expected error describes itself by the attributes `http_status`, `title` and `advice`. This module recognises Django's own errors and
those of the pure methods, which know nothing of HTTP. Everything else is a bug: the log gets the traceback, the person a plain 500.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus

from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied, SuspiciousOperation, ValidationError
from django.core.exceptions import BadRequest as HttpBadRequest
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions as api_errors
from rest_framework.settings import api_settings
from rest_framework.views import set_rollback

from accounts.access import comes_as_staff, language_of_reader
from candor.errors import MethodError
from config.log_privacy import PARTICIPANTS
from config.outages.causes import Outage, outage_of
from config.outages.sent_forms import form_sent_with
from config.outages.told import log_outage
from config.outages.waits import distrust_connections
from surveys.journey.language import of_study_at
from surveys.languages.asked_for import COOKIE, matching, preferred
from surveys.languages.offered import LANGUAGE_NAMES

logger = logging.getLogger(__name__)
PROBLEM_JSON = "application/problem+json"
GIVEN_BACK = "given_back.html"
LONGEST_NAME = 80
"""Some names in a place are the sender's own. More characters are cut off, as in the mistakes of a study."""
NUL = ("NUL (0x00)", "\\u0000")
"""The words by which PostgreSQL refuses a text with a zero byte. No browser's form has one, and no column takes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The event and the advice, in words for the reader."""

    status: HTTPStatus
    title: object
    message: object = ""
    advice: object = ""
    code: str = ""
    """A name for programs, such as `step-out-of-order`; it never changes with the language."""
    errors: Sequence[tuple[str, str]] = ()
    """The place of each mistake in what was sent, such as `arms.0.label`, and what is wrong there (API only)."""
    retry_after: int = 0
    """In seconds: when the same request may succeed. 0: not without somebody's help."""
    template: str = ""
    """The page, if it gives back what was typed. Outages have theirs."""


BAD_REQUEST = Problem(
    status=HTTPStatus.BAD_REQUEST,
    title=_("This request could not be read"),
    advice=_("Go back, reload the page and try again."),
)
FORBIDDEN = Problem(
    status=HTTPStatus.FORBIDDEN,
    title=_("This page is not for you"),
    advice=_("Log in with another account, or ask whoever runs this server."),
)
NOT_FOUND = Problem(
    status=HTTPStatus.NOT_FOUND,
    title=_("There is nothing at this address"),
    advice=_("Check the link: it may be incomplete."),
)
STALE_PAGE = Problem(
    status=HTTPStatus.FORBIDDEN,
    title=_("This page had been open for long"),
    message=_("To protect you, what you sent from it was not taken."),
    advice=_("Go back, reload the page and send it again. Cookies must be allowed for this site."),
    code="stale-page",
)
SEND_AGAIN = _("It is still here: send it again. Cookies must be allowed for this site.")
TOO_MANY = Problem(
    status=HTTPStatus.TOO_MANY_REQUESTS,
    title=_("This was asked for too often"),
    advice=_("Wait a quarter of an hour, then try again."),
)
INTERNAL = Problem(
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    title=_("Something went wrong on our side"),
    message=_("It has been noted. Everything you had sent before is safe."),
    advice=_("Wait a moment and reload the page."),
)
OUTAGES = {
    Outage.AWAY: Problem(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title=_("This site is away for a moment"),
        message=_(
            "A part of it does not answer. Everything that was taken before is safe; what you sent just now may not have been taken."
        ),
        advice=_("Wait a few seconds, then try again."),
        code="away",
        retry_after=3,
    ),
    Outage.BUSY: Problem(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title=_("This site is very busy"),
        message=_("It could not be done in time, so nothing was changed."),
        advice=_("Wait a few seconds, then try again."),
        code="busy",
        retry_after=3,
    ),
    Outage.FULL: Problem(
        status=HTTPStatus.SERVICE_UNAVAILABLE,
        title=_("This site’s disk is full"),
        message=_("Nothing can be stored until its administrators make room. Nothing was changed, and nothing is half written."),
        advice=_("Tell them, and send it again later."),
        code="disk-full",
        retry_after=30,
    ),
}
OUTAGES[Outage.NO_ROOM_FOR_FILES] = replace(
    OUTAGES[Outage.FULL], status=HTTPStatus.INSUFFICIENT_STORAGE, code="no-room-for-files", retry_after=0
)
OUTAGES[Outage.FILES_AWAY] = replace(OUTAGES[Outage.AWAY], code="files-away")
METHOD_ERROR = Problem(
    status=HTTPStatus.UNPROCESSABLE_ENTITY,
    title=_("This cannot be computed"),
    advice=_("Change the design or the data as the message says, and try again."),
)
INVALID = Problem(
    status=HTTPStatus.BAD_REQUEST,
    title=_("Something that was entered does not fit"),
    advice=_("Go back, correct it and send it again; nothing was changed."),
)


def problem_of(error: Exception) -> Problem | None:
    """The problem that an expected error stands for; None for a bug."""
    message = str(error)
    match error:
        case Http404():
            return NOT_FOUND
        case PermissionDenied():
            return replace(FORBIDDEN, message=message)
        case SuspiciousOperation() | HttpBadRequest() | MultiPartParserError():
            return BAD_REQUEST
        case DataError() if any(words in message for words in NUL):
            return BAD_REQUEST
        case MethodError():
            return replace(METHOD_ERROR, message=message, code=_code(error))
        case ValidationError():
            errors = error.message_dict if hasattr(error, "error_dict") else error.messages
            return replace(INVALID, message=" ".join(error.messages), code="invalid", errors=list(_by_place(errors)))
        case api_errors.APIException():
            return _problem_of_api(error)
        case _ if hasattr(error, "http_status"):
            title, advice = getattr(error, "title", ""), getattr(error, "advice", "")
            # A lazy sentence waits for the language of the page, which is not yet known.
            said = error.args[0] if error.args and isinstance(error.args[0], Promise) else message
            if message == title:
                said = ""
            known = Problem(status=HTTPStatus(error.http_status), title=title, message=said, advice=advice, code=_code(error))
            known = replace(known, errors=getattr(error, "fields", ()), template=getattr(error, "template", ""))
            return replace(known, retry_after=getattr(error, "retry_after", 0))
    return problem_of_outage(error)


def respond(request: HttpRequest, problem: Problem) -> HttpResponse:
    """A page, or a problem document for programs. That of an outage needs no database, and gives back what was typed."""
    if wants_json(request):
        return with_waiting_time(JsonResponse(problem_details(problem), status=problem.status, content_type=PROBLEM_JSON), problem)
    with translation.override(_language_of(request, problem)):
        template = problem.template or (GIVEN_BACK if is_outage(problem) else "")
        if not template:
            return with_waiting_time(render(request, "error.html", page_context(problem), status=problem.status), problem)
        context = page_context(problem) | {"sent": form_sent_with(request)}
        response = render(request, template, context, status=problem.status)
    response["Cache-Control"] = "no-store"
    return with_waiting_time(response, problem)


def is_outage(problem: Problem) -> bool:
    """True for what a healthy server would have done: no bug, and nothing that the sender could do better."""
    return any(problem is one for one in OUTAGES.values())


def with_waiting_time(response: HttpResponse, problem: Problem) -> HttpResponse:
    """The same response with `Retry-After`. An outage is told by /healthz and by what failed, not by a line for everybody who meets it."""
    if problem.retry_after:
        response["Retry-After"] = str(problem.retry_after)
    if is_outage(problem):
        response._has_been_logged = True  # type: ignore[attr-defined]
        log_outage(problem.code)
    if problem is OUTAGES[Outage.AWAY]:
        distrust_connections()
    return response


def wants_json(request: HttpRequest) -> bool:
    """True for the API, and elsewhere for requests that prefer JSON to a page."""
    if request.path_info.startswith("/api/"):
        return True
    return request.get_preferred_type(["text/html", "application/json", PROBLEM_JSON]) in {"application/json", PROBLEM_JSON}


def page_context(problem: Problem) -> dict[str, object]:
    """The context of `error.html`."""
    return {"status": int(problem.status), "title": problem.title, "message": problem.message, "advice": problem.advice}


def problem_details(problem: Problem) -> dict[str, object]:
    """The members of RFC 9457, and our own `advice` and `errors`."""
    document = {
        "type": f"urn:candor:problem:{problem.code}" if problem.code else "about:blank",
        "title": str(problem.title) if problem.code else problem.status.phrase,
        "status": int(problem.status),
        "detail": str(problem.message or problem.title),
    }
    if problem.advice:
        document["advice"] = str(problem.advice)
    if problem.errors:
        document["errors"] = [{"place": place, "detail": detail} for place, detail in problem.errors]
    return document


class ExpectedErrorMiddleware:
    """Answers errors that views raise on purpose; bugs go on to `internal_error`, with a traceback in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        problem = problem_of(exception)
        if problem is None:
            return None
        response = respond(request, problem)
        if framed_by := getattr(exception, "framed_by", ""):
            response.framed_by, response.xframe_options_exempt = framed_by, True  # type: ignore[attr-defined]
        return response


def api_error(error: Exception, context: dict[str, object]) -> HttpResponse | None:
    """REST framework's `EXCEPTION_HANDLER`."""
    problem = problem_of(error)
    if problem is None:
        return None
    set_rollback()
    response = with_waiting_time(JsonResponse(problem_details(problem), status=problem.status, content_type=PROBLEM_JSON), problem)
    if challenge := getattr(error, "auth_header", None):
        response["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        response["Retry-After"] = f"{wait:.0f}"
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400."""
    return respond(request, BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403."""
    return respond(request, replace(FORBIDDEN, message=str(exception)))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404. The exception's own text is for developers."""
    return respond(request, NOT_FOUND)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Where allauth counts."""
    return respond(request, TOO_MANY)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's `CSRF_FAILURE_VIEW`: the cause is nearly always a page left open since yesterday, or since before a login.

    A form of this site is given back. Another site's form is not: a click would send it in the name of its victim.
    """
    is_own = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
    if is_own and form_sent_with(request):
        return respond(request, replace(STALE_PAGE, advice=SEND_AGAIN, template=GIVEN_BACK))
    return respond(request, STALE_PAGE)


def internal_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, for bugs, and for outages that no view met but what runs around it. The page uses neither session nor database,
    and plain words if even its template fails.
    """
    problem = problem_of_outage(sys.exc_info()[1])
    if problem:
        with suppress(Exception):
            return respond(request, problem)
    if wants_json(request):
        return JsonResponse(problem_details(INTERNAL), status=INTERNAL.status, content_type=PROBLEM_JSON)
    try:
        with translation.override(_language_of(request, INTERNAL)):
            content, kind = str(render_to_string("error.html", page_context(INTERNAL))), "text/html"
    except Exception:
        logger.exception("The page for errors could not be shown")
        content, kind = f"{INTERNAL.title}. {INTERNAL.message} {INTERNAL.advice}", "text/plain"
    return HttpResponse(content, status=INTERNAL.status, content_type=f"{kind}; charset=utf-8")


def _language_of(request: HttpRequest, problem: Problem) -> str:
    """The language of a participant or of a stranger at an address without a page; that of their account for everybody else, and of their
    browser where the database may not answer.
    """
    nothing_here, of_participants = problem is NOT_FOUND, request.path_info.startswith(PARTICIPANTS)
    if not of_participants and (not nothing_here or comes_as_staff(request)):
        known = str(getattr(request, "own_language", ""))
        needs_no_database = problem is INTERNAL or is_outage(problem) or not hasattr(request, "user")
        return known or (translation.get_language_from_request(request) if needs_no_database else language_of_reader(request))
    chosen = matching(request.COOKIES.get(COOKIE, ""), LANGUAGE_NAMES)
    wanted = chosen or preferred(request.headers.get("Accept-Language", ""), ["", *LANGUAGE_NAMES])
    return wanted or (of_study_at(request.path_info) if nothing_here else "") or next(iter(LANGUAGE_NAMES))


def problem_of_outage(error: BaseException | None) -> Problem | None:
    outage = outage_of(error)
    return OUTAGES[outage] if outage else None


def _problem_of_api(error: api_errors.APIException) -> Problem:
    """REST framework's own errors; complaints about single fields go to `errors`, and all of them to the message."""
    status = HTTPStatus(error.status_code)
    if isinstance(error.detail, str):
        return Problem(status=status, title=status.phrase, message=error.detail)
    errors = list(_by_place(error.detail))
    message = "\n".join(f"{place}: {detail}" if place else detail for place, detail in errors)
    return replace(INVALID, status=status, message=message, code="invalid", errors=errors)


def _by_place(errors: object, place: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a tree of complaints, each with its place: names and numbers, with full stops between them."""
    if isinstance(errors, Mapping):
        for name, inside in errors.items():
            is_of_whole = name in (NON_FIELD_ERRORS, api_settings.NON_FIELD_ERRORS_KEY)
            yield from _by_place(inside, place if is_of_whole else f"{place}.{str(name)[:LONGEST_NAME]}".lstrip("."))
    elif isinstance(errors, list | tuple):
        # A list of complaints is about one place; a list of trees, about its items.
        for number, inside in enumerate(errors):
            yield from _by_place(inside, f"{place}.{number}".lstrip(".") if isinstance(inside, Mapping | list) else place)
    else:
        yield place, str(errors)


def _code(error: Exception) -> str:
    """`StepOutOfOrderError` → `step-out-of-order`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()
