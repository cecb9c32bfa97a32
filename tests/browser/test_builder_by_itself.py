"""The builder saves itself: nothing that somebody typed is lost, and everything can be taken back."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import Role, User
from surveys.models import Study
from surveys.studies.services import create_study
from surveys.study_file import define
from tests.browser.conftest import Complaints
from tests.browser.test_builder import open_page
from tests.factories import document

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    owner = User.objects.create_user("investigator", password="correct horse", role=Role.INVESTIGATOR)
    return create_study(definition=define(document()), owner=owner)


@pytest.fixture
def build(study: Study, complaints: Complaints) -> str:
    complaints.expected.append("404")  # videos of which there is only a name
    return f"/studies/{study.slug}/build/"


def stored(study: Study) -> Any:
    study.refresh_from_db()
    return study.definition


def saved(page: Page) -> Locator:
    return page.locator("[data-saved]")


def test_what_is_typed_is_stored_shown_and_taken_back(page: Page, study: Study, build: str) -> None:
    before = stored(study)["consent"]
    open_page(page, f"{build}consent/")
    preview = page.frame_locator("iframe[name=preview-frame]")
    preview.get_by_text("Preview – nothing is stored").wait_for()
    page.get_by_label("English").fill("Stop when it rains.")
    expect(preview.get_by_text("Stop when it rains.")).to_be_visible()
    expect(saved(page)).to_have_text("All changes are saved")
    assert stored(study)["consent"]["en"] == "Stop when it rains."
    page.get_by_label("Deutsch").fill("Hör auf, wenn es regnet.")
    expect(preview.get_by_text("Hör auf, wenn es regnet.")).to_be_visible()
    page.get_by_label("English").fill("Stop when it snows.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Taken back: Consent.")).to_be_visible()
    assert stored(study)["consent"] == before, "with what had just been typed"
    page.get_by_role("button", name="Redo").click()
    expect(page.get_by_label("English")).to_have_value("Stop when it snows.")


def test_text_that_cannot_be_stored_yet_waits_where_it_was_typed(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}plans/")
    page.get_by_label("Months from closing").fill("twelve")
    expect(page.locator("#months-error")).to_contain_text("whole number")
    expect(page.locator("[data-problem]")).to_contain_text("whole number")
    page.get_by_role("navigation", name="Parts of the study").get_by_role("link", name="Consent").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Consent")
    page.go_back()
    expect(page.get_by_label("Months from closing")).to_have_value("twelve")
    page.get_by_label("Months from closing").fill("24")
    expect(saved(page)).to_have_text("All changes are saved")
    expect(page.locator("#months-error")).to_have_count(0)
    assert stored(study)["retention"] == {"months_after_closing": 24}


def test_a_click_elsewhere_right_after_typing_loses_nothing(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}about/")
    page.get_by_label("English").first.fill("Faces or slides")
    page.get_by_role("navigation", name="Parts of the study").get_by_role("link", name="Consent").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Consent")
    page.goto(f"{build}about/")
    expect(page.get_by_label("English").first).to_have_value("Faces or slides")
    expect(saved(page)).to_have_text("All changes are saved")
    assert stored(study)["title"]["en"] == "Faces or slides"
    page.goto(f"{build}questions/add/?kind=yes_no")
    page.get_by_label("English").first.fill("Did you ever")
    page.get_by_role("link", name="Back to: Sensitive questions").click()
    page.get_by_role("link", name="Add a question", exact=True).click()
    expect(page.get_by_label("English").first).to_have_value("Did you ever")
    page.get_by_label("English").first.fill("Did you ever copy?")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Add a question", exact=True).click()
    expect(page.get_by_label("English").first).to_have_value("")


def test_on_a_telephone_the_form_comes_first_and_the_list_of_parts_stays_open_while_changes_are_saved(
    new_page: Callable[..., Page], study: Study, build: str
) -> None:
    wide, narrow = new_page(), new_page()
    narrow.set_viewport_size({"width": 390, "height": 844})
    for page in (wide, narrow):
        open_page(page, f"{build}debrief/")
    parts, link = narrow.get_by_role("navigation", name="Parts of the study"), wide.get_by_role("link", name="Consent", exact=True)
    expect(parts.get_by_role("link")).to_have_count(0)
    expect(narrow.get_by_role("button", name="Undo")).to_be_in_viewport()
    expect(link).to_be_visible()
    link.focus()
    expect(link).to_be_focused()
    parts.get_by_text("Parts of the study").click()
    narrow.get_by_label("English").fill("Thank you.")
    expect(saved(narrow)).to_have_text("All changes are saved")
    parts.get_by_role("link", name="Consent", exact=True).click()
    expect(narrow.get_by_role("heading", level=1)).to_have_text("Consent")


def test_two_pages_that_write_one_field_both_keep_their_words(new_page: Callable[..., Page], study: Study, build: str) -> None:
    one, other = new_page(), new_page()
    for page in (one, other):
        open_page(page, f"{build}debrief/")
    other.get_by_label("English").fill("Their thanks.")
    expect(saved(other)).to_have_text("All changes are saved")
    one.get_by_label("English").fill("My thanks.")
    expect(one.get_by_role("heading", name="Somebody else changed this in the meantime")).to_be_visible()
    expect(one.locator("#builder-conflict")).to_contain_text("Their thanks.")
    expect(one.get_by_label("English")).to_have_value("My thanks.")
    assert stored(study)["debrief"]["en"] == "Their thanks."
    one.get_by_role("button", name="Take mine").click()
    expect(one.get_by_text("Saved.", exact=True)).to_be_visible()
    assert stored(study)["debrief"]["en"] == "My thanks."


def test_two_pages_that_write_different_fields_keep_and_show_both(new_page: Callable[..., Page], study: Study, build: str) -> None:
    one, other = new_page(), new_page()
    for page in (one, other):
        open_page(page, f"{build}debrief/")
    other.get_by_label("Deutsch").fill("Ihr Dank.")
    expect(saved(other)).to_have_text("All changes are saved")
    one.get_by_label("English").fill("My thanks.")
    expect(one.get_by_label("Deutsch")).to_have_value("Ihr Dank.")
    expect(one.get_by_role("status").filter(has_text="Both changes are kept.")).to_be_visible()
    expect(saved(one)).to_have_text("All changes are saved")
    one.get_by_label("Deutsch").fill("Unser Dank.")
    expect(saved(one)).to_have_text("All changes are saved")
    expect(one.get_by_role("status").filter(has_text="Both changes are kept.")).to_have_count(0)
    assert stored(study)["debrief"] == {"en": "My thanks.", "de": "Unser Dank."}, "what is shown can be changed, too"
    other.get_by_label("English").fill("Their thanks.")
    expect(other.get_by_role("heading", name="Somebody else changed this in the meantime")).to_be_visible()
    assert stored(study)["debrief"]["en"] == "My thanks."


def test_text_that_was_typed_after_logging_out_is_there_after_logging_in(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}debrief/")
    expect(page.frame_locator("iframe[name=preview-frame]").get_by_role("heading").first).to_be_visible()
    page.context.clear_cookies(name="sessionid")
    page.get_by_label("English").fill("Many thanks.")
    expect(page.locator("[data-problem]")).to_contain_text("Log in again")
    open_page(page, f"{build}debrief/")
    expect(page.get_by_label("English")).to_have_value("Many thanks.")
    expect(saved(page)).to_have_text("All changes are saved")
    assert stored(study)["debrief"]["en"] == "Many thanks."


def test_an_open_page_says_that_the_login_has_ended_and_goes_on_after_the_next_one(page: Page, study: Study, build: str) -> None:
    """No page that asks by itself complains in the console, neither without a login nor with the tokens of the one before."""
    page.clock.install()
    open_page(page, f"{build}debrief/")
    expect(page.frame_locator("iframe[name=preview-frame]").get_by_role("heading").first).to_be_visible()
    company, again = page.locator("[data-company]"), page.get_by_role("link", name="Log in (opens in a new tab)")
    expect(again).to_be_hidden()
    page.context.clear_cookies(name="sessionid")
    page.clock.run_for(20_000)
    expect(company).to_have_text("You are logged out. This tab keeps what you type, and goes on as soon as you are logged in again.")
    page.get_by_label("English").fill("Many thanks.")
    page.clock.run_for(2_000)
    expect(page.locator("[data-problem]")).to_contain_text("Log in again")
    expect(company).to_have_text("")
    with page.expect_popup() as opened:
        again.click()
    opened.value.get_by_label("User name").fill("investigator")
    opened.value.get_by_label("Password").fill("correct horse")
    opened.value.get_by_role("button", name="Log in").click()
    expect(opened.value.get_by_role("heading", level=1)).to_have_text("Studies")
    opened.value.close()
    page.bring_to_front()
    page.clock.run_for(20_000)
    expect(again).to_be_hidden()
    page.clock.run_for(1_000)
    expect(saved(page)).to_have_text("All changes are saved")
    assert stored(study)["debrief"]["en"] == "Many thanks."
    page.get_by_label("English").fill("Many, many thanks.")
    page.clock.run_for(2_000)
    expect(saved(page)).to_have_text("All changes are saved")


def test_a_form_that_was_given_back_goes_at_the_first_press_after_a_login(page: Page, study: Study, complaints: Complaints) -> None:
    complaints.expected.append("403")
    open_page(page, f"/studies/{study.slug}/webhooks/")
    page.get_by_label("Address", exact=True).fill("https://example.org/hook")
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Tell this address").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are not logged in any more")
    expect(page.get_by_label("Address", exact=True)).to_have_value("https://example.org/hook")
    expect(page.get_by_text("action", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("alert")).to_have_text("You are not logged in yet. Nothing was sent.")
    link = page.get_by_role("link", name="Log in (opens in a new tab)")
    expect(link).to_be_focused()
    with page.expect_popup() as opened:
        link.press("Enter")
    opened.value.get_by_label("User name").fill("investigator")
    opened.value.get_by_label("Password").fill("correct horse")
    opened.value.get_by_role("button", name="Log in").click()
    expect(opened.value.get_by_role("heading", level=1)).to_have_text("Studies")
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("heading", name="Copy this secret now")).to_be_visible()


def test_text_that_was_typed_before_the_script_came_is_saved(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}debrief/")
    scripts: list[Any] = []
    page.route("**/builder*.js", lambda route: scripts.append(route))
    with page.expect_request("**/builder*.js"):
        page.goto(f"{build}debrief/", wait_until="commit")
    page.get_by_label("English").fill("Early.")
    page.wait_for_function("document.readyState === 'interactive'")
    scripts[0].continue_()
    expect(saved(page)).to_have_text("All changes are saved")
    assert stored(study)["debrief"]["en"] == "Early."


def test_the_browser_asks_before_text_is_lost_that_was_typed_before_the_script_came(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}debrief/")
    scripts: list[Any] = []
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.route("**/builder*.js", lambda route: scripts.append(route))
    with page.expect_request("**/builder*.js"):
        page.goto(f"{build}debrief/", wait_until="commit")
    page.get_by_label("English").press_sequentially("Early.")
    page.wait_for_function("document.readyState === 'interactive'")
    page.get_by_role("link", name="What is left to do").click(no_wait_after=True)
    expect(page.get_by_label("English")).to_have_value(re.compile("Early."))
    scripts[0].continue_()
    expect(saved(page)).to_have_text("All changes are saved")
    page.unroute("**/builder*.js")
    assert "Early." in stored(study)["debrief"]["en"]
    page.get_by_label("English").press_sequentially("Late.")
    page.get_by_role("link", name="What is left to do").click()
    page.wait_for_url(build)
    assert asked == ["beforeunload"], "asked once, and not once the script keeps what is typed"


def test_the_button_waits_for_what_the_page_saves_by_itself(page: Page, study: Study, build: str) -> None:
    open_page(page, f"{build}debrief/")
    waiting: list[Any] = []
    page.route("**/debrief/", lambda route: waiting.append(route) if "x-by-itself" in route.request.headers else route.continue_())
    with page.expect_request(lambda request: "x-by-itself" in request.headers):
        page.get_by_label("English").fill("One.")
    expect(saved(page)).to_have_text("Saving …")
    page.get_by_label("English").fill("One. Two.")
    page.get_by_role("button", name="Save", exact=True).click()
    (first,) = waiting
    first.continue_()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    assert stored(study)["debrief"]["en"] == "One. Two."
    assert study.revisions.count() == 3
