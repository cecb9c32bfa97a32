"""Errors of course platforms."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class LaunchError(Exception):
    """A message of a course platform that cannot be believed.

    The refusal may stand in any frame. Often nobody knows yet whose frame it is, and it tells nothing of anybody and does nothing.
    """

    framed_by = "*"
    http_status = HTTPStatus.FORBIDDEN
    title = _("Your course could not open this study")
    advice = _("Go back to your course and open the activity again. If that does not help, tell your teacher what this page says.")


class PlatformError(Exception):
    """A course platform that does not answer as the standard says. `status` is that of its answer; none is 0."""

    framed_by = "*"
    http_status = HTTPStatus.BAD_GATEWAY
    title = _("The course platform did not answer as expected")
    advice = _("Wait a moment and open the activity again.")

    def __init__(self, message: str = "", *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
