"""The language in which a visitor reads: what they chose on a page, in this browser, for this study; else what they chose before."""

import re
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.db import Error
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation

from surveys.access import study_in_public
from surveys.journey import visitors
from surveys.journey.presentation import presentation
from surveys.journey.services import Visit
from surveys.languages.asked_for import COOKIE, PARAMETER, matching, preferred
from surveys.languages.offered import LANGUAGE_NAMES
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force

BELOW_A_STUDY = re.compile(r"/s/([a-z0-9-]+)/")


def language_of(request: HttpRequest, study: Study, somebody: Participant | Visit | None) -> str:
    """The language that the address or this browser chose; else that of this participant or visitor; else the browser's first among the
    study's; else the study's first.
    """
    codes = _codes(somebody.protocol_id if isinstance(somebody, Participant) else protocol_in_force(study).id)
    if chosen := matching(request.GET.get(PARAMETER, ""), codes) or matching(request.COOKIES.get(COOKIE, ""), codes):
        return chosen
    if known := somebody or visitors.visit_of(request, study) or visitors.farewell_of(request, study):
        return known.language
    return asked_for(request, study)


def asked_for(request: HttpRequest, study: Study) -> str:
    """The first of the study's languages that the address (`?language=`) or the browser asks for; the study's own first otherwise."""
    codes = _codes(protocol_in_force(study).id)
    return matching(request.GET.get(PARAMETER, ""), codes) or preferred(request.headers.get("Accept-Language", ""), codes)


def keeps_language(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let this browser remember, for this study, the language that was chosen by a link."""

    @wraps(view)
    def kept(request: HttpRequest, slug: str, *args: object, **kwargs: object) -> HttpResponse:
        response = view(request, slug, *args, **kwargs)
        asked = request.GET.get(PARAMETER, "")
        if chosen := matching(asked, LANGUAGE_NAMES) or (asked and matching(asked, _codes_of_study(slug))):
            where = visitors.address_of(slug)
            response.set_cookie(COOKIE, chosen, path=where, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax")
        return response

    return kept


def in_every_language(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Show pages of no study in the language that the address asks for, that this browser chose on such a page, or that it prefers."""

    @wraps(view)
    def shown(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        asked = matching(request.GET.get(PARAMETER, ""), LANGUAGE_NAMES)
        with translation.override(asked or matching(request.COOKIES.get(COOKIE, ""), LANGUAGE_NAMES) or of_stranger(request)):
            response = view(request, *args, **kwargs)
        if asked:
            where = reverse("surveys:in_class")
            response.set_cookie(COOKIE, asked, path=where, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Lax")
        return response

    return shown


def of_stranger(request: HttpRequest) -> str:
    """The language for a page of no study: the one that the address asks for, or else the browser's, among all that there are."""
    asked = matching(request.GET.get(PARAMETER, ""), LANGUAGE_NAMES)
    return asked or preferred(request.headers.get("Accept-Language", ""), list(LANGUAGE_NAMES))


def of_study_at(path: str) -> str:
    """The first language of the study below whose address this path lies, if there is one of which anybody may read; else empty, also
    where the database does not answer: a page that says “not here” needs none.
    """
    found = BELOW_A_STUDY.match(path)
    try:
        code = _codes(protocol_in_force(study_in_public(found[1])).id)[0] if found else ""
    except (Http404, Error):
        return ""
    return code if code in LANGUAGE_NAMES else ""


def rest_of_address(request: HttpRequest) -> str:
    """The rest of the address, besides a language, so that a change of language loses nothing of an invitation."""
    asked = request.GET.copy()
    asked.pop(PARAMETER, None)
    return asked.urlencode()


def _codes_of_study(slug: str) -> tuple[str, ...]:
    protocol_id = Study.objects.filter(slug=slug).values_list("protocol_id", flat=True).first()
    return _codes(protocol_id) if protocol_id else ()


def _codes(protocol_id: int) -> tuple[str, ...]:
    return presentation(protocol_id, "").codes
