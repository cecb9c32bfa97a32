"""The page on networks: ask, wait for the worker, read; accessible on every screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from analysis.models import Asking
from tests.browser.conftest import Complaints
from tests.browser.test_builder import open_page
from tests.integration.test_network_questions import source_of_circles
from tests.jobs import work_on

Check = Callable[[Page], None]


@pytest.mark.django_db(transaction=True)
def test_a_release_is_asked_for_and_read(page: Page, complaints: Complaints, assert_readable: Check) -> None:
    source = source_of_circles()
    owner = source.study.owner
    owner.username = "investigator"
    owner.set_password("correct horse")
    owner.save()
    open_page(page, f"/studies/{source.study.slug}/analytics/networks/")
    expect(page.get_by_role("heading", name="What is not offered, and why")).to_be_visible()
    assert_readable(page)
    page.get_by_label("Friends by clustering").check()
    page.get_by_label("How much to spend").fill("0.2")
    page.get_by_role("button", name="What would it cost?").press("Enter")
    expect(page.get_by_text("it would be noise")).to_be_visible()
    page.get_by_label("How much to spend").fill("2")
    page.get_by_role("button", name="What would it cost?").press("Enter")
    expect(page.get_by_text("right to ± 3, 95 times in 100")).to_be_visible()
    assert_readable(page)
    page.get_by_role("button", name="Spend and answer").press("Enter")
    expect(page.get_by_text("A worker draws the noise.")).to_be_visible()
    work_on(Asking.objects.get())
    expect(page.get_by_role("rowheader", name="0 or 1 friends")).to_be_visible()
    assert_readable(page)
