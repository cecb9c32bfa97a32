"""One place for all addresses of the API: requests with an `Idempotency-Key` are done once, and answered alike each time."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext_lazy as _
from rest_framework.permissions import SAFE_METHODS

from accounts.models import User
from accounts.repeated.sealing import RequestKeys
from accounts.repeated.services import held, keep, kept_answer
from accounts.tokens.api_access import sender_of
from config.error_responses import Problem, respond
from config.idempotency.bodies import HashedBody
from config.idempotency.standing import standing

HEADER = "Idempotency-Key"
REPEATED = "Idempotent-Replayed"
SHORTEST, LONGEST = 16, 255
_TEXT = re.compile(rf"[!#-\[\]-~]{{{SHORTEST},{LONGEST}}}")
_AGAIN = ("Content-Type", "Content-Language", "Content-Disposition", "Location", "ETag")
"""The headers of a kept answer. All others are made anew."""

MALFORMED = Problem(
    status=HTTPStatus.BAD_REQUEST,
    title=_("This key cannot be used"),
    advice=_("Send a new random one, such as a UUID, with each new request, and the same one when you send a request again."),
    code="idempotency-key-malformed",
)
IN_USE = Problem(
    status=HTTPStatus.CONFLICT,
    title=_("A request with this key is just being done"),
    advice=_("Wait for its answer, or send it again in a moment."),
    code="idempotency-key-in-use",
    retry_after=1,
)
OTHER_REQUEST = Problem(
    status=HTTPStatus.UNPROCESSABLE_ENTITY,
    title=_("This key belongs to another request"),
    message=_("Expected the address and the content that were sent with this key before, found others. Nothing was changed."),
    advice=_("Send a new request with a new key."),
    code="idempotency-key-reused",
)


OTHER_STANDING = Problem(
    status=HTTPStatus.FORBIDDEN,
    title=_("This request was done before"),
    message=_("It was done once, with this key. Your rights have changed since, or somebody withdrew: its answer is not given again."),
    advice=_("Ask for the present state in a new request."),
    code="idempotency-rights-changed",
)


class IdempotencyMiddleware:
    """Requests without the key, those that only read, and those of strangers go past."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.method in SAFE_METHODS or not request.path_info.startswith("/api/") or (sent := request.headers.get(HEADER)) is None:
            return self.get_response(request)
        key = sent.strip().removeprefix('"').removesuffix('"')
        if not _TEXT.fullmatch(key):
            expected = _("Expected %(shortest)s to %(longest)s visible ASCII characters without a quotation mark, found %(found)s.")
            found = {"shortest": SHORTEST, "longest": LONGEST, "found": ascii(sent[:50])}
            return respond(request, replace(MALFORMED, message=expected % found))
        sender = sender_of(request)
        if sender is None:
            return self.get_response(request)
        account, token = sender
        return self._once(request, account=account, keys=RequestKeys.of(account.pk, token, key))

    def _once(self, request: HttpRequest, *, account: User, keys: RequestKeys) -> HttpResponseBase:
        with held(keys) as free:
            if not free:
                return respond(request, IN_USE)
            body, kept = HashedBody(request), kept_answer(keys)
            address = (str(request.method).encode(), request.get_full_path().encode(), (request.content_type or "").encode())
            if kept is not None:
                if kept.fingerprint != keys.fingerprint(*address, body.digest()):
                    return respond(request, OTHER_REQUEST)
                again = _opened(keys.opened(bytes(kept.sealed)), for_standing=standing(account, request.path_info))
                return again or respond(request, OTHER_STANDING)
            response = self.get_response(request)
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                transaction.set_rollback(True)
            elif response.status_code < HTTPStatus.BAD_REQUEST:
                content = _content_of(response, for_standing=standing(account, request.path_info))
                keep(keys, account=account, fingerprint=keys.fingerprint(*address, body.digest()), content=content)
            return response


def _content_of(response: HttpResponseBase, *, for_standing: list[str]) -> bytes:
    """An answer as it is kept, with the standing of its sender after the request. One that streams is read to its end first."""
    if isinstance(response, StreamingHttpResponse):
        parts = list(response)
        response.streaming_content = parts
        body = b"".join(parts)
    else:
        assert isinstance(response, HttpResponse)
        body = response.content
    headers = {name: response[name] for name in _AGAIN if response.has_header(name)}
    return json.dumps([response.status_code, headers, for_standing]).encode() + b"\n" + body


def _opened(content: bytes, *, for_standing: list[str]) -> HttpResponse | None:
    """A kept answer; None if its sender has another standing by now."""
    head, _line, body = content.partition(b"\n")
    status, headers, then = json.loads(head)
    if then != for_standing:
        return None
    return HttpResponse(body, status=status, headers={**headers, REPEATED: "true"})
