"""Limits what logs know of participants: no address, no token of a link, no time finer than the hour.

A container's log and a system's journal stamp each line with the second in which it came. Therefore no participant's request writes one,
unless it meets a bug.
"""

import logging
from http import HTTPStatus

from django.http import HttpRequest

HOUR_FORMAT = "%Y-%m-%d %H:00"


PARTICIPANTS = ("/s/", "/in-class/", "/join/", "/credit/", "/lti/")
"""Their addresses begin so, and those of students in a class room or from a course."""


class RouteInsteadOfPath(logging.Filter):
    """Staff's requests appear as their URL pattern (`studies/<slug:slug>/`), never as the path or data that came; those of participants
    only where a bug stopped them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest):
            if request.path_info.startswith(PARTICIPANTS) and getattr(record, "status_code", 0) < HTTPStatus.INTERNAL_SERVER_ERROR:
                return False
            from config.outages.causes import outage_of  # settings import this module before there is a database to import

            if record.exc_info and outage_of(record.exc_info[1]) is not None:
                return False  # `config.outages.told` tells it, once
            match = request.resolver_match
            route = f"/{match.route}" if match else "(an address that does not exist)"
            status = getattr(record, "status_code", "")
            record.msg, record.args = "%s %s %s", (request.method, route, status)
            del record.__dict__["request"]
        return True
