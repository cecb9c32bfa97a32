"""Errors of webhooks."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class WebhookError(Exception):
    """An address or a list of events that cannot be used; `field` is the one of the form."""

    http_status = HTTPStatus.BAD_REQUEST
    title = _("This webhook cannot be used")
    advice = _("Correct it and send it again; nothing was changed.")

    def __init__(self, message: str = "", *, field: str = "address") -> None:
        super().__init__(message)
        self.field = field


class RefusedAddressError(Exception):
    """The address leads to a computer that is not reachable from the public internet."""
