"""From New study to ready for review: by a template, with a mouse, in few clicks."""

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from accounts.models import Role
from tests.browser.staff import log_in
from tests.factories import PASSWORD, person

Check = Callable[[Page], None]
MOST_CLICKS = 10


def fill_gaps(page: Page) -> None:
    page.wait_for_load_state()  # with its last field
    for text in page.locator("input[type=text], textarea").all():
        if "[[" in (typed := text.input_value()):
            text.fill(re.sub(r"\[\[(.*?)\]\]", "the people at example.org", typed))


def test_a_template_is_ready_for_review_after_ten_clicks(
    page: Page, phone: Page, transactional_db: None, assert_accessible: Check, assert_fits: Check
) -> None:
    owner, clicks = person(Role.INVESTIGATOR), 0

    def click(on: Locator) -> None:
        nonlocal clicks
        clicks += 1
        on.click()

    for one in (phone, page):
        log_in(one, owner.username, PASSWORD, address="/new-study/")
        expect(one.get_by_role("heading", name="Or begin with a template")).to_be_visible()
        assert_accessible(one)
        assert_fits(one)
    click(page.get_by_role("button", name="Begin with vaccination-attitudes"))
    expect(page.get_by_role("heading", name="Build the study")).to_be_visible()
    page.wait_for_load_state()  # the list stands below the heading
    while page.locator(".builder-to-do a").count():
        click(page.locator(".builder-to-do a").first)
        expect(page.get_by_role("button", name="Save")).to_be_visible()
        fill_gaps(page)
        click(page.get_by_role("button", name="Save"))
        expect(page.get_by_text("Saved.")).to_be_visible()
        click(page.get_by_role("link", name="What is left to do"))
        expect(page.get_by_role("heading", name="Build the study")).to_be_visible()
        page.wait_for_load_state()
    click(page.get_by_role("link", name="Go to the study’s page to submit it for review"))
    click(page.get_by_role("button", name="Submit for review"))
    expect(page.get_by_text("In review").first).to_be_visible()
    assert clicks <= MOST_CLICKS
