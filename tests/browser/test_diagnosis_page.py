"""The diagnosis page in a browser: started, watched and read on every screen, also without a script."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from analysis.models import Diagnosis
from surveys.models import Study
from surveys.studies.services import create_study
from tests.browser.conftest import Complaints
from tests.browser.staff import log_in
from tests.factories import definition
from tests.jobs import is_unfinished, work_on

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    owner = User.objects.create_user("planner", password="correct horse", role=Role.INVESTIGATOR)
    return create_study(definition=definition(), owner=owner)


def open_diagnosis(page: Page, study: Study) -> None:
    log_in(page, "planner", address=f"/studies/{study.slug}/diagnosis/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Diagnosis")


def test_a_diagnosis_is_asked_for_by_keyboard_watched_and_read(
    page: Page, study: Study, assert_readable: Check, complaints: Complaints
) -> None:
    complaints.expected.append("422")
    open_diagnosis(page, study)
    assert_readable(page)
    page.get_by_label("Simulated studies").fill("100")
    page.keyboard.press("Enter")
    diagnosed = page.locator("#diagnosed")
    expect(diagnosed).to_contain_text("of 28 parts are simulated.")
    assert_readable(page)
    while is_unfinished(Diagnosis.objects.get()):
        work_on(Diagnosis.objects.get())
    expect(diagnosed).to_contain_text("All studies are simulated.")
    expect(diagnosed).to_contain_text("If nobody cheats and nobody leaves")
    expect(diagnosed.get_by_role("row")).to_have_count(29)
    assert_readable(page)
    page.get_by_label("Effect").fill("90")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("alert")).to_contain_text("Prevalence and effect together must lie between 0 and 100, found 130.")
    expect(page.get_by_label("Effect")).to_have_value("90")
    assert_readable(page)


@pytest.mark.parametrize(("address", "begin"), [("diagnosis", "Simulate"), ("rehearsal", "Send the bots")])
def test_a_page_that_refreshes_itself_leaves_the_focus_on_its_button(page: Page, study: Study, address: str, begin: str) -> None:
    log_in(page, "planner", address=f"/studies/{study.slug}/{address}/")
    page.get_by_role("button", name=begin).click()
    page.get_by_role("button", name="Stop").focus()
    for _refreshed in range(2):
        page.wait_for_event("response")
    expect(page.get_by_role("button", name="Stop")).to_be_focused(timeout=100)


def test_without_a_script_it_is_stopped_and_deleted(new_page: Callable[..., Page], study: Study) -> None:
    page = new_page(java_script_enabled=False)
    open_diagnosis(page, study)
    page.get_by_role("button", name="Simulate").click()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#diagnosed")).to_contain_text("Stopped after 0 of 56 parts.")
    page.get_by_role("button", name="Delete the diagnosis").click()
    expect(page.get_by_text("The diagnosis was deleted.")).to_be_visible()
    expect(page.locator("#diagnosed")).to_have_count(0)
