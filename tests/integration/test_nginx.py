"""The committed nginx configuration, in a real nginx, in front of an application that hands files over as ours does."""

import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from django.utils.translation import override
from lxml import html

from config.body_sizes import TOO_LARGE
from config.error_responses import OUTAGES, PROBLEM_JSON, TOO_MANY, problem_details
from config.outages.causes import Outage
from tests.nginx import CONFIGURATION, running_nginx

LECTURE = bytes(range(256)) * 64
PERSONAL_LINK = "/s/lecture-videos/r/a-personal-token"


PAGE = b"<p>the same words again and again</p>" * 100


class Application(BaseHTTPRequestHandler):
    """Stands in for Candor: remembers what reached it, and hands every `/v/…` over to nginx."""

    server: "Web"

    def do_GET(self) -> None:
        self.server.seen.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(404 if self.path.endswith(self.server.lacks) else 200)
        if self.path.startswith("/v/"):
            self.send_header("X-Accel-Redirect", "/protected-media/videos/lecture.webm")
            self.send_header("Content-Type", "video/webm")
        content = PAGE if self.path.endswith((".css", "/words/")) else b""
        if content:
            self.send_header("Content-Type", "text/css" if self.path.endswith(".css") else "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        if "X-Refuse" in self.headers:
            self.close_connection = True
            self.send_response(int(self.headers["X-Refuse"]))
            self.send_header("Content-Length", "0")
            self.end_headers()
            self._linger()
            return
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def _linger(self) -> None:
        """Reads until the other side hangs up: a connection closed over unread bytes is reset, and the answer can be lost with it."""
        self.connection.shutdown(socket.SHUT_WR)
        while self.connection.recv(65536):
            pass

    def log_message(self, format: str, *args: object) -> None:
        """No output: the test reads nginx's log."""


class Web(ThreadingHTTPServer):
    """The web server behind nginx, with the headers of all requests that it has seen. It lacks pages that end in one of `lacks`."""

    lacks: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Application)
        self.seen: list[dict[str, str]] = []


@dataclass
class Proxy:
    client: httpx.Client
    address: tuple[str, int]
    trusting: ssl.SSLContext
    plain_address: str
    log: Path
    seen: list[dict[str, str]]

    def logged(self, room: str) -> list[str]:
        """The lines of the access log about a room, once there are any."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if found := [line for line in self.log.read_text().splitlines() if room in line]:
                return found
            time.sleep(0.02)
        return []


@pytest.fixture
def application() -> Iterator[Web]:
    server = Web()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def proxy(application: Web, tmp_path: Path) -> Iterator[Proxy]:
    (tmp_path / "media" / "videos").mkdir(parents=True)
    (tmp_path / "media" / "videos" / "lecture.webm").write_bytes(LECTURE)
    with running_nginx(tmp_path, web_ports=[application.server_port]) as nginx:
        trusting = nginx.trusting()
        with httpx.Client(base_url=nginx.url, verify=trusting) as client:
            yield Proxy(
                client,
                ("127.0.0.1", nginx.port),
                trusting,
                f"http://127.0.0.1:{nginx.plain_port}",
                tmp_path / "access.log",
                application.seen,
            )


def test_a_lecture_is_sent_from_disk_in_the_ranges_that_a_browser_asks_for(proxy: Proxy) -> None:
    whole = proxy.client.get("/v/token")
    assert (whole.status_code, whole.content, whole.headers["content-type"]) == (200, LECTURE, "video/webm")
    part = proxy.client.get("/v/token", headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content, part.headers["content-range"]) == (206, LECTURE[100:200], f"bytes 100-199/{len(LECTURE)}")
    assert proxy.client.get("/v/token", headers={"Range": "bytes=999999-"}).status_code == 416


def test_nobody_can_ask_for_a_stored_file_directly(proxy: Proxy) -> None:
    assert proxy.client.get("/protected-media/videos/lecture.webm").status_code == 404
    assert proxy.client.get("/protected-media/../protected-media/videos/lecture.webm").status_code == 404
    assert proxy.seen == []


def test_the_application_learns_the_scheme_and_the_host_and_not_the_address(proxy: Proxy) -> None:
    proxy.client.get("/", headers={"X-Forwarded-For": "203.0.113.7", "X-Request-ID": "abc", "X-Forwarded-Proto": "http"})
    (headers,) = proxy.seen
    assert headers["x-forwarded-proto"] == "https"
    assert headers["host"] == "{}:{}".format(*proxy.address)
    assert {"x-forwarded-for", "x-real-ip", "x-request-id"} & set(headers) == set()
    assert "203.0.113.7" not in str(headers)


def test_the_log_holds_the_hour_and_no_address_link_or_browser(proxy: Proxy) -> None:
    proxy.client.get(
        f"{PERSONAL_LINK}?PROLIFIC_PID=5f00", headers={"User-Agent": "A very particular browser", "Referer": "https://example.org"}
    )
    (line,) = proxy.logged("/s")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d GET /s 200", line), line


def test_files_are_compressed_and_pages_are_not(proxy: Proxy) -> None:
    encoding = {}
    for address in ("/static/base.css", "/s/study/words/", "/studies/words/", "/accounts/words/"):
        answer = proxy.client.get(address, headers={"Accept-Encoding": "gzip"})
        assert answer.content == PAGE
        encoding[address] = answer.headers.get("content-encoding")
    assert encoding == {"/static/base.css": "gzip", "/s/study/words/": None, "/studies/words/": None, "/accounts/words/": None}


def test_a_file_that_one_version_lacks_is_asked_of_the_other(application: Web, tmp_path: Path) -> None:
    """During an upgrade the pages of each version find their own files, whichever process is asked first. Pages are asked for once."""
    other = Web()
    other.lacks = (".css", "/gone/")
    threading.Thread(target=other.serve_forever, daemon=True).start()
    with (
        running_nginx(tmp_path, web_ports=[application.server_port, other.server_port]) as nginx,
        httpx.Client(base_url=nginx.url, verify=nginx.trusting()) as client,
    ):
        assert [client.get("/static/base.0123.css").status_code for _each in range(6)] == [200] * 6
        assert sorted(client.get("/gone/").status_code for _each in range(6)) == [200] * 3 + [404] * 3
    other.shutdown()
    other.server_close()


UPLOAD = "/studies/lecture-videos/build/arms/slides/"


def announced(proxy: Proxy, path: str, length: int) -> int:
    """The status for a body of which only the length was sent."""
    connection = http.client.HTTPSConnection(*proxy.address, context=proxy.trusting, timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("path", [UPLOAD, "/api/v1/studies/lecture-videos/media/", "/import-study/"])
def test_a_large_lecture_can_be_uploaded(proxy: Proxy, path: str) -> None:
    assert proxy.client.post(path, content=b"0" * 20_000_000).status_code == 200
    assert announced(proxy, path, 700_000_000) == 413


@pytest.mark.parametrize("path", ["/", "/s/lecture-videos/", "/accounts/login/", "/no/such/page", "/admin/", "/data/"])
def test_more_than_64_kilobytes_is_refused_elsewhere(proxy: Proxy, path: str) -> None:
    assert proxy.client.post(path, content=b"0" * 64_000).status_code == 200
    assert announced(proxy, path, 70_000) == 413
    assert len(proxy.seen) == 1


def test_people_read_that_their_body_is_too_large_in_two_languages(proxy: Proxy) -> None:
    """The same words as on the application's own page, which never sees this body."""
    answer = proxy.client.post("/s/lecture-videos/", content=b"0" * 70_000)
    assert (answer.status_code, answer.headers["cache-control"]) == (413, "no-store")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = html.fromstring(answer.content)
    with override("de"):
        assert page.xpath("//h1/text()") == ["This is more than can be sent here", str(TOO_LARGE.title)]
    assert (page.get("lang"), page.xpath("//*[@lang='de']/text()")[0]) == ("en", page.xpath("//h1/text()")[1])
    assert proxy.seen == []


def test_the_applications_own_words_about_a_large_body_come_through(proxy: Proxy) -> None:
    """It refuses what a stranger may not send, and says so in the reader's language."""
    answer = proxy.client.post("/import-study/", content=b"0", headers={"X-Refuse": "413"})
    assert (answer.status_code, answer.content) == (413, b"")


def test_no_body_is_written_to_the_proxys_disk(proxy: Proxy) -> None:
    """A large body goes straight on: its head reaches the application, which asks for a login, while the body is still on its way."""
    connection = http.client.HTTPSConnection(*proxy.address, context=proxy.trusting, timeout=60)
    connection.putrequest("POST", UPLOAD)
    connection.putheader("Content-Length", "500000000")
    connection.putheader("X-Refuse", "403")
    connection.endheaders()
    connection.send(b"0" * 300_000)
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize("length", [10, 500_000_000])
def test_an_outage_is_told_as_one_also_to_a_large_upload(proxy: Proxy, application: Web, length: int) -> None:
    application.shutdown()
    application.server_close()
    connection = http.client.HTTPSConnection(*proxy.address, context=proxy.trusting, timeout=60)
    connection.putrequest("POST", UPLOAD)
    connection.putheader("Content-Length", str(length))
    connection.endheaders()
    connection.send(b"0" * 10)
    answer = connection.getresponse()
    assert answer.status == 503
    assert "Away for a moment" in answer.read().decode()
    connection.close()


def test_limits_tell_visitors_apart_by_a_class_of_the_hour_and_no_log_names_it(proxy: Proxy) -> None:
    answers: list[int] = []
    while 429 not in answers and len(answers) < 1000:  # one more may come each second, so a busy machine needs more of them
        answers.append(proxy.client.get("/accounts/login/").status_code)
    assert answers[:30] == [200] * 30
    assert answers[-1] == 429
    refused = proxy.client.get("/accounts/login/")
    assert (refused.status_code, refused.headers["retry-after"], refused.headers["cache-control"]) == (429, "60", "no-store")
    page = html.fromstring(refused.content)
    with override("de"):
        assert page.xpath("//h1/text()") == ["This was asked for too often", str(TOO_MANY.title)]
    assert (page.get("lang"), page.xpath("//*[@lang='de']/text()")[0]) == ("en", page.xpath("//h1/text()")[1])
    assert proxy.client.get("/s/lecture-videos/").status_code == 200
    time.sleep(0.2)
    assert (proxy.log.parent / "error.log").read_text() == ""
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d GET /\w* \d+", line) for line in proxy.log.read_text().splitlines())
    configuration = re.sub(r"#.*", "", CONFIGURATION.read_text())
    keys = set(re.findall(r"limit_(?:conn|req)_zone (\S+) ", configuration))
    assert keys == {"$visitors_first$visitors_second$visitors_third", "$typing", "$server_port"}
    assert re.search(r'\$typing \{\s+"" "";\s+default \$visitors_first\$visitors_second\$visitors_third;\s+\}', configuration)
    hashed = re.findall(r'split_clients "(\w+) \$hour \$binary_remote_addr" \$visitors_(\w+)', configuration)
    assert [one for one, _ in hashed] == [name for _, name in hashed] == ["first", "second", "third"]
    assert configuration.count("remote_addr") == 3, "the address is hashed with the hour, and used for nothing else"


@pytest.mark.parametrize("address", ["/join/?code={}", "/s/lecture-videos/?join={}"])
def test_a_hall_types_its_code_and_somebody_who_tries_all_codes_is_slowed_down(proxy: Proxy, address: str) -> None:
    guesses = [proxy.client.get(address.format(guess)).status_code for guess in range(1100)]

    assert set(guesses[:1000]) == {200}
    assert guesses[1000:].count(429) > 50
    assert proxy.client.get("/s/lecture-videos/").status_code == 200, "a page without a code is not slowed down"


def test_while_the_application_is_away_people_are_told_so(proxy: Proxy, application: Web) -> None:
    application.shutdown()
    application.server_close()
    answer = proxy.client.get("/s/lecture-videos/")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "3")
    assert "Diese Seite ist gerade nicht erreichbar" in answer.text


def problem(answer: httpx.Response) -> dict[str, object]:
    """The problem document of an answer of nginx itself."""
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == (PROBLEM_JSON, "no-store")
    found: dict[str, object] = answer.json()
    return found


def test_programs_are_refused_in_the_form_of_the_api(proxy: Proxy, application: Web) -> None:
    """A program could not read why, because these answers alone were pages."""
    nothing = {"message": "Nothing of it was kept."}
    too_large = proxy.client.post("/api/v1/account/", content=b"0" * 70_000)
    assert (too_large.status_code, problem(too_large)) == (413, problem_details(replace(TOO_LARGE, **nothing)))
    for guess in range(2000):
        if (too_often := proxy.client.get(f"/api/v1/studies/?code={guess}")).status_code == 429:
            break
    slower = replace(TOO_MANY, advice="Wait a minute, then try again.", **nothing)
    assert (too_often.headers["retry-after"], problem(too_often)) == ("60", problem_details(slower))
    application.shutdown()
    application.server_close()
    away = proxy.client.get("/api/v1/studies/")
    assert (away.status_code, away.headers["retry-after"], problem(away)) == (503, "3", problem_details(OUTAGES[Outage.AWAY]))
    hidden = ("/away/programs", "/too-large/people")
    assert {proxy.client.get(one).status_code for one in hidden} == {404}, "nobody asks for these addresses"


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        ("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("ECDHE-ECDSA-AES128-SHA256", None),
        ("ECDHE-ECDSA-AES256-SHA", None),
    ],
)
def test_ciphers_are_strong_and_the_strongest_comes_first(proxy: Proxy, offered: str, agreed: str | None) -> None:
    assert cipher_of(proxy, offered) == agreed


def cipher_of(proxy: Proxy, offered: str) -> str | None:
    """The cipher on which nginx agrees with a client that knows TLS 1.2 and these."""
    proxy.trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    proxy.trusting.set_ciphers(offered)
    with socket.create_connection(proxy.address) as plain:
        try:
            with proxy.trusting.wrap_socket(plain) as secure:
                return (secure.cipher() or ("",))[0]
        except ssl.SSLError as refused:
            if refused.reason != "SSLV3_ALERT_HANDSHAKE_FAILURE":
                raise
            return None


def test_plain_http_is_sent_to_https(proxy: Proxy) -> None:
    answer = httpx.get(proxy.plain_address + PERSONAL_LINK, headers={"Host": "trial.example.org"})
    assert (answer.status_code, answer.headers["location"]) == (301, f"https://trial.example.org{PERSONAL_LINK}")


def test_a_program_without_tls_is_told_that_its_token_was_seen(proxy: Proxy) -> None:
    answer = httpx.get(f"{proxy.plain_address}/api/v1/studies/", headers={"Host": "trial.example.org", "Authorization": "Bearer seen"})
    assert (answer.status_code, "location" in answer.headers, problem(answer)["status"]) == (403, False, 403)
    assert "issue another token" in problem(answer)["advice"]
