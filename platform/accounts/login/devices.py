"""Devices that are known: a browser in which somebody logged in has a signed cookie for this account (OWASP's device cookies).

Wrong passwords from a known device have a count of their own. Somebody else who guesses can therefore keep unknown devices out for a
while, but never the people themselves, at the computer where they work. The cookie opens nothing, holds no name, and goes to the pages
of accounts only; the server keeps nothing about devices.
"""

import secrets

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import salted_hmac

from accounts.names import folded

KNOWN_SECONDS = 180 * 24 * 60 * 60


def known_device(request: HttpRequest | None, username: str) -> str:
    """The random number of the device, if somebody logged in there under this name; empty for all others."""
    shown = request.COOKIES.get(cookie_of(username), "") if request is not None else ""
    try:
        return _signer(username).unsign(shown, max_age=KNOWN_SECONDS)
    except BadSignature:
        return ""


def remember_device(response: HttpResponse, username: str) -> None:
    """Give the browser its cookie. Each login makes a new one: whoever copied an earlier one does not share its count."""
    response.set_cookie(
        cookie_of(username),
        _signer(username).sign(secrets.token_urlsafe(16)),
        max_age=KNOWN_SECONDS,
        path=reverse("account"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def cookie_of(username: str) -> str:
    """One cookie for each account. Browsers take a name with this prefix only from an encrypted page."""
    account = salted_hmac("accounts.device", folded(username), algorithm="sha256").hexdigest()[:16]
    return f"{'__Secure-' if settings.SESSION_COOKIE_SECURE else ''}device-{account}"


def _signer(username: str) -> TimestampSigner:
    return TimestampSigner(salt=f"accounts.device {folded(username)}")
