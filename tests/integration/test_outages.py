"""A database or Redis that is away, busy or full: 503 with a time to wait, a page that keeps what was typed, and nothing half written."""

import errno
import io
import logging
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import httpx
import psycopg
import pytest
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, IntegrityError, connection
from django.db import OperationalError as DatabaseAwayError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path, reverse
from rest_framework.decorators import api_view, permission_classes
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Role
from accounts.services import create_user
from audit.models import Entry
from config import urls as site
from config.outages import cache as fallback
from config.outages import told
from config.outages.causes import Outage, outage_of
from config.outages.waits import LOCK_SECONDS
from surveys.media.services import add_media_file
from surveys.models import MediaFile
from surveys.reading.apart import read_apart
from surveys.reading.readers import ARCHIVED_FILES, CAPTIONS
from tests.factories import LECTURES, draft_study, logged_in, person
from tests.processes import Site
from tests.services import free_port

PASSWORD = "a long and winding road"
GERMAN = {"accept": "text/html", "accept-language": "de-CH,de;q=0.9,en;q=0.5"}


def caused_by(cause: Exception, error: Exception) -> Exception:
    error.__cause__ = cause
    return error


def of_postgresql(state: str) -> Exception:
    return caused_by(psycopg.errors.lookup(state)("refused"), DatabaseError("refused"))


def of_sqlite(code: int) -> Exception:
    cause = sqlite3.OperationalError("refused")
    vars(cause)["sqlite_errorcode"] = code  # where the sqlite3 module puts it
    return caused_by(cause, DatabaseAwayError("refused"))


KNOWN: dict[str, tuple[Exception, Outage | None]] = {
    "no server": (caused_by(psycopg.OperationalError("connection refused"), DatabaseAwayError("connection refused")), Outage.AWAY),
    "ended by an administrator": (of_postgresql("57P01"), Outage.AWAY),
    "starting": (of_postgresql("57P03"), Outage.AWAY),
    "lost": (of_postgresql("08006"), Outage.AWAY),
    "too many connections": (of_postgresql("53300"), Outage.AWAY),
    "lock timeout": (of_postgresql("55P03"), Outage.BUSY),
    "deadlock": (of_postgresql("40P01"), Outage.BUSY),
    "statement timeout": (of_postgresql("57014"), Outage.BUSY),
    "full": (of_postgresql("53100"), Outage.FULL),
    "SQLite is locked": (of_sqlite(sqlite3.SQLITE_BUSY), Outage.BUSY),
    "SQLite is locked by a snapshot": (of_sqlite(sqlite3.SQLITE_BUSY_SNAPSHOT), Outage.BUSY),
    "SQLite is full": (of_sqlite(sqlite3.SQLITE_FULL), Outage.FULL),
    "SQLite's file is away": (of_sqlite(sqlite3.SQLITE_CANTOPEN), Outage.AWAY),
    "no room": (OSError(errno.ENOSPC, "No space left on device"), Outage.NO_ROOM_FOR_FILES),
    "a constraint": (caused_by(psycopg.errors.UniqueViolation("twice"), IntegrityError("twice")), None),
    "a missing column": (of_postgresql("42703"), None),
    "a missing table of SQLite": (of_sqlite(sqlite3.SQLITE_ERROR), None),
    "a missing file": (FileNotFoundError(errno.ENOENT, "No such file"), None),
    "a bug": (ZeroDivisionError(), None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_errors_that_time_heals_are_told_from_bugs(name: str) -> None:
    error, outage = KNOWN[name]
    assert outage_of(error) == outage


def test_a_full_sqlite_says_so_itself(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "small.sqlite3")) as small, small:
        small.execute("PRAGMA max_page_count = 4")
        small.execute("CREATE TABLE answers (text)")
        with pytest.raises(sqlite3.OperationalError) as caught:
            small.execute("INSERT INTO answers VALUES (?)", ("x" * 100_000,))
    assert outage_of(caused_by(caught.value, DatabaseAwayError("full"))) == Outage.FULL


def fail(request: HttpRequest, kind: str, slug: str = "") -> HttpResponse:
    if request.method == "POST" or "read" not in request.GET:
        raise KNOWN[kind][0]
    return HttpResponse()


@api_view(["GET"])
@permission_classes([AllowAny])
def fail_in_api(request: Request, kind: str) -> Response:
    raise KNOWN[kind][0]


class FailingMiddleware:
    """Stands in for whatever asks the database before a view is found."""

    def __init__(self, get_response: Any) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        raise KNOWN["no server"][0]


handler400, handler403, handler404, handler500 = site.handler400, site.handler403, site.handler404, site.handler500
urlpatterns = [
    path("fail/<str:kind>/", fail),
    path("s/<slug:slug>/fail/<str:kind>/", fail),
    path("api/v1/fail/<str:kind>/", fail_in_api),
    path("", include(site)),
]


@pytest.fixture
def browser() -> Client:
    return Client(raise_request_exception=False, headers={"accept": "text/html"})


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("kind", "status", "words"),
    [
        ("no server", 503, "This site is away for a moment"),
        ("too many connections", 503, "This site is away for a moment"),
        ("lock timeout", 503, "This site is very busy"),
        ("statement timeout", 503, "This site is very busy"),
        ("full", 503, "disk is full"),
        ("SQLite is full", 503, "disk is full"),
        ("no room", 507, "disk is full"),
    ],
)
def test_an_outage_is_no_bug_and_says_when_to_come_again(browser: Client, kind: str, status: int, words: str) -> None:
    """503 with Retry-After, no database asked (the test has none), in every form in which errors are told."""
    response = browser.get(f"/fail/{kind}/")
    assert (response.status_code, words in response.content.decode()) == (status, True)
    assert response.has_header("Retry-After") == (status == 503)
    assert response["Cache-Control"] == "no-store"
    problem = browser.get(f"/api/v1/fail/{kind}/", headers={"accept": "application/json"})
    assert (problem.status_code, problem["Content-Type"]) == (status, "application/problem+json")
    assert problem.has_header("Retry-After") == (status == 503)
    assert "Wait" in problem.json()["advice"] or "administrators" in problem.json()["detail"] + problem.json()["advice"]


@pytest.mark.urls(__name__)
def test_a_bug_is_still_a_bug(browser: Client) -> None:
    assert browser.get("/fail/a bug/").status_code == 500
    assert browser.get("/fail/a constraint/").status_code == 500


@pytest.mark.urls(__name__)
def test_an_outage_before_any_view_is_one_too(browser: Client, settings: Any) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.FailingMiddleware"]
    response = browser.get("/fail/bug/")
    assert (response.status_code, response["Retry-After"]) == (503, "3")


@pytest.mark.urls(__name__)
def test_the_page_speaks_german(browser: Client) -> None:
    page = browser.get("/fail/no server/", headers=GERMAN)
    assert "Diese Seite ist gerade nicht erreichbar" in page.content.decode()
    assert '<html lang="de">' in page.content.decode()


@pytest.mark.urls(__name__)
def test_what_staff_typed_is_on_the_page_and_can_be_sent_again(browser: Client) -> None:
    typed = 'She said: "1 < 2 & 3"\nÄußerung'
    page = browser.post("/fail/lock timeout/?read=1", {"title": typed, "share": ["1", "2"], "empty": ""}).content.decode()
    assert 'action="/fail/lock%20timeout/?read=1"' in page
    assert "Send again" in page
    assert "She said: &quot;1 &lt; 2 &amp; 3&quot;\nÄußerung</textarea>" in page
    assert page.count('name="share"') == 2
    assert 'name="empty"' in page
    assert 'name="csrfmiddlewaretoken"' in page


@pytest.mark.urls(__name__)
def test_passwords_and_files_are_not_written_on_the_page(browser: Client) -> None:
    sent = {
        "login": "ada",
        "password": "hunter-22",
        "new_password1": "hunter-23",
        "code": "123456",
        "client_secret": "hunter-24",
        "content": SimpleUploadedFile("plan.yaml", b"hunter-25"),
    }
    page = browser.post("/fail/no server/", sent).content.decode()
    assert "ada" in page
    for secret in ("hunter", "123456", "plan.yaml", "Send again"):
        assert secret not in page
    assert "Open the page anew" in page


@pytest.mark.urls(__name__)
def test_a_participants_answers_are_sent_again_and_not_shown(browser: Client) -> None:
    page = browser.post("/s/study/fail/no server/", {"step": "questions", "answer-copied": "1"}).content.decode()
    assert '<input type="hidden" name="answer-copied" value="1">' in page
    assert "<textarea" not in page
    assert "Send again" in page


@pytest.mark.urls(__name__)
def test_the_log_tells_of_an_outage_once(browser: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_told", {})
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            browser.get("/fail/no server/")
    assert len(caplog.records) == 1
    assert "away" in caplog.text


def test_a_full_disk_leaves_no_half_of_a_file(db: None, media_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(chunk_size: int | None = None) -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    study = draft_study()
    before = {file for file in media_root.rglob("*") if file.is_file()}
    picture = ContentFile(b"\x89PNG\r\n\x1a\n" + b"0" * 100)
    monkeypatch.setattr(picture, "chunks", half)
    picture.size = 6_000_000  # as large as what is stored in pieces
    with pytest.raises(OSError, match="No space"):
        add_media_file(study, name="poster.png", content=picture, actor=study.owner)
    assert {file for file in media_root.rglob("*") if file.is_file()} == before
    assert not MediaFile.objects.filter(name="poster.png").exists()


def full() -> IO[bytes]:
    return Path("/dev/full").open("r+b", buffering=0)


def test_a_full_disk_is_no_damage_of_the_file_that_is_read(media_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the reader's answer has no room, nor where files of an archive have none."""
    captions = LECTURES / "captions-en.vtt"
    with captions.open("rb") as content, monkeypatch.context() as patched:
        patched.setattr("surveys.reading.apart.TemporaryFile", full)
        with pytest.raises(OSError, match="No space left"):
            read_apart(content, reader=CAPTIONS)
    with captions.open("rb") as content:
        assert read_apart(content, reader=CAPTIONS)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("captions-en.vtt", "WEBVTT")
    (media_root / "0").symlink_to("/dev/full")  # where the first file of the archive goes
    with pytest.raises(OSError, match="No space left"):
        read_apart(packed.getvalue(), reader=ARCHIVED_FILES, source="study.zip", numbers=[0], folder=str(media_root))


@pytest.mark.parametrize("way", ["surveys:build_archive", "surveys:api_archive"])
def test_a_study_that_cannot_be_packed_is_no_half_of_a_file_and_no_entry_in_the_log(
    db: None, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = draft_study()
    client = logged_in(study.owner)
    client.raise_request_exception, entries = False, Entry.objects.count()
    monkeypatch.setattr("surveys.studies.exchange.TemporaryFile", full)
    assert client.get(reverse(way, args=[study.slug])).status_code == 507
    assert Entry.objects.count() == entries


@pytest.fixture
def no_redis(settings: Any) -> Iterator[None]:
    """The cache of production, and nobody at its address."""
    there = f"redis://127.0.0.1:{free_port()}/0"
    backend = "config.outages.cache.CacheThatFallsBack"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": there, "OPTIONS": {"socket_connect_timeout": 0.5}}}
    yield
    fallback.CacheThatFallsBack._rests_until.clear()


def test_staff_can_log_in_while_redis_is_away(db: None, no_redis: None, client: Client) -> None:
    create_user(username="ada", password=PASSWORD, role=Role.INVESTIGATOR)
    response = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD})
    assert (response.status_code, response["Location"]) == (302, "/start/")
    assert client.get("/studies/").status_code == 200


def test_what_the_throttles_count_is_counted_without_redis(db: None, no_redis: None) -> None:
    cache.add("failures", 0, 60)
    assert [cache.incr("failures") for _ in range(3)] == [1, 2, 3]
    assert cache.get("failures") == 3
    with pytest.raises(ValueError, match="not found"):
        cache.incr("never-set")


def test_no_page_of_staff_needs_redis(db: None, no_redis: None) -> None:
    administrator = logged_in(person(Role.ADMINISTRATOR))
    for address in ("/work/", "/log/", "/studies/", "/api/v1/studies/", "/accounts/"):
        assert administrator.get(address).status_code == 200, address
    health = administrator.get("/healthz")
    assert health.status_code == 503
    assert health.json()["worker"] == "unknown: the cache does not answer"


def test_an_absent_redis_is_asked_once_in_five_seconds(no_redis: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = fallback.RedisCache.get
    monkeypatch.setattr(fallback.RedisCache, "get", lambda self, key, *values: asked.append(key) or ask(self, key, *values))
    for _ in range(10):
        cache.get("something")
    assert len(asked) == 1


@pytest.mark.usefixtures("postgresql")
def test_a_lock_that_somebody_holds_gives_a_page_in_time() -> None:
    """As in a web process, whose connections wait `LOCK_SECONDS`; before, the page waited for as long as the lock was held."""
    client = logged_in(person(Role.INVESTIGATOR))
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '200ms'")
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], dbname=settings["NAME"], user=settings["USER"], autocommit=False
    ) as other:
        other.execute("LOCK TABLE surveys_study IN ACCESS EXCLUSIVE MODE")
        response = client.get("/studies/", headers={"accept": "text/html"})
        other.rollback()
    with connection.cursor() as cursor:
        cursor.execute("RESET lock_timeout")
    assert (response.status_code, response["Retry-After"]) == (503, "3")
    assert client.get("/studies/").status_code == 200


def test_a_site_without_its_database_says_so_everywhere_and_recovers(production_site: Site) -> None:
    """No page with status 500 while PostgreSQL refuses connections, holds locks or has none left; and web connections have bounds."""
    name = production_site.environment["DATABASE_URL"].rsplit("/", 1)[1]
    server = production_site.environment["DATABASE_URL"].rsplit("/", 1)[0] + "/postgres"
    pages = ["/accounts/login/", "/s/any/", "/studies/", "/data/", "/api/v1/releases/", "/s/any/withdraw/"]
    with psycopg.connect(server, autocommit=True) as administrator, httpx.Client(base_url=production_site.url) as client:
        client.cookies.set("sessionid", "a" * 32)
        assert client.get("/s/any/").status_code == 404
        administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        answers = [client.get(address) for address in pages for _ in range(8)]
        assert {answer.status_code for answer in answers} <= {200, 302, 503}
        assert sum(answer.status_code == 503 for answer in answers) > 16
        assert all(answer.headers["Retry-After"] == "3" for answer in answers if answer.status_code == 503)
        administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())
        assert client.get("/s/any/").status_code == 404
    later = [httpx.get(f"{production_site.url}/s/any/").status_code for _ in range(60)]
    assert later.count(503) <= 2, "of the threads of both processes, one in each finds out by a failure"
    with psycopg.connect(production_site.environment["DATABASE_URL"]) as locker:
        locker.execute("LOCK TABLE surveys_study IN ACCESS EXCLUSIVE MODE")
        start = time.monotonic()
        answer = httpx.get(f"{production_site.url}/s/any/")
        assert answer.status_code == 503
        assert time.monotonic() - start > LOCK_SECONDS - 1
        locker.rollback()
    assert "Traceback" not in production_site.log()


def test_a_stamped_log_tells_of_no_participant(db: None) -> None:
    """A container stamps each line; those of a finished participant's work and of a mistyped link were such lines."""
    from django.conf import settings

    stream = io.StringIO()
    logging.config.dictConfig({**settings.LOGGING, "handlers": {"console": {**settings.LOGGING["handlers"]["console"], "stream": stream}}})
    try:
        Client(raise_request_exception=False).get("/s/some-study/")
        logging.getLogger("celery.worker.strategy").info("Task jobs.tasks.work[1] received")
        logging.getLogger("celery.app.trace").info("Task jobs.tasks.work[1] succeeded in 0.1s")
        assert stream.getvalue() == ""
        Client(raise_request_exception=False).get("/no-such-page/")
        assert "404" in stream.getvalue()
    finally:
        logging.config.dictConfig(settings.LOGGING)
