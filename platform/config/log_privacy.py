"""Limits what logs know of participants: no address, no token of a link, no time finer than the hour."""

import logging

from django.http import HttpRequest

HOUR_FORMAT = "%Y-%m-%d %H:00"


class RouteInsteadOfPath(logging.Filter):
    """Requests appear as their URL pattern (`s/<slug:slug>/r/<str:token>/`), never as the path or data that came."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest):
            match = request.resolver_match
            route = f"/{match.route}" if match else "(an address that does not exist)"
            status = getattr(record, "status_code", "")
            record.msg, record.args = "%s %s %s", (request.method, route, status)
            del record.__dict__["request"]
        return True
