"""Everything about a die that an observer outside the page could notice: requests, storage in the browser, and times.

Time in the page is the test's own clock, so "when" is exact. The participant's token and the CSRF token differ from person to person, so
they are masked by the values known before the roll; any other difference is a leak.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.browser.people import JOURNEY

STEP_MILLISECONDS = 100
PATIENCE_MILLISECONDS = 5_000
GRACE_SECONDS = 3.0
"""How long a request that is sent at once may take to show up on a busy machine, by the clock on the wall."""
ANSWERS = ("Yes", "No")

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
    milliseconds_until_sent: int
    bytes_sent: int


def differences(traces: Sequence[Trace]) -> list[str]:
    """The parts in which any trace differs from the first."""
    first = traces[0]
    return sorted({part.name for trace in traces for part in fields(Trace) if getattr(trace, part.name) != getattr(first, part.name)})


def trace_of(context: BrowserContext, *, face: int, token: str) -> Trace:
    """Roll `face` for every question, give the same answers as everybody, submit, and note everything."""
    page = context.new_page()
    page.add_init_script(f"crypto.getRandomValues = (bytes) => bytes.fill({face - 1})")
    page.clock.install(time=0)
    requests: list[Request] = []
    page.goto(JOURNEY)
    page.wait_for_load_state("networkidle")
    csrf = page.locator("input[name=csrfmiddlewaretoken]").input_value()
    cookie = next(one["value"] for one in context.cookies() if one["name"] == "csrftoken")
    secrets = {token: "TOKEN", csrf: "CSRF", cookie: "CSRF-COOKIE"}
    before = page.evaluate("performance.getEntriesByType('resource').map(({name}) => name).sort()")
    context.on("request", lambda request: requests.append(request))
    page.clock.pause_at(60_000)

    told = [_roll(page, index) for index in range(page.locator("[data-die]").count())]
    for index, question in enumerate(page.locator("fieldset").all()):
        question.get_by_role("radio", name=ANSWERS[index % 2], exact=True).check()
    sent = _submit(page, requests)
    expect(page.get_by_role("heading", name="Thank you", level=1)).to_be_visible()
    page.wait_for_load_state("networkidle")
    kept = page.evaluate(KEPT)
    post = next(request for request in requests if request.method == "POST" and request.is_navigation_request())
    trace = Trace(
        before_rolling=before,
        from_rolling_on=[_masked(_described(request), secrets) for request in requests],
        cookies=[_masked(_cookie(one), secrets) for one in sorted(context.cookies(), key=lambda one: one["name"])],
        kept={name: _masked(str(value), secrets) for name, value in kept.items()},
        milliseconds_until_told=told,
        milliseconds_until_sent=sent,
        bytes_sent=len(post.post_data_buffer or b""),
    )
    page.close()
    return trace


def _roll(page: Page, index: int) -> int:
    """Roll one die; return the time until it says something."""
    die = page.locator("[data-die]").nth(index)
    die.get_by_role("button", name="Roll the die").click()
    return _wait(page, lambda: die.get_by_role("status").inner_text() != "")


def _submit(page: Page, requests: list[Request]) -> int:
    def is_sent() -> bool:
        return any(request.method == "POST" and request.is_navigation_request() for request in requests)

    page.get_by_role("button", name="Submit answers").click(no_wait_after=True)
    end = time.monotonic() + GRACE_SECONDS
    while not is_sent() and time.monotonic() < end:
        page.wait_for_timeout(20)
    return _wait(page, is_sent)


def _wait(page: Page, happened: Callable[[], bool]) -> int:
    """Let the page's clock run until something happened; return how long that took by that clock."""
    for milliseconds in range(0, PATIENCE_MILLISECONDS, STEP_MILLISECONDS):
        if happened():
            return milliseconds
        page.clock.run_for(STEP_MILLISECONDS)
    raise AssertionError(f"nothing happened within {PATIENCE_MILLISECONDS} ms")


def _described(request: Request) -> str:
    headers = sorted((one["name"], one["value"]) for one in request.headers_array())
    return f"{request.method} {request.url} {headers} {request.post_data or ''}"


def _cookie(cookie: Any) -> str:
    lifetime = round((cookie["expires"] - time.time()) / 3600) if cookie["expires"] > 0 else -1
    return str(sorted({**cookie, "expires": lifetime}.items()))


def _masked(text: str, secrets: dict[str, str]) -> str:
    for value, name in secrets.items():
        text = text.replace(value, name)
    return text
