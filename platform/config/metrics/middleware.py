"""/metrics, and the count of every other request. Without a token in the settings this middleware is not there at all."""

from collections.abc import Callable
from http import HTTPStatus
from time import perf_counter

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.crypto import constant_time_compare

PATH = "/metrics"


class MetricsMiddleware:
    """Behind the one for /healthz, and before everything else: a monitoring program needs no right host name, no TLS, no session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.METRICS_TOKEN:
            raise MiddlewareNotUsed
        from config.metrics import requests

        self.get_response, self.requests = get_response, requests
        requests.count_statements()

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == PATH:
            return metrics(request)
        sent, began = self.requests.SENT, perf_counter()
        sent.statements = 0
        response = self.get_response(request)
        self.requests.add(request, status=response.status_code, seconds=perf_counter() - began, statements=sent.statements)
        return response


def metrics(request: HttpRequest) -> HttpResponse:
    """The numbers, for those who know the token."""
    from prometheus_client import CONTENT_TYPE_LATEST

    from config.metrics.page import page

    if constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        response = HttpResponse(page(), content_type=CONTENT_TYPE_LATEST)
    else:
        response = HttpResponse("Expected the token of METRICS_TOKEN.\n", status=HTTPStatus.UNAUTHORIZED, content_type="text/plain")
        response["WWW-Authenticate"] = "Bearer"
    response["Cache-Control"] = "no-store"
    response["Content-Length"] = str(len(response.content))
    response._has_been_logged = True  # type: ignore[attr-defined]  # it is asked for every few seconds
    return response
