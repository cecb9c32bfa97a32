"""A release from the choices to the public page: by keyboard and screen reader, on a desktop and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from analysis.models import Release
from surveys.models import Study
from tests.browser.conftest import PHONE, Complaints
from tests.browser.staff import come_in
from tests.factories import PASSWORD, person
from tests.jobs import work_on
from tests.releases import CHOICES, closed_study

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return closed_study()


def test_two_people_bring_data_to_the_public(
    new_page: Callable[..., Page],
    complaints: Complaints,
    study: Study,
    assert_readable: Check,
) -> None:
    complaints.expected.append("422")

    owner, officer, stranger = (new_page(viewport=PHONE, color_scheme="dark") for _ in range(3))
    come_in(owner, study.owner.get_username(), PASSWORD)
    owner.goto(f"/studies/{study.slug}/releases/")
    owner.get_by_label("As counts: how often").check()
    owner.get_by_role("button", name="Build the package").click()
    expect(owner.get_by_role("alert").get_by_role("link")).to_have_text("Name at least one author, one on each line.")
    assert_readable(owner)
    owner.get_by_role("alert").get_by_role("link").click()
    owner.get_by_label("Authors, for the citation").fill("\n".join(CHOICES.authors))
    owner.get_by_label("Title of the data").fill(CHOICES.title)
    owner.get_by_role("button", name="Build the package").click()
    expect(owner.get_by_text("A worker will begin in a moment.")).to_be_visible()
    assert_readable(owner)
    work_on(Release.objects.get())
    owner.get_by_role("button", name="Ask the IRB officer to approve").click()
    expect(owner.get_by_text("An IRB officer who has no part in the study decides.")).to_be_visible()
    expect(owner.get_by_text("you see rows once they are public")).to_be_visible()
    assert_readable(owner)

    come_in(officer, person(Role.IRB_OFFICER).get_username(), PASSWORD)
    officer.get_by_role("link", name="Waiting for you").click()
    officer.get_by_role("link", name=CHOICES.title).click()
    assert_readable(officer)
    officer.get_by_role("button", name="Approve and publish").click()
    expect(officer.get_by_text("Public since")).to_be_visible()

    stranger.goto("/data/")
    assert_readable(stranger)
    stranger.get_by_role("link", name=CHOICES.title).click()
    expect(stranger.get_by_text("all are the same to 1e-9")).to_be_visible()
    assert_readable(stranger)
    with stranger.expect_download() as download:
        stranger.get_by_role("link", name="Download the data package").click()
    assert download.value.suggested_filename == f"{study.slug}-1.zip"
    officer.get_by_label("Why it is retracted").fill("A lecture was shown to the wrong arm.")
    with officer.expect_navigation():
        officer.get_by_role("button", name="Retract the data").click()
    stranger.reload()
    expect(stranger.get_by_text("A lecture was shown to the wrong arm.")).to_be_visible()
    assert_readable(stranger)
