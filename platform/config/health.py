"""GET /healthz reports whether the database answers and the worker and beat are alive; for what starts and stops web processes there are
two narrower questions: /healthz/live, whether this process answers at all, and /healthz/ready, whether it can serve people.
"""

from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from config.heartbeat import is_alive, queues_without_worker, reason_for_silence
from jobs.queues import Queue

PATH = "/healthz"
LIVE, READY = f"{PATH}/live", f"{PATH}/ready"


class HealthMiddleware:
    """First in line: a probe needs no right host name, no TLS, no session."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        state = STATES.get(request.path_info)
        return answer(state()) if state else self.get_response(request)


def answer(parts: dict[str, str]) -> JsonResponse:
    """200 when all is well, 503 otherwise, with the state of every part."""
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


def nothing_but_this_process() -> dict[str, str]:
    """No part: whoever answers, lives. To start it again would not bring the database back, so it is not asked."""
    return {}


def what_pages_need() -> dict[str, str]:
    """The database, with every table that this code knows. Newer tables do no harm: an older process goes on beside an upgrade.

    Pages need neither worker nor beat, nor Redis: without them results come later.
    """
    if not _database_answers():
        return {"database": "silent"}
    return {"database": "ok", "migrations": _state_of_migrations()}


def missing_migrations() -> set[tuple[str, str]]:
    """Application and name of the migrations that this code brings and that the database has not had."""
    ours = {(app.label, module.name) for app in apps.get_app_configs() for module in iter_modules([str(Path(app.path) / "migrations")])}
    return ours - set(MigrationRecorder(connection).applied_migrations())


_found: dict[str, bool] = {}


def _state_of_migrations() -> str:
    """They are looked for until none is missing, and then no more: a probe costs one statement."""
    try:
        missing = set() if _found.get("all") else missing_migrations()
    except DatabaseError:
        connection.close()
        return "unknown: the database does not answer"
    _found["all"] = not missing
    return f"missing: {len(missing)}" if missing else "ok"


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        connection.close()
        return False
    return True


STATES: dict[str, Callable[[], dict[str, str]]] = {
    PATH: states_of_parts,
    LIVE: nothing_but_this_process,
    READY: what_pages_need,
}
