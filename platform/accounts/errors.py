"""Errors between people and their accounts."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class LoggedOutError(Exception):
    """A filled form arrives without a session: it ended, or somebody logged out in another tab."""

    http_status = HTTPStatus.FORBIDDEN
    title = _("You are not logged in any more")
    advice = _("Log in in another tab, come back to this one and send it again.")
    template = "accounts/logged_out.html"

    def __init__(self) -> None:
        super().__init__(_("The form that you sent was not taken."))


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
