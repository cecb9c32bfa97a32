"""Everything about a die that an observer outside the page could notice: requests, storage in the browser, and times.

The participant goes every way that the page offers: roll, answer, on, back, on again, a look at what will be sent, a change, submit, and a
first attempt that the server cannot take. Chance other than the die's is fixed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.people import JOURNEY
from tests.browser.traces import (
    PATIENCE_MILLISECONDS,
    STEP_MILLISECONDS,
    Outage,
    cookies_of,
    described,
    kept_by,
    requests_of,
    secrets_of,
    sent,
    wait_until_loaded,
)

OPENS_BY_MILLISECONDS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One participant's questions page, from opening it to the page after it."""

    before_rolling: Sequence[str]
    """Addresses, in any order: the die has no result yet."""
    from_rolling_on: Sequence[str]
    """Requests with all headers and bodies; those of the next page in any order."""
    cookies: Sequence[str]
    kept: dict[str, Any]
    milliseconds_until_told: Sequence[int]
    milliseconds_until_sent: Sequence[int]
    """From the click to the first attempt, and from there to the second."""
    bytes_sent: Sequence[int]


def trace_of(context: BrowserContext, *, face: int, token: str) -> Trace:
    """Roll `face` for every question, give the same answers as everybody, submit through an outage, and note everything."""
    page = context.new_page()
    page.add_init_script(f"crypto.getRandomValues = (bytes) => bytes.fill({face - 1}); Math.random = () => 0.4;")
    page.clock.install(time=0)
    outage, requests = Outage(page, JOURNEY), requests_of(context)
    page.goto(JOURNEY)
    wait_until_loaded(page)
    secrets = secrets_of(page, token)
    before = len(requests)
    page.clock.pause_at(60)

    told = []
    number = page.locator("[data-question-page]").count()
    for index in range(number):
        told.append(_roll(page, index))
        page.locator("[data-question-page]").nth(index).get_by_role("radio").nth(index % 2).check()
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
    times = outage.submit("Submit answers")
    expect(page.get_by_role("heading", name="Thank you", level=1)).to_be_visible()
    wait_until_loaded(page)
    trace = Trace(
        before_rolling=sorted(request.url for request in requests[:before]),
        from_rolling_on=described(requests[before:], secrets),
        cookies=cookies_of(context, secrets),
        kept=kept_by(page, secrets),
        milliseconds_until_told=told,
        milliseconds_until_sent=times,
        bytes_sent=[len(request.post_data_buffer or b"") for request in sent(requests, JOURNEY)],
    )
    page.close()
    return trace


def _press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.clock.run_for(STEP_MILLISECONDS)


def _roll(page: Page, index: int) -> int:
    """Roll the die of the question at hand; return the time until it says something."""
    page.get_by_role("button", name="Roll the die").click()
    status = page.locator("[data-die]").nth(index).get_by_role("status")
    return _wait(page, lambda: status.inner_text() != "")


def _wait(page: Page, happened: Callable[[], bool], *, patience: int = PATIENCE_MILLISECONDS) -> int:
    """Let the page's clock run until something happened; return how long that took by that clock."""
    for milliseconds in range(0, patience, STEP_MILLISECONDS):
        if happened():
            return milliseconds
        page.clock.run_for(STEP_MILLISECONDS)
    raise AssertionError(f"nothing happened within {patience} ms")
