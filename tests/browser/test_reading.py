"""An arm that shows a text: the participant's page and the builder's, narrow and wide."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from accounts.models import Role
from tests.browser.staff import log_in
from tests.factories import PASSWORD, address_of, draft_study, person, recruiting_study

Check = Callable[[Page], None]
TEXT = """# Why vaccines need many

A vaccine protects **others**, too.

* Measles needs 95 of 100 people.
* Polio needs 80."""
ARMS = [
    {"name": name, "label": name, "reading": {"text": f"{TEXT}\n\nA thought about {name}.", "seconds": 2}} for name in ("facts", "story")
]


def test_a_text_is_read_and_left_too_early(page: Page, transactional_db: None, complaints: object, assert_readable: Check) -> None:
    complaints.expected.append("422")
    arms = [arm | {"reading": arm["reading"] | {"seconds": 1800}} for arm in ARMS]
    study = recruiting_study(arms=arms, control="facts", background=[], quiz=[])
    page.goto(address_of(study))
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_role("heading", name="Read the text")).to_be_visible()
    expect(page.get_by_text("You can go on 1800 seconds after this page opened.")).to_be_visible()
    assert_readable(page)
    page.get_by_role("button", name="Continue").press("Enter")
    problem = page.get_by_role("link", name="Please read a little longer")
    expect(problem).to_be_visible()
    assert_readable(page)
    problem.press("Enter")
    expect(page).to_have_url(f"{page.url.partition('#')[0]}#stimulus")


def test_an_arm_is_given_a_text(page: Page, transactional_db: None, assert_readable: Check) -> None:
    owner = person(Role.INVESTIGATOR)
    study = draft_study(owner=owner, arms=ARMS, control="facts", languages=["en"])
    log_in(page, owner.username, PASSWORD, address=f"/studies/{study.slug}/build/arms/")
    expect(page.get_by_text("A vaccine protects others, too.").first).to_be_visible()
    assert_readable(page)
    page.get_by_role("link", name="facts").click()
    expect(page.get_by_role("textbox", name="Text to read")).to_have_value(ARMS[0]["reading"]["text"])
    expect(page.get_by_role("textbox", name="Transcript (optional)")).to_be_hidden()
    assert_readable(page)
    page.get_by_label("A video").check()
    expect(page.get_by_role("textbox", name="Transcript (optional)")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text to read")).to_be_hidden()
    page.get_by_label("Nothing: people go straight on").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Nothing is shown")).to_be_visible()
    assert_readable(page)
