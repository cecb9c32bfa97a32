"""The audit log and the page about a study, in a real browser: readable for everybody, on every screen."""

from collections.abc import Callable
from datetime import date

import pytest
from playwright.sync_api import Page, expect

from surveys.models import Study, StudyStatus
from tests.browser.conftest import Complaints
from tests.browser.people import SLUG, recruiting_study
from tests.browser.staff import log_in

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study()


def test_the_log_is_read_verified_and_filtered(page: Page, study: Study, assert_readable: Check) -> None:
    log_in(page, "officer")
    page.get_by_role("link", name="Log", exact=True).click()
    page.get_by_role("button", name="Verify now").click()
    expect(page.get_by_text("entries are as they were written.").first).to_be_visible()
    page.get_by_text("in full").first.click()
    assert_readable(page)
    page.get_by_label("What was done").select_option("study.launched")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".log-entry")).to_have_count(1)
    page.goto(f"/studies/{SLUG}/log/")
    expect(page.get_by_role("link", name="Log", exact=True).last).to_have_attribute("aria-current", "page")
    assert_readable(page)


def test_the_pages_about_a_study_and_about_its_deletion(
    phone: Page, new_page: Callable[..., Page], complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("422")
    phone.goto(f"/s/{SLUG}/")
    phone.get_by_role("link", name="About this study").click()
    expect(phone.get_by_role("heading", name="What is stored")).to_be_visible()
    assert_accessible(phone)
    assert_fits(phone)
    phone.get_by_role("link", name="Deutsch").click()
    expect(phone.get_by_role("heading", level=1, name="Über diese Studie")).to_be_visible()
    assert_accessible(phone)
    Study.objects.filter(pk=study.pk).update(status=StudyStatus.CLOSED, closed_on=date.today())
    page = new_page(viewport={"width": 320, "height": 900}, color_scheme="dark")
    log_in(page, "investigator")
    page.goto(f"/studies/{SLUG}/forget/")
    page.get_by_role("button", name="Delete operational data now").click()
    expect(page.get_by_role("alert")).to_be_focused()
    assert_accessible(page)
    assert_fits(page)
