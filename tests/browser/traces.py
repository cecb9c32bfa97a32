"""Everything of a page that an observer outside it could notice: requests, what the browser keeps, and the times of sending.

Time in the page is the test's own clock, so "when" is exact, and nothing waits for the clock on the wall. The participant's token, the mark
that follows from it and the CSRF token differ from person to person, so they are masked by the values known before; any other difference is
a leak.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from surveys.tokens import mark_of

STEP_MILLISECONDS = 100
PATIENCE_MILLISECONDS = 5_000
SENDS_WITHIN_MILLISECONDS = 10_000
LONG_STEP_MILLISECONDS = 500
PATIENCE_OUTSIDE_MILLISECONDS = 15_000
SIGNED = re.compile(r"([\w-]+):[0-9A-Za-z]{6}:[\w-]{43}")

KEPT = """async () => ({
    local: {...localStorage}, session: {...sessionStorage}, cookies: document.cookie, name: window.name, address: location.href,
    state: history.state, pages: history.length,
    databases: (await indexedDB.databases()).map(({name}) => name), caches: await caches.keys(),
})"""
NOTES_WHEN_IT_SENDS = """
const sending = [], send = fetch;
fetch = (address, options) => { if (options?.method === "POST") sending.push(Date.now()); return send(address, options); };
globalThis.timesOfSending = () => sending;
"""


def differences(traces: Sequence[Any]) -> list[str]:
    """The parts in which any trace differs from the first."""
    first = traces[0]
    return sorted({part.name for trace in traces for part in fields(first) if getattr(trace, part.name) != getattr(first, part.name)})


@dataclass(frozen=True, slots=True)
class Leak:
    """Damage done on purpose: the part of a trace that shows it, a pattern of the place there that is its own, and the script."""

    part: str
    place: str
    script: str


def scripts_of(leaks: Mapping[str, Leak]) -> str:
    """All of them in one page, each by itself."""
    return "".join(f"{{ {leak.script} }}\n" for leak in leaks.values())


def unnoticed(traces: Sequence[Any], leaks: Mapping[str, Leak]) -> list[str]:
    """The leaks whose own place is alike in all traces; what another leak of the same page changes does not count."""
    return [name for name, leak in leaks.items() if all(_found(trace, leak) == _found(traces[0], leak) for trace in traces)]


def _found(trace: Any, leak: Leak) -> list[list[str]]:
    part = getattr(trace, leak.part)
    lines = [f"{name}: {value}" for name, value in (part if isinstance(part, dict) else dict(enumerate(part))).items()]
    return sorted(re.findall(leak.place, line, re.DOTALL) for line in lines)


def requests_of(source: BrowserContext | Page) -> list[Request]:
    """A list that grows with each request from now on, except for the picture in the tab: the browser fetches it when it likes."""
    requests: list[Request] = []
    source.on("request", lambda request: None if _is_icon(request) else requests.append(request))
    return requests


def _is_icon(request: Request) -> bool:
    """Whether the browser fetched the picture of its tab: no script can, for what scripts fetch is of another kind or has a purpose."""
    parts = urlsplit(request.url)
    return (
        request.resource_type == "other"
        and parts.path.endswith("/images/favicon.svg")
        and not parts.query
        and "sec-purpose" not in request.headers
    )


def wait_until_loaded(page: Page) -> None:
    """Wait for all that the page asks for by itself: fonts are asked for when their text is laid out."""
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready.then(() => true)")


@dataclass
class Outage:
    """A server whose database is away at the first attempt at sending, and there at the second."""

    page: Page
    address: str
    held: list[Route] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.add_init_script(NOTES_WHEN_IT_SENDS)
        self.page.route(f"**{self.address}*", self._hold)

    def _hold(self, route: Route) -> None:
        if route.request.method == "POST":
            self.held.append(route)
        else:
            route.fallback()

    def submit(self, button: str) -> list[int]:
        """Click; the milliseconds until the first attempt at sending, and from there to the second, by the page's clock."""
        clicked = self.page.evaluate("Date.now()")
        self.page.get_by_role("button", name=button).click(no_wait_after=True)
        first = self._time_of_attempt(1)
        self.held.pop().fulfill(status=503, headers={"Retry-After": "1"})
        expect(self.page.locator("[data-kept]")).not_to_be_empty()
        second = self._time_of_attempt(2)
        self.held.pop().fallback()
        return [first - clicked, second - first]

    def _time_of_attempt(self, attempt: int) -> int:
        """Let the page's clock run until it sends, and wait until that has left the page."""
        for _milliseconds in range(0, SENDS_WITHIN_MILLISECONDS, LONG_STEP_MILLISECONDS):
            if len(times := self.page.evaluate("timesOfSending()")) >= attempt:
                break
            self.page.clock.run_for(LONG_STEP_MILLISECONDS)
        else:
            raise AssertionError(f"attempt {attempt} was not made within {SENDS_WITHIN_MILLISECONDS} ms")
        for _milliseconds in range(0, PATIENCE_OUTSIDE_MILLISECONDS, 5):
            if self.held:
                return int(times[attempt - 1])
            self.page.wait_for_timeout(5)
        raise AssertionError(f"attempt {attempt} did not leave the page")


def sent(requests: list[Request], address: str) -> list[Request]:
    """The requests that send a form to the address."""
    return [request for request in requests if request.method == "POST" and address in request.url]


def described(requests: Sequence[Request], secrets: dict[str, str]) -> list[str]:
    """All headers and bodies: in their order up to the last request that sends something.

    The next page's files follow in any order, without its fonts: which it needs depends on the captions of the lecture that chance draws.
    """
    last = max((place for place, request in enumerate(requests, start=1) if request.method == "POST"), default=0)
    of_the_next_page = [request for request in requests[last:] if request.resource_type != "font"]
    words, files = ([masked(_described(request), secrets) for request in part] for part in (requests[:last], of_the_next_page))
    return [*words, *sorted(files)]


def _described(request: Request) -> str:
    headers = sorted((one["name"], one["value"]) for one in request.headers_array())
    return f"{request.method} {request.url} {headers} {request.post_data or ''}"


def cookies_of(context: BrowserContext, secrets: dict[str, str]) -> list[str]:
    return [masked(_cookie_outside(one), secrets) for one in sorted(context.cookies(), key=lambda one: one["name"])]


def _cookie_outside(cookie: Any) -> str:
    lifetime = round((cookie["expires"] - time.time()) / 3600) if cookie["expires"] > 0 else -1
    # The time of signing, to the second, and the signature over it differ from one journey to the next.
    value = SIGNED.sub(r"\1:time:signature", cookie["value"])
    return str(sorted({**cookie, "expires": lifetime, "value": value}.items()))


def kept_by(page: Page, secrets: dict[str, str]) -> dict[str, str]:
    return {name: masked(str(value), secrets) for name, value in page.evaluate(KEPT).items()}


def secrets_of(page: Page, token: str) -> dict[str, str]:
    """All that differs from person to person and is known before anything is told, with the words that stand for it."""
    csrf = page.locator("#main input[name=csrfmiddlewaretoken]").input_value()
    cookie = next(one["value"] for one in page.context.cookies() if one["name"] == "csrftoken")
    return {token: "TOKEN", mark_of(token): "MARK", cookie: "CSRF-COOKIE", csrf: "CSRF"}


def masked(text: str, secrets: dict[str, str]) -> str:
    for value, name in secrets.items():
        text = text.replace(value, name)
    return text
