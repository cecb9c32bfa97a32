"""Nobody fills the disk without a login: 64 kB by default, more only at named addresses and only from people who are known."""

import contextlib
import io
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Role, TokenScope
from accounts.services import issue_token
from config.body_sizes import FILES, LARGER, REFUSED, SMALL, TEXTS, most_at
from tests.factories import draft_study, logged_in, person
from tests.processes import Site, embedded, production

HUGE = 600 * 1000 * 1000
MEGABYTE = 1024**2
UPLOADS = ("/import-study/", "/studies/lecture-videos/build/arms/slides/", "/api/v1/studies/lecture-videos/media/")


class Counted(io.RawIOBase):
    """A body of any length that counts how much of it was read."""

    def __init__(self, length: int) -> None:
        self.left, self.was_read = length, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = min(self.left, MEGABYTE if size < 0 else size)
        self.left -= size
        self.was_read += size
        return b"0" * size


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """The handler below leaves the test's connection open, as Django's own client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def send(path: str, *, length: int, **headers: str) -> tuple[int, Counted, str]:
    """Status, body and page of a request to the application as a WSGI server sends it."""
    body = Counted(length)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": "multipart/form-data; boundary=x",
        "CONTENT_LENGTH": str(length),
        "wsgi.input": body,
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
        "HTTP_ACCEPT": "text/html",
        **headers,
    }
    found: list[int] = []
    answer = WSGIHandler()(environ, lambda status, headers, exc_info=None: found.append(int(status.split()[0])))
    page = b"".join(answer).decode(errors="replace")
    return found[0], body, page


def session_of(client: Client) -> str:
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/s/lecture-videos/", "/accounts/login/", "/no/such/page/", "/studies/", "/api/v1/releases/", "/healthx"]
)
def test_large_bodies_are_refused_everywhere_and_not_read(path: str) -> None:
    status, body, page = send(path, length=HUGE)
    assert (status, body.was_read) == (413, 0)
    assert "64 kB" in page
    assert send(path, length=SMALL + 1)[1].was_read == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "language", "said"),
    [
        ("/accounts/login/", "de", "Erwartet wurden höchstens 64 kB, gekommen sind 97.656 kB. Nichts davon wurde behalten."),
        ("/s/lecture-videos/", "de", "Erwartet wurden höchstens 64 kB, gekommen sind 97.656 kB. Nichts davon wurde behalten."),
        ("/s/lecture-videos/", "fr", "64 Ko"),
        ("/s/lecture-videos/", "ar", "64 كيلوبايت"),
        ("/accounts/login/", "fr", "Expected at most 64 kB, found 97,656 kB."),
    ],
)
def test_the_page_says_how_much_in_the_language_of_its_reader(path: str, language: str, said: str) -> None:
    """The sentence was put together before the language was known."""
    _status, _body, page = send(path, length=99_999_999, HTTP_ACCEPT_LANGUAGE=language)
    assert said in page.replace("\u202f", " ").replace("\xa0", " ")
    assert f'<html lang="{"en" if said.startswith("Expected") else language}"' in page


@pytest.mark.django_db
@pytest.mark.parametrize(("announced", "expected"), [("9" * 5000, 413), ("0" * 5000 + str(HUGE), 413), ("0" * 5000, 404)])
def test_a_length_of_thousands_of_digits_is_read_as_any_other(announced: str, expected: int) -> None:
    status, body, _page = send("/no/such/page/", length=HUGE, CONTENT_LENGTH=announced)
    assert (status, body.was_read) == (expected, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("path", [*UPLOADS, "/studies/lecture-videos/codes/", "/api/v1/studies/"])
@pytest.mark.parametrize(
    "headers", [{}, {"HTTP_COOKIE": "sessionid=" + "a" * 32}, {"HTTP_AUTHORIZATION": "Bearer made-up"}, {"HTTP_AUTHORIZATION": "Bearer"}]
)
def test_a_stranger_is_refused_before_anything_is_read(path: str, headers: dict[str, str]) -> None:
    status, body, page = send(path, length=SMALL + 1, **headers)
    assert (status, body.was_read) == (403, 0)
    assert "logged in" in page


@pytest.mark.django_db
def test_staff_can_upload_a_lecture_by_session_and_by_token() -> None:
    study = draft_study()
    client = Client()
    client.force_login(study.owner)
    path = f"/studies/{study.slug}/build/arms/slides/"
    cookies = f"{session_of(client)}; csrftoken={'a' * 32}"
    status, body, _page = send(path, length=3 * MEGABYTE, HTTP_COOKIE=cookies)
    assert body.was_read > 0  # Django looked for the token that protects the form, and found no form at all
    assert status in {400, 403}
    secret = issue_token(user=study.owner, name="script", scope=TokenScope.WRITE, days=1)
    status, body, _page = send(
        f"/api/v1/studies/{study.slug}/media/", length=3 * MEGABYTE, HTTP_AUTHORIZATION=f"Bearer {secret}", HTTP_ACCEPT="*/*"
    )
    assert (status, body.was_read > 0) == (400, True)
    status, body, _page = send(path, length=FILES + 1, HTTP_COOKIE=session_of(client))
    assert (status, body.was_read) == (413, 0)


@pytest.mark.django_db
def test_a_session_that_ended_counts_for_nothing() -> None:
    client = logged_in(person(Role.INVESTIGATOR))
    cookie = session_of(client)
    client.logout()
    assert send("/import-study/", length=HUGE, HTTP_COOKIE=cookie)[0] == 403


@pytest.mark.django_db
def test_a_body_without_a_length_is_refused() -> None:
    status, body, _page = send("/s/lecture-videos/", length=HUGE, CONTENT_LENGTH="", HTTP_TRANSFER_ENCODING="chunked")
    assert (status, body.was_read) == (411, 0)


def test_no_other_address_takes_much() -> None:
    """Each address that takes more than 64 kB is in the list, and none of a participant is."""
    sizes: dict[str, int] = {}

    def collect(patterns: list[URLPattern | URLResolver], before: str) -> None:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                collect(pattern.url_patterns, before + str(pattern.pattern))
            else:
                sizes[before + str(pattern.pattern)] = most_at("/" + example_of(before + str(pattern.pattern)))

    collect(get_resolver().url_patterns, "")
    files = {route for route, most in sizes.items() if most == FILES}
    of_api = {"api/v1/studies/<slug:slug>/media/", "api/v1/studies/<slug:slug>/arms/<str:arm>/files/", "api/v1/import-study/"}
    assert files == {"studies/<slug:slug>/build/arms/<slug:arm>/", "import-study/", *of_api}
    assert [
        route for route, most in sizes.items() if most == TEXTS and route.startswith(("s/", "accounts/", "invitations/", "admin/"))
    ] == []
    assert sizes["s/<slug:slug>/"] == SMALL
    assert sizes["api/v1/power/"] == TEXTS


def example_of(route: str) -> str:
    for converter in ("slug:slug", "slug:arm", "slug:part", "slug:name", "str:arm", "slug:action"):
        route = route.replace(f"<{converter}>", "example")
    return route


def test_nginx_names_the_same_addresses_and_sizes() -> None:
    nginx = (Path(settings.BASE_DIR) / "deployment" / "nginx.conf").read_text()
    for address, most in LARGER:
        pattern = address.pattern.replace(r"[-\w]+", "[^/]+")
        assert f"location ~ ^{pattern}$" in nginx
        assert f"client_max_body_size {most // MEGABYTE}m;" in nginx
    assert f"client_max_body_size {SMALL // 1024}k;" in nginx


def upload(site: Site, path: str, *, headers: str = "", chunked: bool = False) -> tuple[int, int, str]:
    """Stream 600 MB: the bytes that were taken before the server ended it, the largest file that it held meanwhile, and its answer."""
    sent, largest = 0, 0
    with socket.create_connection(("127.0.0.1", site.port), timeout=60) as connection:
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {HUGE}"
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        connection.sendall(f"{head}{length}\r\n{headers}\r\n".encode())
        part = b"0" * MEGABYTE
        frame = (f"{MEGABYTE:x}\r\n".encode() + part + b"\r\n") if chunked else part
        time.sleep(0.5)
        connection.settimeout(1)
        with contextlib.suppress(OSError):
            while sent < HUGE:
                connection.sendall(frame)
                sent += MEGABYTE
                largest = max(largest, bytes_in_files_of(site))
        largest = max(largest, bytes_in_files_of(site))
        answer = b""
        connection.settimeout(60)
        with contextlib.suppress(OSError):
            answer = connection.recv(4096)
    return sent, largest, answer.decode(errors="replace")


def bytes_in_files_of(site: Site) -> int:
    """The bytes in temporary files that the web process holds open (they have no name any more)."""
    total = 0
    session = os.getsid(site.processes["web"].pid)
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if not process.name.isdigit() or os.getsid(int(process.name)) != session:
                continue
            for descriptor in (process / "fd").iterdir():
                target = os.readlink(descriptor)
                if "(deleted)" in target or target.startswith("/tmp/tmp"):
                    total += descriptor.stat().st_size
    return total


@pytest.mark.parametrize("path", ["/import-study/", "/s/lecture-videos/"])
@pytest.mark.parametrize(("headers", "chunked"), [("", False), ("", True), ("Cookie: sessionid=" + "a" * 32 + "\r\n", False)])
def test_600_megabytes_without_a_session_end_early_in_the_embedded_server(
    embedded_site_of_file: Site, path: str, headers: str, chunked: bool
) -> None:
    sent, largest, _answer = upload(embedded_site_of_file, path, headers=headers, chunked=chunked)
    assert largest < MEGABYTE
    assert sent < 32 * MEGABYTE  # what the system's buffers hold


@pytest.mark.parametrize(
    ("path", "length", "status", "said"),
    [
        ("/s/lecture-videos/", "Content-Length: 99999999", 413, "Expected at most 64 kB, found 97,656 kB."),
        ("/import-study/", "Content-Length: 99999", 403, "This much can be sent only by somebody who is logged in."),
        ("/api/v1/studies/", "Transfer-Encoding: chunked", 413, "This is more than can be sent here"),
        ("/api/v1/studies/", "Content-Length: 5\r\nTransfer-Encoding: chunked", 413, "This is more than can be sent here"),
    ],
)
def test_the_embedded_server_leaves_the_words_to_candor(
    embedded_site_of_file: Site, path: str, length: str, status: int, said: str
) -> None:
    with socket.create_connection(("127.0.0.1", embedded_site_of_file.port), timeout=60) as connection:
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n{length}\r\n\r\n".encode())
        if "chunked" in length:
            connection.sendall(f"{SMALL + 1:x}\r\n".encode() + b"0" * (SMALL + 1))
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert answer.startswith(f"HTTP/1.1 {status} ")
    assert "Connection: close" in answer
    assert said in answer


@pytest.mark.django_db
@pytest.mark.parametrize("length", ["", "5", str(3 * MEGABYTE)])
def test_what_the_server_refused_is_never_taken_for_a_whole_body(length: str) -> None:
    cookie = session_of(logged_in(person(Role.INVESTIGATOR)))
    status, body, _page = send("/import-study/", length=0, CONTENT_LENGTH=length, HTTP_COOKIE=cookie, **{REFUSED: "1"})
    assert (status in {403, 413}, body.was_read) == (True, 0)


@pytest.fixture(scope="module")
def embedded_site_of_file(tmp_path_factory: pytest.TempPathFactory, migrated_folder: Path) -> Iterator[Site]:
    with embedded(tmp_path_factory.mktemp("bodies") / "var", like=migrated_folder) as site:
        yield site


@pytest.fixture(scope="module")
def production_site_of_file(tmp_path_factory: pytest.TempPathFactory, built_site: Site) -> Iterator[Site]:
    with production(tmp_path_factory.mktemp("bodies"), like=built_site) as site:
        yield site


@pytest.mark.parametrize("path", ["/import-study/", "/s/lecture-videos/"])
def test_600_megabytes_without_a_session_end_early_in_production(production_site_of_file: Site, path: str) -> None:
    site = production_site_of_file
    before = site.resident_megabytes()
    for chunked in (False, True):
        sent, largest, answer = upload(site, path, chunked=chunked)
        assert largest < MEGABYTE
        assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 413", "HTTP/1.1 411")), answer
        assert sent < 64 * MEGABYTE
    assert site.resident_megabytes() - before < 64
