"""A real Chromium on a live site. Every page is strict: a console error, a CSP violation or a request to elsewhere fails the test."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request, ViewportSize, expect, sync_playwright

from tests.installing import chromium

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 320, "height": 640}
SCREENS = ((DESKTOP, "light"), (PHONE, "dark"))
TIMEOUT_MILLISECONDS = 15_000
LOOK_GIVES_WAY = ("htmx:sendAbort", "htmx:afterRequest")
"""Complaints of htmx where a look at what was typed gives way to the next one, as it does often on a slow machine."""
expect.set_options(timeout=TIMEOUT_MILLISECONDS)
FOUND_BY_AXE = Path(__file__).with_name("axe.js")
WCAG_AND_BEST_PRACTICE = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]},
    "resultTypes": ["violations"],  # of what is well, one example: to describe each of its elements takes longer than to look at it
    "iframes": False,  # axe is in no frame: it would ask each one and wait half a second for an answer, twice on every look
}


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    """Playwright's own process, which takes three times as long to start as Chromium: one for all test files. Between its calls Playwright
    says that its event loop runs, and then Django refuses the database to this thread; while no test file has a browser, it says not.
    """
    with sync_playwright() as playwright:
        asyncio._set_running_loop(None)
        yield playwright
        asyncio._set_running_loop(playwright._loop)


@pytest.fixture(scope="module")
def browser(driver: Playwright) -> Iterator[Browser]:
    """Chromium: the machine's own, else Playwright's. One per test file, which may use the database while a loop runs."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    asyncio._set_running_loop(driver._loop)
    try:
        arguments = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        chrome = driver.chromium.launch(executable_path=chromium(), args=arguments)
        yield chrome
        chrome.close()
    finally:
        asyncio._set_running_loop(None)
        os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE")
        if before is not None:
            os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def site(live_server: object) -> str:
    """The address of the live site; it shares the test's database, with static files and the production CSP."""
    return str(live_server)


@dataclass
class Complaints:
    """Complaints of the browser; `expected` holds parts of complaints that the test provokes on purpose."""

    site: str
    found: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def listen_to(self, context: BrowserContext) -> None:
        context.on("console", self._console)
        context.on("weberror", lambda error: self.found.append(f"uncaught: {error.error}"))
        context.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.found.append(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != urlsplit(self.site).netloc:
            self.found.append(f"request to elsewhere: {request.method} {request.url}")

    def unexpected(self) -> list[str]:
        return [complaint for complaint in self.found if not any(part in complaint for part in self.expected)]


@pytest.fixture
def complaints(site: str) -> Iterator[Complaints]:
    """Watch all pages of the test and fail it at its end if the browser complained."""
    watch = Complaints(site)
    yield watch
    assert not watch.unexpected(), "the browser complained:\n" + "\n".join(watch.unexpected())


@pytest.fixture
def new_page(browser: Browser, site: str, complaints: Complaints) -> Iterator[Callable[..., Page]]:
    """`new_page(**context_options)`: a strict page in a browser context of its own, as on another person's device."""
    contexts: list[BrowserContext] = []

    def make(**options: object) -> Page:
        context = browser.new_context(**{"base_url": site, "viewport": DESKTOP, "locale": "en", **options})
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        complaints.listen_to(context)
        contexts.append(context)
        return context.new_page()

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A strict page on a desktop screen, 1280 pixels wide."""
    return new_page()


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    """A strict page on the narrowest screen that must work, 320 pixels wide."""
    return new_page(viewport=PHONE, has_touch=True, is_mobile=True)


@pytest.fixture(scope="session")
def assert_accessible(common_folder: Path) -> Callable[[Page], None]:
    """`assert_accessible(page)`: axe finds nothing, by WCAG 2.2 AA and best practice."""
    look_at_page = FOUND_BY_AXE.read_text()
    seen = common_folder / "looks_that_passed"  # in any test process of this run
    seen.touch()

    def check(page: Page) -> None:
        page.wait_for_load_state()  # a click that leads elsewhere returns when the next page begins
        if page.evaluate("typeof axe") == "undefined":  # a page that was looked at on another screen has it
            page.evaluate(AXE_SCRIPT)
        found = page.evaluate(look_at_page, {"options": WCAG_AND_BEST_PRACTICE, "seen": seen.read_text()})
        with seen.open("a") as file:
            file.writelines(f"{look}\n" for look in found["passed"])
        results = AxeResults(found)
        assert results.violations_count == 0, f"{page.url}:\n{results.generate_report()}"

    return check


@pytest.fixture(scope="session")
def assert_fits() -> Callable[[Page], None]:
    """`assert_fits(page)`: nothing makes the page scroll sideways."""

    def check(page: Page) -> None:
        page.wait_for_load_state()
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{page.url} is {overflow} pixels wider than the screen"

    return check


@pytest.fixture(scope="session")
def assert_readable(assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]) -> Callable[..., None]:
    """`assert_readable(page)`: axe finds nothing and nothing scrolls sideways, wide and light, then narrow and dark.

    The page is loaded once: another screen changes nothing but its style (test_complaints.py). It stays narrow and dark.
    """

    def check(page: Page, *, screens: Sequence[tuple[ViewportSize, str]] = SCREENS) -> None:
        for size, scheme in screens:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            assert_accessible(page)
            assert_fits(page)

    return check
