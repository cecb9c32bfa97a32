"""Participants that cost next to nothing: raw sockets, three regular expressions, forms filled in beforehand.

They walk the same pages in the same order as a browser, with its scripts or `plainly`, but do not load style sheets, scripts or lectures,
which nginx serves.
"""

import math
import multiprocessing
import random
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import urlencode

CSRF_TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="(\w+)"')
STEP = re.compile(rb'name="step" value="(\w+)"')
COOKIE = re.compile(rb"^set-cookie: ([^=]+)=([^;]*)", re.IGNORECASE | re.MULTILINE)
LENGTH = re.compile(rb"^content-length: (\d+)", re.IGNORECASE | re.MULTILINE)
CHUNKED = re.compile(rb"^transfer-encoding: chunked", re.IGNORECASE | re.MULTILINE)
NEXT_PAGE = re.compile(rb"^next-page:", re.IGNORECASE | re.MULTILINE)
PACKED = re.compile(rb"^content-encoding: deflate", re.IGNORECASE | re.MULTILINE)
LAST_PAGE = b'id="completion-code"'
CLIENT_PROCESSES = 2
Behaviour = Callable[["Measured", float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where to go and how to fill in each step's form; a list means that one value is drawn at random."""

    host: str
    port: int
    path: str
    forms: Mapping[str, Mapping[str, str | list[str]]]
    bot_ticket: str
    plainly: bool = False
    """Whether each form is answered by a redirect, as for browsers without JavaScript; the scripts take the next page out of the answer."""


@dataclass(slots=True, kw_only=True)
class Measured:
    """Measurements of many clients: seconds of every request by its name (`GET video`, `POST video`), journeys, errors, total time.

    `submits` are the moments at which answers were sent, on the clock of `time.perf_counter`, which all processes share.
    """

    requests: dict[str, list[float]] = field(default_factory=dict)
    journeys: int = 0
    submits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: "Measured") -> None:
        for name, times in other.requests.items():
            self.requests.setdefault(name, []).extend(times)
        self.journeys += other.journeys
        self.submits += other.submits
        self.errors += other.errors
        self.seconds = max(self.seconds, other.seconds)

    def quantile(self, share: float, *, prefix: str = "") -> float:
        """Milliseconds that `share` of the requests stay below."""
        times = sorted(seconds for name, several in self.requests.items() if name.startswith(prefix) for seconds in several)
        return 1000 * times[min(math.ceil(share * len(times)), len(times)) - 1] if times else math.nan

    @property
    def request_count(self) -> int:
        return sum(map(len, self.requests.values()))


class UnexpectedAnswerError(RuntimeError):
    """The server answered with something that no participant should see."""


Answer = tuple[int, bytes, bytes]


class Connection:
    """A connection that is kept; sends a request and reads the answer: status, headers, content."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.socket = socket.create_connection((site.host, site.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __call__(self, method: str, cookies: str, body: bytes, *, path: str = "") -> Answer:
        head = f"{method} {path or self.site.path} HTTP/1.1\r\nHost: {self.site.host}\r\nCookie: {cookies}\r\n"
        head += "Accept: text/html\r\nAccept-Language: en\r\nAccept-Encoding: deflate\r\n"
        if method == "POST":
            head += "" if self.site.plainly else "Next-Page: wanted\r\n"
            head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
        self.socket.sendall(f"{head}\r\n".encode() + body)
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._receive()
        headers, parts = received[:end], [received[end + 4 :]]
        if CHUNKED.search(headers):
            return int(headers[9:12]), headers, self._chunks(parts[0])
        missing = (int(found[1]) if (found := LENGTH.search(headers)) else 0) - len(parts[0])
        while missing > 0:
            parts.append(self._receive())
            missing -= len(parts[-1])
        content = b"".join(parts)
        return int(headers[9:12]), headers, zlib.decompress(content) if PACKED.search(headers) else content

    def _chunks(self, received: bytes) -> bytes:
        """The content of an answer without a length, which oTree sends."""
        content = b""
        while True:
            while (end := received.find(b"\r\n")) < 0 or len(received) < end + 4 + int(received[:end], 16):
                received += self._receive()
            length = int(received[:end], 16)
            content += received[end + 2 : end + 2 + length]
            received = received[end + 4 + length :]
            if length == 0:
                return content

    def _receive(self) -> bytes:
        if not (received := self.socket.recv(65536)):
            raise UnexpectedAnswerError("the server closed the connection")
        return received


@dataclass(slots=True, kw_only=True)
class Visitor:
    """People, one after the other, in browsers that share a connection but no cookies."""

    site: Site
    ask: Callable[[str, str, bytes], Answer]
    measured: Measured
    pause: tuple[float, float] | None = None
    cookies: dict[bytes, bytes] = field(default_factory=dict)

    def walk(self) -> None:
        """A whole journey by a new person."""
        self.cookies = {}
        page = self._request("GET", "welcome")
        for step, following in pairwise([*self.site.forms, "finished"]):
            shown, token = STEP.search(page), CSRF_TOKEN.search(page)
            if not shown or not token or shown[1].decode() != step:
                raise UnexpectedAnswerError(f"expected the page {step}, got {shown[1].decode() if shown else page[:200]!r}")
            if self.pause:
                time.sleep(random.uniform(*self.pause))
            form = {name: random.choice(value) if isinstance(value, list) else value for name, value in self.site.forms[step].items()}
            answer = self._request("POST", step, urlencode({"csrfmiddlewaretoken": token[1].decode(), "step": step} | form).encode())
            page = answer or self._request("GET", following)
        if LAST_PAGE not in page:
            raise UnexpectedAnswerError(f"expected the last page, got {page[:200]!r}")
        self.measured.journeys += 1

    def _request(self, method: str, step: str, body: bytes = b"") -> bytes:
        """Only the wait for the response is timed, not the work in here."""
        cookies = dict(self.cookies)
        # Participants have no tickets to verify, so the ticket that lets bots skip the lecture is sent only where it counts.
        if method == "POST" and step in ("welcome", "video"):
            cookies[b"candor_bot"] = self.site.bot_ticket.encode()
        header = b"; ".join(name + b"=" + value for name, value in cookies.items()).decode()
        start = time.perf_counter()
        status, headers, content = self.ask(method, header, body)
        self.measured.requests.setdefault(f"{method} {step}", []).append(time.perf_counter() - start)
        if method == "POST" and status == 200 and not NEXT_PAGE.search(headers):
            raise UnexpectedAnswerError(f"POST {step}: an objection")
        if (method, step) == ("POST", "questions"):
            self.measured.submits.append(start)
        if status != 200 and (method, status) != ("POST", 303):
            raise UnexpectedAnswerError(f"{method} {step}: status {status}")
        self.cookies.update(COOKIE.findall(headers))
        return content


def walk_for(site: Site, *, clients: int, seconds: float) -> Measured:
    """Keep `clients` people going at any time, each followed at once by the next, until no more begin after `seconds`."""

    def one_after_the_other(measured: Measured, deadline: float) -> None:
        visitor = Visitor(site=site, ask=Connection(site), measured=measured)
        while time.perf_counter() < deadline:
            visitor.walk()

    return _in_processes(clients, lambda measured, start: one_after_the_other(measured, start + seconds))


def join_within(site: Site, *, people: int, seconds: float, pause: tuple[float, float]) -> Measured:
    """Let `people` come at random moments within `seconds`, each on their own connection; each reads every page for a while (`pause`)."""

    def one_person(measured: Measured, start: float) -> None:
        time.sleep(max(random.uniform(0, seconds) - (time.perf_counter() - start), 0))
        Visitor(site=site, ask=Connection(site), measured=measured, pause=pause).walk()

    return _in_processes(people, one_person)


def _in_processes(clients: int, behave: Behaviour) -> Measured:
    """Run `behave` in `clients` threads, spread over a few processes so that the clients' own work does not hold them up."""
    context = multiprocessing.get_context("fork")
    shares = [share for number in range(CLIENT_PROCESSES) if (share := len(range(number, clients, CLIENT_PROCESSES)))]
    queue: multiprocessing.Queue[Measured] = context.Queue()
    processes = [context.Process(target=lambda share=share: queue.put(_in_threads(share, behave))) for share in shares]
    for process in processes:
        process.start()
    total = Measured()
    for _ in processes:
        total.add(queue.get(timeout=600))
    for process in processes:
        process.join()
    return total


def _in_threads(clients: int, behave: Behaviour) -> Measured:
    total, start = Measured(), time.perf_counter()
    random.seed()

    def one(_index: int) -> Measured:
        measured = Measured()
        try:
            behave(measured, start)
        except (OSError, UnexpectedAnswerError) as error:
            measured.errors.append(f"{type(error).__name__}: {error}")
        return measured

    threading.stack_size(512 * 1024)
    with ThreadPoolExecutor(clients) as pool:
        for measured in pool.map(one, range(clients)):
            total.add(measured)
    total.seconds = time.perf_counter() - start
    return total
