"""The strictness of the browser tests, tried on pages that deserve a complaint and on one that does not."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.audits.tree import ROOT

CSP = "default-src 'none'; script-src 'self'"


def serve(page: Page, body: str) -> None:
    """Answer the browser's next request to the site with a page of our own."""
    html = f'<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">{body}'
    page.route("**/made-up", lambda route: route.fulfill(body=html, content_type="text/html", headers={"Content-Security-Policy": CSP}))
    page.route("**/elsewhere.png", lambda route: route.abort())
    page.goto("/made-up")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<script>document.title = 'inline'</script>", "Content Security Policy"),
        ('<img alt="" src="https://third-party.example/elsewhere.png">', "Content Security Policy"),
        ('<a href="https://third-party.example/elsewhere.png">elsewhere</a>', "request to elsewhere"),
    ],
    ids=["inline script", "foreign image", "foreign page"],
)
def test_a_bad_page_is_complained_about(page: Page, complaints: Any, body: str, complaint: str) -> None:
    serve(page, body)
    if link := page.query_selector("a"):
        link.click(no_wait_after=True)
    for _patience in range(1000):
        if any(complaint in found for found in complaints.found):
            break
        page.wait_for_timeout(10)
    assert any(complaint in found for found in complaints.found), complaints.found
    complaints.found.clear()


def test_a_page_with_an_unlabelled_field_is_not_accessible(page: Page, complaints: Any, assert_accessible: Any) -> None:
    serve(page, "<main><h1>A page</h1><input></main>")
    with pytest.raises(AssertionError, match="label"):
        assert_accessible(page)
    complaints.found.clear()


@pytest.mark.parametrize(
    "change",
    [
        "text.style.color = '#999'",
        "text.style.fontSize = '16px'",
        "text.style.fontWeight = '400'",
        "text.style.opacity = '0.6'",
        "main.style.background = '#ccc'",
        "main.style.opacity = '0.6'",
        "document.documentElement.style.background = '#000'; document.body.style.opacity = '0.5'",
        "main.style.background = '#fff'; document.body.style.background = '#888'; text.style.cssText += 'position: relative; top: 500px'",
        "beside.style.cssText = 'position: absolute; inset: 0; z-index: -1; background: #ccc'",
    ],
)
def test_a_text_that_was_readable_is_looked_at_again_when_it_may_not_be(
    page: Page, complaints: Any, assert_accessible: Any, change: str
) -> None:
    """Looks that were good before are not judged again: each of these is another look, though the text stays the same."""
    serve(page, '<main id="main"><h1>A page</h1><p id="text">Some words</p></main><div id="beside"></div>')
    # Large and bold: a contrast of three to one suffices.
    page.evaluate("text.style.cssText = 'color: #808080; font-size: 19px; font-weight: 700; width: max-content'")
    for _again in range(2):
        assert_accessible(page)
    page.evaluate(change)
    with pytest.raises(AssertionError, match="color-contrast"):
        assert_accessible(page)
    complaints.found.clear()


def test_a_wide_page_does_not_fit_a_phone(phone: Page, complaints: Any, assert_fits: Any) -> None:
    serve(phone, f"<main><h1>{'long' * 100}</h1></main>")
    with pytest.raises(AssertionError, match="wider than the screen"):
        assert_fits(phone)
    complaints.found.clear()


def test_the_home_page_is_good(page: Page, phone: Page, assert_accessible: Any, assert_fits: Any) -> None:
    for screen in (page, phone):
        screen.goto("/")
        assert_accessible(screen)
        assert_fits(screen)


def test_no_script_asks_how_wide_or_how_dark_the_screen_is() -> None:
    """Else each page would have to be loaded on every screen, where `assert_readable` only changes its screen."""
    asks = re.compile(r"(inner|outer|client|offset)(Width|Height)|screen\.(w|h)|ResizeObserver|matchMedia\((?!.\(prefers-reduced-motion)")
    scripts = list((ROOT / "platform" / "static" / "js").glob("*.js"))
    assert len(scripts) > 20
    assert [script.name for script in scripts if asks.search(script.read_text())] == []
