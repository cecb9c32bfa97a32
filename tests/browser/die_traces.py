"""Everything about a die that an observer outside the page could notice: requests, storage in the browser, and times.

The participant goes every way that the page offers: roll, answer, on, back, on again, a look at what will be sent, a change, submit, and a
first attempt that the server cannot take. Time in the page is the test's own clock, so "when" is exact; chance other than the die's is
fixed. The participant's token and the CSRF token differ from person to person, so they are masked by the values known before the roll; any
other difference is a leak.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request, Route, expect

from tests.browser.people import JOURNEY

STEP_MILLISECONDS = 100
PATIENCE_MILLISECONDS = 5_000
LONG_STEP_MILLISECONDS = 500
GRACE_MILLISECONDS = 300
"""How long a request that is sent at once may take to show up on a busy machine, by the clock on the wall."""
ANSWERS = ("Yes", "No")
OPENS_BY_MILLISECONDS = 60_000
SIGNED = re.compile(r"([\w-]+):[0-9A-Za-z]{6}:[\w-]{43}")

KEPT = """async () => ({
    local: {...localStorage}, session: {...sessionStorage}, cookies: document.cookie, name: window.name, address: location.href,
    state: history.state, pages: history.length,
    databases: (await indexedDB.databases()).map(({name}) => name), caches: await caches.keys(),
})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One participant's questions page, from opening it to the page after it."""

    before_rolling: Sequence[str]
    """Requests, in any order: the die has no result yet."""
    from_rolling_on: Sequence[str]
    """Requests with all headers and bodies, in their order."""
    cookies: Sequence[str]
    kept: dict[str, Any]
    milliseconds_until_told: Sequence[int]
    milliseconds_until_sent: Sequence[int]
    """From the click to the first attempt, and from there to the second."""
    bytes_sent: Sequence[int]


def differences(traces: Sequence[Trace]) -> list[str]:
    """The parts in which any trace differs from the first."""
    first = traces[0]
    return sorted({part.name for trace in traces for part in fields(Trace) if getattr(trace, part.name) != getattr(first, part.name)})


def trace_of(context: BrowserContext, *, face: int, token: str) -> Trace:
    """Roll `face` for every question, give the same answers as everybody, submit through an outage, and note everything."""
    page = context.new_page()
    page.add_init_script(f"crypto.getRandomValues = (bytes) => bytes.fill({face - 1}); Math.random = () => 0.4;")
    page.clock.install(time=0)
    requests: list[Request] = []
    away = Outage(attempts=1)
    page.route(f"**{JOURNEY}*", away.answer)
    page.goto(JOURNEY)
    page.wait_for_load_state("networkidle")
    csrf = page.locator("input[name=csrfmiddlewaretoken]").input_value()
    cookie = next(one["value"] for one in context.cookies() if one["name"] == "csrftoken")
    secrets = {token: "TOKEN", csrf: "CSRF", cookie: "CSRF-COOKIE"}
    before = page.evaluate("performance.getEntriesByType('resource').map(({name}) => name).sort()")
    context.on("request", lambda request: requests.append(request))
    page.clock.pause_at(4)

    told = []
    number = page.locator("[data-question-page]").count()
    for index in range(number):
        told.append(_roll(page, index))
        page.get_by_role("radio", name=ANSWERS[index % 2], exact=True).check()
        _press(page, "Next")
        if index:  # back to the question before, and on again
            _press(page, "Previous")
            _press(page, "Previous")
            _press(page, "Next")
            _press(page, "Next")
    page.get_by_role("button", name="Change").first.click()
    for _index in range(number):
        _press(page, "Next")
    _wait(page, page.get_by_role("button", name="Submit answers").is_enabled, patience=OPENS_BY_MILLISECONDS)
    sent = _submit(page, requests)
    expect(page.get_by_role("heading", name="Thank you", level=1)).to_be_visible()
    page.wait_for_load_state("networkidle")
    kept = page.evaluate(KEPT)
    trace = Trace(
        before_rolling=before,
        from_rolling_on=[masked(described(request), secrets) for request in requests],
        cookies=[masked(cookie_outside(one), secrets) for one in sorted(context.cookies(), key=lambda one: one["name"])],
        kept={name: masked(str(value), secrets) for name, value in kept.items()},
        milliseconds_until_told=told,
        milliseconds_until_sent=sent,
        bytes_sent=[len(request.post_data_buffer or b"") for request in _submits(requests)],
    )
    page.close()
    return trace


@dataclass
class Outage:
    """A server whose database is away for some attempts at sending."""

    attempts: int

    def answer(self, route: Route) -> None:
        if route.request.method == "POST" and self.attempts:
            self.attempts -= 1
            route.fulfill(status=503, headers={"Retry-After": "1"})
        else:
            route.fallback()


def _press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.clock.run_for(STEP_MILLISECONDS)


def _roll(page: Page, index: int) -> int:
    """Roll the die of the question at hand; return the time until it says something."""
    page.get_by_role("button", name="Roll the die").click()
    status = page.locator("[data-die]").nth(index).get_by_role("status")
    return _wait(page, lambda: status.inner_text() != "")


def _submits(requests: list[Request]) -> list[Request]:
    return [request for request in requests if request.method == "POST" and JOURNEY in request.url]


def _submit(page: Page, requests: list[Request]) -> list[int]:
    """Click; return the time until the first attempt at sending, and from there to the second."""
    page.get_by_role("button", name="Submit answers").click(no_wait_after=True)
    return [wait_for_attempt(page, requests, attempt) for attempt in (1, 2)]


def wait_for_attempt(page: Page, requests: list[Request], attempt: int) -> int:
    for milliseconds in range(0, PATIENCE_MILLISECONDS, LONG_STEP_MILLISECONDS):
        page.wait_for_timeout(GRACE_MILLISECONDS)
        if len(_submits(requests)) >= attempt:
            return milliseconds
        page.clock.run_for(LONG_STEP_MILLISECONDS)
    raise AssertionError(f"attempt {attempt} was not made within {PATIENCE_MILLISECONDS} ms")


def _wait(page: Page, happened: Callable[[], bool], *, patience: int = PATIENCE_MILLISECONDS) -> int:
    """Let the page's clock run until something happened; return how long that took by that clock."""
    for milliseconds in range(0, patience, STEP_MILLISECONDS):
        if happened():
            return milliseconds
        page.clock.run_for(STEP_MILLISECONDS)
    raise AssertionError(f"nothing happened within {patience} ms")


def described(request: Request) -> str:
    headers = sorted((one["name"], one["value"]) for one in request.headers_array())
    return f"{request.method} {request.url} {headers} {request.post_data or ''}"


def cookie_outside(cookie: Any) -> str:
    lifetime = round((cookie["expires"] - time.time()) / 3600) if cookie["expires"] > 0 else -1
    # The time of signing, to the second, and the signature over it differ from one journey to the next.
    value = SIGNED.sub(r"\1:time:signature", cookie["value"])
    return str(sorted({**cookie, "expires": lifetime, "value": value}.items()))


def masked(text: str, secrets: dict[str, str]) -> str:
    for value, name in secrets.items():
        text = text.replace(value, name)
    return text
