"""GET /healthz reports whether the database answers and the worker and beat are alive."""

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from config.heartbeat import is_alive, queues_without_worker, reason_for_silence
from jobs.queues import Queue

PATH = "/healthz"


class HealthMiddleware:
    """First in line: a probe needs no right host name, no TLS, no session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return healthz() if request.path_info == PATH else self.get_response(request)


def healthz() -> JsonResponse:
    """200 when all is well, 503 otherwise, with the state of every part."""
    parts = states_of_parts()
    well = all(state == "ok" for state in parts.values())
    response = JsonResponse({"status": "ok" if well else "failing", **parts}, status=200 if well else 503)
    response["Cache-Control"] = "no-store"
    response["Content-Length"] = str(len(response.content))
    response._has_been_logged = True  # type: ignore[attr-defined]  # a probe asks every second; its answer is the message
    return response


def states_of_parts() -> dict[str, str]:
    """The state of every part; "ok" where it answers."""
    parts = {"database": "ok" if _database_answers() else "silent"}
    for part, state in (("worker", _state_of_workers()), ("beat", "ok" if is_alive("beat") else "silent")):
        unknown = reason_for_silence() if state != "ok" else ""
        parts[part] = f"unknown: {unknown}" if unknown else state
    return parts


def _state_of_workers() -> str:
    """Names the queues that have no worker, unless it is all of them."""
    silent = queues_without_worker()
    return "ok" if not silent else "silent" if len(silent) == len(Queue) else f"silent: {', '.join(silent)}"


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        connection.close()
        return False
    return True
