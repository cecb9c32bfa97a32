"""The person behind a request: somebody new, somebody who pressed Start, or a participant. Known by one cookie that no script reads."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TypeVar

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse

from surveys.errors import SomebodyElseError
from surveys.journey.participant_store import read_participant
from surveys.journey.services import Visit
from surveys.models import Participant, Study
from surveys.recruitment.arrivals import WayBack
from surveys.tokens import hash_of_token

COOKIE = "candor_participant"
BOT_COOKIE = "candor_bot"
COOKIE_SECONDS = 180 * 24 * 60 * 60
_BOT_SALT, _OPENED_SALT = "surveys.bot", "surveys.opened"
FINISHED_HERE, WITHDREW_HERE = "finished", "withdrew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Farewell:
    """All that a browser remembers of somebody who finished or withdrew here. Nothing in it leads to answers or to the two codes.

    `way_back` is the address at the panel by which people say that they took part; they must not lose it by a reload.
    """

    ended: str
    language: str
    way_back: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    """The form to be sent there, where the panel wants one."""


Kept = TypeVar("Kept", Visit, Farewell)
_SALTS: dict[type, str] = {Visit: "surveys.visit", Farewell: "surveys.farewell"}


def farewell_to(language: str, back: WayBack | None) -> Farewell:
    """The memory of somebody who has finished."""
    if back is None:
        return Farewell(ended=FINISHED_HERE, language=language)
    return Farewell(ended=FINISHED_HERE, language=language, way_back=back.address, fields=dict(back.fields))


@lru_cache(maxsize=4096)
def address_of(slug: str) -> str:
    """The one address of a study, to which the browser sends these cookies; put together once, since each request asks for it."""
    return reverse("surveys:journey", args=[slug])


@lru_cache(maxsize=4096)
def _address_of_links(slug: str) -> str:
    return reverse("surveys:resume", args=[slug, "token"]).removesuffix("token/")


def personal_link(slug: str, token: str) -> str:
    """The address by which a participant goes on elsewhere."""
    return f"{_address_of_links(slug)}{token}/"


def participant_of(request: HttpRequest, slug: str) -> tuple[str, Participant | None]:
    """The token in the cookie (empty if there is none, or if the person has not consented yet) and its participant."""
    token = token_in(request)
    return (token, participant_with(token, slug)) if token else ("", None)


def to_journey(slug: str, *, query: str = "") -> HttpResponseRedirect:
    """A redirect to the study's one address."""
    return see_other(address_of(slug) + (f"?{query}" if query else ""))


def see_other(address: str) -> HttpResponseRedirect:
    """A redirect by GET, whatever was sent."""
    response = HttpResponseRedirect(address)
    response.status_code = 303
    return response


def require_own(sent: QueryDict, mark: str) -> None:
    """Refuse a form that was opened for somebody else, before this person began in the same browser."""
    if not is_own(sent, mark):
        raise SomebodyElseError


def is_own(sent: QueryDict, mark: str) -> bool:
    """Whether a form was opened for the person whom this browser knows by now."""
    return sent.get("whose", mark) == mark


def token_in(request: HttpRequest) -> str:
    """The participant's token that this browser holds, whether or not its participant is still there."""
    token = request.COOKIES.get(COOKIE, "")
    return "" if ":" in token else token


def participant_with(token: str, slug: str) -> Participant | None:
    """The participant of this study who holds `token`."""
    return read_participant(hash_of_token(token), slug=slug)


def visit_of(request: HttpRequest, study: Study) -> Visit | None:
    """A visitor's choices on the welcome page of this study."""
    return _kept(request, study, Visit)


def remember_visit(response: HttpResponse, study: Study, visit: Visit) -> None:
    _keep(response, study, visit)


def remember_participant(response: HttpResponse, slug: str, token: str) -> None:
    _set_cookie(response, slug, token)


def farewell_of(request: HttpRequest, study: Study) -> Farewell | None:
    """The memory of somebody who took part in this study in this browser, if there was anybody."""
    return _kept(request, study, Farewell)


def remember_farewell(response: HttpResponse, study: Study, farewell: Farewell) -> None:
    """From now on the browser holds no participant's token, so the next person on this device finds no code."""
    _keep(response, study, farewell)


def _kept(request: HttpRequest, study: Study, kind: type[Kept]) -> Kept | None:
    """The content of the cookie, if it is of this kind and was signed for this study."""
    try:
        found = signing.loads(request.COOKIES[COOKIE], salt=f"{_SALTS[kind]}.{study.pk}", max_age=COOKIE_SECONDS)
    except (KeyError, signing.BadSignature):
        return None
    # A newer version beside this one may keep more.
    return kind(**{name: found[name] for name in found.keys() & kind.__dataclass_fields__.keys()})


def _keep(response: HttpResponse, study: Study, what: Visit | Farewell) -> None:
    _set_cookie(response, study.slug, signing.dumps(asdict(what), salt=f"{_SALTS[type(what)]}.{study.pk}"))


def forget(response: HttpResponse, slug: str) -> None:
    response.delete_cookie(COOKIE, path=address_of(slug), samesite="Lax")


def _set_cookie(response: HttpResponse, slug: str, value: str) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=COOKIE_SECONDS,
        path=address_of(slug),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def is_bot(request: HttpRequest, study: Study) -> bool:
    """Whether the visitor is a bot sent by this installation, and the study takes bots."""
    try:
        return bool(study.accepts_bots and signing.loads(request.COOKIES[BOT_COOKIE], salt=_BOT_SALT) == study.slug)
    except (KeyError, signing.BadSignature):
        return False


def bot_ticket(slug: str) -> str:
    """The cookie by which a study recognises the bots of its own installation."""
    return signing.dumps(slug, salt=_BOT_SALT)


def opening_ticket(participant: Participant) -> str:
    """The time at which a page of their arm was opened and the tenths watched by then; signed and kept in the page, so that no time is
    stored.
    """
    return signing.dumps([int(time.time()), participant.watched_tenths], salt=_salt_of_page(participant))


def since_opening(ticket: str, participant: Participant) -> tuple[float, int]:
    """The seconds since the page was opened and the tenths watched by then; nothing for a ticket that this participant was not given."""
    try:
        opened, tenths = signing.loads(ticket, salt=_salt_of_page(participant))
    except signing.BadSignature:
        return 0.0, 0
    return max(time.time() - opened, 0.0), tenths


def _salt_of_page(participant: Participant) -> str:
    """No ticket of one page serves on another."""
    return f"{_OPENED_SALT}.{participant.pk}" + (f".{participant.page}" if participant.page else "")
