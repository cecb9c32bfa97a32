"""A participant at the sensitive questions, as a test plays them: roll, read, answer, on to the next one, at the end a look at all."""

import re

from playwright.sync_api import Locator, Page, expect

ROLLING = 60_000


def question(page: Page, text: str) -> Locator:
    """The group of a question's answers; it is there after the roll."""
    return page.get_by_role("group", name=text)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def roll(page: Page, *, button_name: str = "Roll the die") -> str:
    """The die's words for the question at hand, or for practice."""
    button(page, button_name).click()
    status = page.get_by_role("status")
    expect(status).to_have_text(re.compile("^(Answer|Antworte|أجيبوا)"), timeout=ROLLING)
    return status.inner_text()


def answer_all(page: Page, answer: str = "Yes", *, number: int) -> None:
    """Roll and answer each of `number` questions; the page then shows what will be sent."""
    page.wait_for_load_state()  # before its scripts a page has answers and no button that rolls
    for _question in range(number):
        if button(page, "Roll the die").is_visible():
            roll(page)
        page.get_by_role("radio", name=answer, exact=True).check()
        button(page, "Next").click()
    expect(page.get_by_role("heading", name="What will be sent")).to_be_focused()
