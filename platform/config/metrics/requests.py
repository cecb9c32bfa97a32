"""Requests, their time and their statements. Those of participants are counted in blocks of many, so that no number tells a single visit.

Each web process counts for itself, into files that `prometheus_client` adds up where there are several.
"""

import os
import tempfile
from collections import deque
from threading import Lock, local

from django.conf import settings
from django.http import HttpRequest

from accounts.access import comes_as_staff
from config.metrics.statements import Execute, look_at_statements

if settings.METRICS_PROCESSES:  # read when the package is imported; all web processes of one server have one parent
    folder = os.path.join(tempfile.gettempdir(), f"candor-metrics-{os.getuid()}-{os.getppid()}")
    os.makedirs(os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", folder), mode=0o700, exist_ok=True)

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

BLOCK = 500
"""Requests of participants that are counted at once: those of thirty journeys."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
STATEMENTS = (0, 1, 2, 5, 10, 20, 50, 100)
VISITORS = "candor_visitor"
COUNTS_STATEMENTS = "statements are counted"
REGISTRY = CollectorRegistry()


def _histograms(prefix: str, whose: str) -> tuple[Histogram, Histogram]:
    labels = ("kind", "status")
    return (
        Histogram(f"{prefix}_request_seconds", f"Seconds that requests of {whose} took", labels, buckets=SECONDS, registry=REGISTRY),
        Histogram(f"{prefix}_statements", f"Statements of requests of {whose}", labels[:1], buckets=STATEMENTS, registry=REGISTRY),
    )


class Requests:
    """Requests that are counted `block` by `block`."""

    def __init__(self, prefix: str, whose: str, *, block: int) -> None:
        self.seconds, self.statements = _histograms(prefix, whose)
        self._block, self._waiting, self._lock = block, deque[tuple[str, int, float, int]](), Lock()

    def add(self, kind: str, status: int, seconds: float, statements: int) -> None:
        self._waiting.append((kind, status, seconds, statements))
        if len(self._waiting) >= self._block:
            self._count()

    def _count(self) -> None:
        with self._lock:
            whole = [self._waiting.popleft() for _ in range(self._block)] if len(self._waiting) >= self._block else []
        for kind, status, seconds, statements in whole:
            self.seconds.labels(kind, f"{status // 100}xx").observe(seconds)
            self.statements.labels(kind).observe(statements)


class Sent(local):
    """How many statements this thread has sent."""

    statements = 0


SENT = Sent()
OF_VISITORS = Requests(VISITORS, "people without an account", block=BLOCK)
OF_STAFF = Requests("candor_staff", "staff and their programs", block=1)


def add(request: HttpRequest, *, status: int, seconds: float, statements: int) -> None:
    """Count a request that was answered."""
    if comes_as_staff(request):
        OF_STAFF.add("api" if request.path_info.startswith("/api/") else "pages", status, seconds, statements)
    else:
        OF_VISITORS.add("journey" if request.path_info.startswith("/s/") else "public", status, seconds, statements)


def collected() -> list[Metric]:
    """The numbers of all web processes."""
    if not settings.METRICS_PROCESSES:
        return list(REGISTRY.collect())
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return list(registry.collect())


def count_statements() -> None:
    """From now on, each connection of this process counts its statements."""
    look_at_statements(_counted, name=COUNTS_STATEMENTS)


def _counted(execute: Execute, sql: str, params: object, many: bool, context: object) -> object:
    SENT.statements += 1
    return execute(sql, params, many, context)
