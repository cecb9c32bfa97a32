"""A page that has lost what its script needs says which mark it is."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

PAGE = '<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="/static/images/favicon.svg"><main>{body}</main>{script}'
SCRIPT = '<script type="module" src="/static/js/{name}.js"></script>'


def serve(page: Page, *, name: str, body: str) -> None:
    html = PAGE.format(body=body, script=SCRIPT.format(name=name))
    page.route("**/made-up", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.goto("/made-up")
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("print", "", "Expected an element #print in the page, found none."),
        (
            "questions",
            '<form id="answers" data-questions><button type="submit">Send</button></form><div id="incomplete"></div>',
            "Expected an element [data-wait] in <form id=answers data-questions>, found none.",
        ),
    ],
)
def test_a_lost_mark_is_named(page: Page, complaints: Any, name: str, body: str, message: str) -> None:
    serve(page, name=name, body=body)
    assert [found for found in complaints.found if message in found], complaints.found
    complaints.found.clear()


def test_a_page_with_its_marks_works(page: Page, complaints: Any) -> None:
    serve(page, name="print", body='<button id="print" hidden>Print</button>')
    expect(page.get_by_role("button", name="Print")).to_be_visible()
    assert complaints.found == []
