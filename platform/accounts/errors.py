"""Errors between people and their accounts."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class TooManyAttemptsError(Exception):
    """After too many failures even the right password does not help until some time has passed."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS
    title = _("Too many attempts to log in")
    advice = _(
        "Wait a quarter of an hour, then try again. If it was not you, tell an administrator. "
        "A browser in which you logged in before still lets you in."
    )
    retry_after = 15 * 60


class TooManyLoginsError(Exception):
    """More passwords wait to be checked than this process checks at a time."""

    http_status = HTTPStatus.SERVICE_UNAVAILABLE
    title = _("Too many people are logging in at this moment")
    advice = _("Nothing is wrong with your name or password. Wait a few seconds, then try again.")
    retry_after = 5
