"""The language in which a visitor reads."""

from django.http import HttpRequest

from surveys.journey import visitors
from surveys.journey.presentation import presentation
from surveys.models import Participant, Study
from surveys.protocols import protocol_in_force


def language_of(request: HttpRequest, study: Study, participant: Participant | None) -> str:
    """The language that this participant or visitor chose; else the first of the study's languages that the browser asks for; else the
    study's first.
    """
    if known := participant or visitors.visit_of(request, study) or visitors.farewell_of(request, study):
        return known.language
    return asked_for(request, study)


def asked_for(request: HttpRequest, study: Study) -> str:
    """The first of the study's languages that the address (`?language=`) or the browser asks for; the study's own first otherwise."""
    codes = [code for code, _name in presentation(protocol_in_force(study).id, "").languages]
    for part in (request.GET.get("language") or request.headers.get("Accept-Language", "")).lower().split(","):
        wanted = part.split(";")[0].strip()
        if found := next((code for code in codes if wanted in (code,) or wanted.split("-")[0] == code), None):
            return found
    return codes[0]
