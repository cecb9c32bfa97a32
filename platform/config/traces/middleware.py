"""Traces of staff's requests. Unless the settings ask for traces, this middleware is not there at all."""

from collections.abc import Callable, Sequence
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponseBase

from accounts.access import comes_as_staff
from config.traces.safe import ADDRESSES, METHODS


class TracesMiddleware:
    """Before everything that asks the database. Until a request has come to a page that may be traced, nothing is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.TRACES:
            raise MiddlewareNotUsed
        from config.traces import spans

        self.get_response, self.spans = get_response, spans

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        now = self.spans.NOW
        around, now.trace = now.trace, None  # the bots of a rehearsal ask for pages inside of traced work
        try:
            response = self.get_response(request)
            if now.trace is not None:
                status = response.status_code
                now.trace.end(failed=status >= HTTPStatus.INTERNAL_SERVER_ERROR, **{"http.response.status_code": status})
            return response
        finally:
            now.trace = around

    def process_view(self, request: HttpRequest, view: object, arguments: Sequence[object], named: dict[str, object]) -> None:
        match = request.resolver_match
        if match is not None and match.view_name in ADDRESSES and comes_as_staff(request):
            self.spans.begin_request(method=request.method if request.method in METHODS else "?", route=f"/{match.route}")
