"""Middleware for the staff's pages: sessions, users, messages, allauth, the length of a session, and compulsory second factors.

Participants' pages (`/s/…`) are left alone: they have no session, and must not wait for middleware that only staff need.
"""

import re
import time
from collections.abc import Callable
from typing import Any

from allauth.account.middleware import AccountMiddleware
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.models import Role, User
from accounts.tokens.api_access import sender_of

GetResponse = Callable[[HttpRequest], HttpResponseBase]
LONGEST_SECONDS = 12 * 60 * 60
IDLE_SECONDS = 2 * 60 * 60
NOTED_EVERY_SECONDS = 5 * 60
SINCE, SEEN = "logged_in_at", "seen_at"
"""In the session: seconds since 1970."""
WITH_SECOND_FACTOR = (Role.IRB_OFFICER, Role.ADMINISTRATOR)


JOURNEY = re.compile(r"/s/[-\w]+/")
"""The one address of all steps of a journey. On other pages of a study somebody of its staff may be known."""


class ExceptOnJourneys:
    """Before a middleware that a step of a journey goes past: nobody is logged in there."""

    def __call__(self, request: HttpRequest) -> Any:
        past = JOURNEY.fullmatch(request.path_info)
        return self.get_response(request) if past else super().__call__(request)  # type: ignore[attr-defined,misc]


class StaffSessions(ExceptOnJourneys, SessionMiddleware):
    """Django's sessions. A page with a cookie is for one browser: a cache between might hand the cookie to another."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        if response.cookies and "public" in response.get("Cache-Control", ""):
            response["Cache-Control"] = "no-store"
        return response


class StaffUsers(ExceptOnJourneys, AuthenticationMiddleware):
    """Django's users."""


class StaffMessages(ExceptOnJourneys, MessageMiddleware):
    """Django's messages."""


class StaffMiddleware:
    """One step for participants' pages, four for all others."""

    def __init__(self, get_response: GetResponse) -> None:
        self.for_participants = get_response
        self.for_staff = AccountMiddleware(lambda request: refusal(request) or get_response(request))

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("/s/"):
            return self.for_participants(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES:
            end_old_session(request)
        response: HttpResponseBase = self.for_staff(request)
        if "public" not in response.get("Cache-Control", ""):
            # No computer keeps what staff see, downloads and the login page included: others may sit there next.
            response["Cache-Control"] = "no-store"
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """allauth interrupts a view by exceptions of its own, to ask for the password again."""
        response: HttpResponseBase | None = self.for_staff.process_exception(request, exception)
        return response


def end_old_session(request: HttpRequest) -> None:
    """Log people out twelve hours after login, or after two hours without activity. A page that refreshes itself is no activity."""
    now = int(time.time())
    if not request.user.is_authenticated:
        return
    since, seen = request.session.get(SINCE, now), request.session.get(SEEN, now)
    if now - since > LONGEST_SECONDS or now - seen > IDLE_SECONDS:
        logout(request)
    elif SEEN not in request.session or (now - seen > NOTED_EVERY_SECONDS and "HX-Request" not in request.headers):
        request.session[SINCE], request.session[SEEN] = since, now


def refusal(request: HttpRequest) -> HttpResponseBase | None:
    """Where a second factor is compulsory, people who lack theirs can do nothing except set it up."""
    if not settings.REQUIRE_MFA or request.path_info.startswith(("/accounts/", settings.STATIC_URL)):
        return None
    is_program = request.path_info.startswith("/api/")
    user = _sender(request) if is_program else request.user
    if not isinstance(user, User) or user.role not in WITH_SECOND_FACTOR or has_second_factor(user):
        return None
    if is_program:
        raise PermissionDenied(_("This installation asks for a second factor. Set it up on the page of your account."))
    return redirect("mfa_activate_totp")


def _sender(request: HttpRequest) -> User | None:
    """The account behind a session or a token: a token may be from before its owner became an officer."""
    sender = sender_of(request)
    return sender[0] if sender else None


def has_second_factor(user: User) -> bool:
    from allauth.mfa.models import Authenticator

    found: bool = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists()
    return found
