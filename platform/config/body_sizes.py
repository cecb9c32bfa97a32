"""How much may be sent where: decided from the address and the headers, before a byte of the body is kept anywhere."""

import re
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, HttpResponseBase
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _  # for participants, so with a translation
from rest_framework.exceptions import AuthenticationFailed

from accounts.tokens.api_access import ApiTokenAuthentication
from config.error_responses import Problem, respond

SMALL = 64 * 1024
"""In bytes, as all sizes here: enough for every form of a participant, and for most of staff."""
TEXTS = 6 * 1024**2
"""Study files, long texts of a draft, lists of codes, data dictionaries."""
FILES = 600 * 1024**2
"""Lectures, and a study with its lectures. deployment/nginx.conf names the same addresses and sizes."""
TABLES = 100 * 1024**2
"""Tables and texts that somebody brings: a million students with their answers."""
IMPORTS = 26 * 1024**2
"""Surveys of other programs."""
MOST_DIGITS = 18
"""An announced length with more digits is too large in any case. Python refuses to read thousands of them."""
REFUSED = "candor.body_was_refused"
"""In the WSGI environment of a request whose body the embedded server did not take. No header has such a name."""
STUDY = r"[-\w]+"
LARGER = (
    (
        re.compile(
            rf"/(studies/{STUDY}/build/arms/{STUDY}(/{STUDY})?|api/v1/studies/{STUDY}/(media|arms/{STUDY}/files)|(api/v1/)?import-study)/"
        ),
        FILES,
    ),
    (re.compile(r"/(data-sets/new(/records)?|api/v1/data-sets(/new/records)?)/"), TABLES),
    (re.compile(rf"/(studies/{STUDY}/build/background/import|api/v1/studies/{STUDY}/imports)/"), IMPORTS),
    (
        re.compile(rf"/(studies/{STUDY}/(build/.*|codes)|build/preview|api/v1/(studies|power|studies/{STUDY}/.*|data-sets/{STUDY}/.*))/?"),
        TEXTS,
    ),
)

TOO_LARGE = Problem(
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    title=_("This is more than can be sent here"),
    advice=_("Go back and send less."),
    code="too-large",
)
NOT_FROM_STRANGERS = Problem(
    status=HTTPStatus.FORBIDDEN,
    title=gettext_lazy("Log in first"),
    message=gettext_lazy("This much can be sent only by somebody who is logged in. Nothing of it was kept."),
    advice=gettext_lazy("Log in, perhaps in another window, and send it again."),
    code="log-in-first",
)
NO_LENGTH = Problem(
    status=HTTPStatus.LENGTH_REQUIRED,
    title=gettext_lazy("This request does not say how long it is"),
    advice=gettext_lazy("Send it with a Content-Length, not in chunks."),
    code="length-required",
)


def most_at(path: str) -> int:
    """The largest body that anybody may send to this address."""
    return next((most for address, most in LARGER if address.fullmatch(path)), SMALL)


def most_from(request: HttpRequest) -> int:
    """The largest body that the sender of these headers may send: more than `SMALL` only with a living session or token."""
    most = most_at(request.path_info)
    return most if most > SMALL and sender_is_known(request) else SMALL


def sender_is_known(request: HttpRequest) -> bool:
    """Whether a living session or token belongs to the request. Only its headers are read."""
    if request.META.get("HTTP_AUTHORIZATION"):
        try:
            return ApiTokenAuthentication().authenticate(request) is not None  # type: ignore[arg-type]  # it reads the header
        except AuthenticationFailed:
            return False
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    asked = HttpRequest()
    asked.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    return get_user(asked).is_authenticated


def _sizes(most: int, found: int) -> str:
    sizes = {"most": number_format(most // 1024, force_grouping=True), "found": number_format(found // 1024, force_grouping=True)}
    return _("Expected at most %(most)s kB, found %(found)s kB. Nothing of it was kept.") % sizes


sizes_in_words = lazy(_sizes, str)
"""In the language of the page, which is chosen later than the problem is found."""


class BodySizeMiddleware:
    """Refuses what is too large, and what a stranger sends where only staff may send much."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        problem = problem_of_body(request)
        return respond(request, problem) if problem else self.get_response(request)


def problem_of_body(request: HttpRequest) -> Problem | None:
    """Why this body is not taken. Django reads no more than the length that is announced, so that only the announcement counts."""
    announced, refused = request.META.get("CONTENT_LENGTH") or "", REFUSED in request.META
    if not announced and "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        return NO_LENGTH
    length = int(announced.lstrip("0")[:MOST_DIGITS] or 0) if announced.isdecimal() else 0
    if length <= SMALL:
        return TOO_LARGE if refused else None
    most = most_at(request.path_info)
    if length > most:
        return replace(TOO_LARGE, message=sizes_in_words(most, length))
    return NOT_FROM_STRANGERS if refused or length > most_from(request) else None
