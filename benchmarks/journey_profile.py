"""Where the time of a request goes: the journey walked inside one process, on production settings, PostgreSQL and Redis."""

from __future__ import annotations

import cProfile
import io
import os
import pstats
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from unittest import mock

import click

from benchmarks.journey_client import PACKED, Answer, Measured, Site, Visitor

WARM_UP, TIMED, PROFILED = 5, 40, 40
# Own time of functions, by where they live; the first that fits counts.
AREAS = {
    "/django/db/": "ORM (django.db)",
    "/psycopg": "psycopg",
    "/django/template/": "templates",
    "/django/utils/html": "templates",
    "/django/utils/safestring": "templates",
    "/django/utils/translation": "translation",
    "/gettext.py": "translation",
    "/django/middleware/csrf": "CSRF",
    "/django/core/signing": "signing",
    "/hmac.py": "signing",
    "/django/utils/crypto": "signing",
    "/django/urls/": "URLs",
    "/django/middleware/": "other middleware",
    "/django/contrib/": "sessions, users, messages",
    "/whitenoise/": "WhiteNoise",
    "/django/http/": "request and response",
    "/http/cookies": "request and response",
    "/django/": "other Django",
    "/platform/": "Candor",
    "/surveys/": "Candor",
    "/analysis/": "Candor",
    "/celery/": "queueing (Celery, Redis)",
    "/kombu/": "queueing (Celery, Redis)",
    "/redis/": "queueing (Celery, Redis)",
    "/amqp/": "queueing (Celery, Redis)",
    "~": "built-in functions (waiting for the database included)",
}


def run(site: Site, *, environment: Mapping[str, str]) -> None:
    """Print where the time goes: per request, per part of the program, and the functions that take most of it."""
    with mock.patch.dict(os.environ, environment):
        _run(site, folders=environment["PYTHONPATH"].split(os.pathsep))


def _run(site: Site, *, folders: list[str]) -> None:
    sys.path += folders
    import django

    django.setup()
    from django.core.handlers.wsgi import WSGIHandler

    application = WSGIHandler()
    walk = _walker(site, application)
    walk(WARM_UP)
    with stopwatches() as spent:
        measured = walk(TIMED, spent=spent)
    show_requests(measured, spent)
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    walk(PROFILED)
    profile.disable()
    show_profile(profile)


def _walker(site: Site, application: Any) -> Callable[..., Measured]:
    def walk(times: int, *, spent: Stopwatches | None = None) -> Measured:
        measured = Measured()
        visitor = Visitor(site=site, ask=lambda *request: _ask(application, site, spent, measured, *request), measured=measured)
        for _ in range(times):
            visitor.walk()
        return measured

    return walk


class Stopwatches:
    """Processor seconds by request and part. Time measured inside another measurement counts only for the inner one."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[int, str], float] = defaultdict(float)
        self.calls: Counter[tuple[int, str]] = Counter()
        self.request = 0
        self._running: list[list[Any]] = []

    def around(self, part: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        start = time.thread_time()
        self._running.append([part, 0.0])
        try:
            return function(*arguments, **options)
        finally:
            whole = time.thread_time() - start
            _, inner = self._running.pop()
            self.seconds[self.request, part] += whole - inner
            self.calls[self.request, part] += 1
            if self._running:
                self._running[-1][1] += whole


@contextmanager
def stopwatches() -> Iterator[Stopwatches]:
    """Time the database (statements and commits), templates and the queue while the block runs."""
    from celery.app.task import Task
    from django.db import connection
    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.template.base import Template

    spent, originals = Stopwatches(), []

    def time_calls(owner: Any, name: str, part: str) -> None:
        function = getattr(owner, name)
        originals.append((owner, name, function))
        setattr(owner, name, lambda *arguments, **options: spent.around(part, function, *arguments, **options))

    time_calls(BaseDatabaseWrapper, "_commit", "commits")
    time_calls(Template, "render", "templates")
    time_calls(Task, "apply_async", "queue")
    with connection.execute_wrapper(lambda execute, *arguments: spent.around("statements", execute, *arguments)):
        yield spent
    for owner, name, function in originals:
        setattr(owner, name, function)


def _ask(application: Any, site: Site, spent: Stopwatches | None, measured: Measured, method: str, cookies: str, body: bytes) -> Answer:
    requests = 15 if site.plainly else 9
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": site.path,
        "SCRIPT_NAME": "",
        "QUERY_STRING": "",
        "SERVER_NAME": site.host,
        "SERVER_PORT": str(site.port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": f"{site.host}:{site.port}",
        "HTTP_ACCEPT": "text/html",
        "HTTP_ACCEPT_LANGUAGE": "en",
        "HTTP_ACCEPT_ENCODING": "deflate",
        "HTTP_COOKIE": cookies,
        **({"HTTP_NEXT_PAGE": "wanted"} if method == "POST" and not site.plainly else {}),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
    }
    answered: list[Any] = []

    def start_response(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
        answered[:] = int(status[:3]), "\n".join(f"{name}: {value}" for name, value in headers).encode()

    if spent:
        spent.request = measured.request_count % requests
        response = spent.around("rest", application, environ, start_response)
    else:
        response = application(environ, start_response)
    content = b"".join(response)
    response.close()
    assert answered[0] < HTTPStatus.INTERNAL_SERVER_ERROR
    return answered[0], answered[1], zlib.decompress(content) if PACKED.search(answered[1]) else content


def show_requests(measured: Measured, spent: Stopwatches) -> None:
    """Per request: processor time by part, the time by the clock, and how many statements the database got."""
    parts = ("statements", "commits", "templates", "queue", "rest")
    click.echo(f"Milliseconds of processor time per request, in one process, mean of {TIMED}")
    click.echo(f"{'':>20} {'all':>8} " + " ".join(f"{part:>10}" for part in parts) + "   by the clock  number of statements")
    sums: Counter[str] = Counter()
    for number, (name, times) in enumerate(measured.requests.items()):
        row = {part: 1000 * spent.seconds[number, part] / TIMED for part in parts}
        row |= {"all": sum(row.values()), "clock": 1000 * sum(times) / TIMED, "number": spent.calls[number, "statements"] / TIMED}
        sums.update(row)
        _show_row(name, row, parts)
    _show_row("whole journey", sums, parts)


def _show_row(name: str, row: Mapping[str, float], parts: tuple[str, ...]) -> None:
    columns = " ".join(f"{row[part]:10.2f}" for part in parts)
    click.echo(f"{name:>20} {row['all']:8.2f} {columns}   {row['clock']:12.2f} {row['number']:6.1f}")


def show_profile(profile: cProfile.Profile) -> None:
    """Own time by area, then the functions with most time in them and below them. The profiler itself makes everything slower."""
    stats = pstats.Stats(profile)
    areas: Counter[str] = Counter()
    for (file, _line, _name), (_, _, own, _, _) in stats.stats.items():
        areas[next((area for part, area in AREAS.items() if part in file), "other libraries")] += own
    click.echo(f"\nOwn time under the profiler, ms per journey (all: {1000 * areas.total() / PROFILED:.1f})")
    for area, seconds in areas.most_common():
        click.echo(f"{1000 * seconds / PROFILED:8.2f}  {seconds / areas.total():5.1%}  {area}")
    for order, most in (("cumulative", 70), ("tottime", 30)):
        stats.sort_stats(order).print_stats(most)
