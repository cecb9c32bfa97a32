"""Candor on two hosts, for tests: their processes have PostgreSQL behind PgBouncer, Redis and an object store in common, and nothing else.

Each host has folders of its own for everything that it writes. The database is that of the tests, so that a test sees and changes what the
hosts see.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import redis
from celery import Celery
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.client import FakePayload
from django.utils import timezone

from analysis.models import Run, RunStatus
from analysis.news.tokens import token_for_results
from analysis.news.versions import version_of_results
from jobs import tasks
from jobs.models import Routine
from jobs.tasks import send_now
from surveys.models import Study
from tests.object_store import object_store
from tests.pools import Pool, pool_before
from tests.processes import Site, built, wait_for_push
from tests.services import free_port

NAMES = ("one", "other")
SESSION, CSRF = "__Host-sessionid", "__Host-csrftoken"
HOST, ANY_TOKEN = "127.0.0.1", "t" * 32
FEW_REPLICATES = """
import django
django.setup()
from analysis.runs import full_results, resampling
full_results.REPLICATES = resampling.REPLICATES = 50
from config.celery import app
app.worker_main(["worker", "--concurrency", "1", "--loglevel", "warning"])
"""
"""A worker's program. Nobody looks at the intervals."""


@dataclass(kw_only=True)
class Hosts:
    """The sites by host; the process `push` belongs to the first. `pool` is PgBouncer."""

    sites: tuple[Site, Site]
    pool: Pool
    push: int
    network: httpx.HTTPTransport

    @property
    def redis(self) -> str:
        return self.sites[0].environment["REDIS_URL"]

    def logs(self) -> dict[str, list[str]]:
        """The lines of each process's log, and of PgBouncer's."""
        found = {
            f"log of {process} on host {name}": site.log(process).splitlines()
            for name, site in zip(NAMES, self.sites, strict=True)
            for process in site.commands
        }
        return {**found, "log of PgBouncer": self.pool.log().splitlines()}

    def in_redis(self) -> dict[str, list[str]]:
        """Everything in Redis, by key."""
        kinds = {b"string": "get", b"list": "lrange", b"hash": "hgetall", b"set": "smembers", b"zset": "zrange"}
        found = {}
        with redis.Redis.from_url(self.redis) as broker:
            for key in broker.scan_iter():
                kind = broker.type(key)
                ends = (0, -1) if kind in (b"list", b"zset") else ()
                found[key.decode(errors="replace")] = [repr(getattr(broker, kinds[kind])(key, *ends))] if kind in kinds else []
        return found

    def does(self, routine: str, *, seconds: float = 60) -> None:
        """Let a worker do now what it does at intervals."""
        send_now(routine)
        deadline = time.monotonic() + seconds
        while not Routine.objects.filter(pk=routine, holder=None, due_at__gt=timezone.now()).exists():
            assert time.monotonic() < deadline, f"{routine} not within {seconds:g} s: {self.sites[0].log('worker')[-2000:]}"
            time.sleep(0.05)

    def settle(self, *, seconds: float = 60) -> None:
        """Return when no computation waits or runs."""
        deadline = time.monotonic() + seconds
        while Run.objects.filter(status__in=(RunStatus.QUEUED, RunStatus.RUNNING)).exists():
            if time.monotonic() > deadline:
                runs = list(Run.objects.order_by("-pk").values_list("kind", "status", "error")[:4])
                pytest.fail(f"not within {seconds:g} s: {runs}, {self.sites[0].log('worker')[-2000:]}")
            time.sleep(0.05)


@contextmanager
def two_hosts(folder: Path, *, like: Site) -> Iterator[Hosts]:
    """Two hosts, each with web and worker, that serve the tests' database."""
    database = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{connection.settings_dict['NAME']}"
    with ExitStack() as stack:
        pool = stack.enter_context(pool_before(database))
        store = stack.enter_context(object_store(folder / "store"))
        sites, push = [], free_port()
        for name in NAMES:
            site = stack.enter_context(built(folder / name, like=like))
            site.environment |= {
                **pool.variables("candor_web"),
                **store.environment,
                "CANDOR_MEDIA_URL": store.address(),
                "MEDIA_ROOT": str(folder / "media"),
                "SECRET_KEY": settings.SECRET_KEY,
                "PUSH": "1",
                "LANGUAGES_FOLDER": str(folder / name / "languages"),
                "TMPDIR": str(folder / name / "tmp"),
                "HOME": str(folder / name),
                "METRICS_TOKEN": "a token of the tests for metrics",
                "PROMETHEUS_MULTIPROC_DIR": str(folder / name / "metrics"),
            }
            for own in ("languages", "tmp", "metrics"):
                (folder / name / own).mkdir()
            web = site.commands["web"]
            web[web.index("--workers") + 1], web[web.index("--blocking-threads") + 1] = "1", "4"
            site.commands["worker"] = ["-c", FEW_REPLICATES]
            site.alone = dict.fromkeys(("worker", "beat"), pool.variables("candor_work"))
            sites.append(site)
        del sites[1].commands["beat"]
        sites[0].commands["push"] = ["manage.py", "push", "--port", str(push)]
        with redis.Redis.from_url(sites[0].environment["REDIS_URL"]) as broker:
            broker.flushdb()
        for site in sites:
            for process in site.commands:
                site.launch(process)
        for site in sites:
            site.wait_until_ready()
        wait_for_push(push)
        network = httpx.HTTPTransport()
        stack.callback(network.close)
        yield Hosts(sites=(sites[0], sites[1]), pool=pool, push=push, network=network)


@contextmanager
def running_instead(site: Site, application: str) -> Iterator[None]:
    """Let the web process of a host run another application during the block."""
    own = site.commands["web"][-1]
    try:
        _run(site, application)
        yield
    finally:
        _run(site, own)


def _run(site: Site, application: str) -> None:
    site.stop("web")
    site.commands["web"][-1] = application
    site.start("web")


@contextmanager
def messages_to(hosts: Hosts) -> Iterator[None]:
    """Let what the test itself asks workers to do reach those of the hosts."""
    with Celery(broker=hosts.redis, set_as_current=False) as app, pytest.MonkeyPatch.context() as patch:

        def send(args: tuple[str, str], *, countdown: float, **options: Any) -> None:
            app.send_task("jobs.tasks.work", args=args, countdown=countdown, **options)

        patch.setattr(tasks.work, "apply_async", send)
        yield


class OverTheNetwork:
    """A test client asks this in place of the application: the hosts, one request each in turn."""

    def __init__(self, network: httpx.HTTPTransport, urls: Sequence[str]) -> None:
        self.network, self.turn = network, cycle(urls)

    def __call__(self, environ: dict[str, Any]) -> HttpResponse:
        url = next(self.turn)
        headers = {name[5:].replace("_", "-"): value for name, value in environ.items() if name.startswith("HTTP_")}
        cookies = SimpleCookie(headers.pop("COOKIE", ""))
        given = {name: morsel.value for name, morsel in cookies.items() if morsel.value}
        given = {SESSION if name == settings.SESSION_COOKIE_NAME else name: value for name, value in given.items()}
        token = given.setdefault(CSRF, ANY_TOKEN)  # a form's own field comes first
        headers |= {"X-CSRFToken": token, "Cookie": "; ".join(f"{name}={value}" for name, value in given.items())}
        headers |= {"Content-Type": environ.get("CONTENT_TYPE", ""), "Host": HOST, "Referer": f"https://{HOST}/"}
        sent: FakePayload = environ["wsgi.input"]
        path = quote(environ["PATH_INFO"].encode("latin-1"))
        asked = httpx.Request(
            environ["REQUEST_METHOD"],
            f"{url}{path}?{environ.get('QUERY_STRING', '')}".removesuffix("?"),
            content=sent.read(int(environ.get("CONTENT_LENGTH") or 0)),
            headers={**headers, "X-Forwarded-Proto": "https"},
        )
        answer = self.network.handle_request(asked)
        response = HttpResponse(answer.read(), status=answer.status_code)
        for name, value in answer.headers.multi_items():
            if name == "set-cookie":
                response.cookies.load(value)
            elif name not in ("content-length", "content-encoding", "transfer-encoding", "connection"):
                response[name] = value
        response.wsgi_request = None
        return response


def browser(hosts: Hosts, *only: int) -> Client:
    """A browser, each request of which goes to the next host; or to these."""
    client = Client()
    client.handler = OverTheNetwork(hosts.network, [hosts.sites[number].url for number in only or (0, 1)])
    return client


@dataclass
class Observer(threading.Thread):
    """Somebody who listens to what `push` says of one study, on one connection."""

    hosts: Hosts
    study: Study
    said: list[tuple[str, float]] = field(default_factory=list)
    """Each version, and when it came."""

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.listens = threading.Event()
        self.query = {"token": token_for_results(self.study.pk), "since": version_of_results(self.study)}

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        event, address = "", f"http://127.0.0.1:{self.hosts.push}/events/"
        with suppress(httpx.RemoteProtocolError), httpx.stream("GET", address, params=self.query, timeout=300) as stream:
            assert stream.status_code == 200, stream.status_code
            self.listens.set()
            for line in stream.iter_lines():
                name, _colon, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "data" and event == "news":
                    self.said.append((value, time.time()))

    def __enter__(self) -> "Observer":
        self.start()
        assert self.listens.wait(20)
        return self

    def __exit__(self, *_error: object) -> None:
        """The connection ends with the process at its other end."""
