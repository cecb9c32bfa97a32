"""Requests to course platforms: to checked addresses, without redirections and with little patience. Answers are short, or not read."""

import json
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils.translation import gettext as _

from lti.errors import PlatformError
from webhooks.addresses import check_address
from webhooks.errors import RefusedAddressError, WebhookError

FORM = "application/x-www-form-urlencoded"


def ask(method: str, address: str, *, accept: str = "application/json", token: str = "", kind: str = "", content: object = None) -> Any:
    """The JSON that the platform answers; None for an empty answer. `content` is sent as JSON of this `kind`, or as a form."""
    import httpcore  # few processes ask

    from webhooks.sending import exchange

    headers = {"Accept": accept, "User-Agent": "Candor"}
    body = b""
    if content is not None:
        headers["Content-Type"] = kind
        body = (urlencode(content) if isinstance(content, dict) and kind == FORM else json.dumps(content)).encode()
    if token:
        headers["Authorization"] = f"Bearer {token}"
    private = settings.WEBHOOKS_MAY_STAY_PRIVATE
    try:
        check_address(address, private_is_allowed=private)
        status, answer = exchange(method, address, headers=headers, body=body, private_is_allowed=private)
    except (OSError, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        raise PlatformError(_("no answer: %(kind)s") % {"kind": type(error).__name__}) from error
    except (WebhookError, RefusedAddressError, UnicodeError) as error:
        raise PlatformError(str(error)) from error
    if not 200 <= status < 300:
        raise PlatformError(_("answered %(status)s, expected 2xx") % {"status": status}, status=status)
    try:
        return json.loads(answer) if answer.strip() else None
    except (ValueError, RecursionError) as error:
        raise PlatformError(_("answered something else than JSON")) from error
