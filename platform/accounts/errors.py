"""What can go wrong between a person and their account."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class TooManyAttemptsError(Exception):
    """The right password will not help either until some time has passed."""

    http_status = HTTPStatus.TOO_MANY_REQUESTS
    title = _("Too many attempts to log in")
    advice = _("Wait a quarter of an hour, then try again. If it was not you, tell an administrator.")
