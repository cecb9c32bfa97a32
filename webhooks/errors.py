"""Errors of webhooks."""

from http import HTTPStatus

from django.utils.translation import gettext_lazy as _


class WebhookError(Exception):
    """An address or a list of events that cannot be used."""

    http_status = HTTPStatus.BAD_REQUEST
    title = _("This webhook cannot be used")
    advice = _("Correct it and send it again; nothing was changed.")


class RefusedAddressError(Exception):
    """The address leads to a computer that is not reachable from the public internet."""
