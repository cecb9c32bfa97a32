"""Errors between people and their accounts."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class TooManyAttemptsError(Exception):
    """After too many failures even the right password does not help until some time has passed."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS
    title = _("Too many attempts to log in")
    advice = _("Wait a quarter of an hour, then try again. If it was not you, tell an administrator.")
