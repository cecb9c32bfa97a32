"""The preregistration and the report at the end, on a desk and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.models import Study
from surveys.studies import services as studies
from tests.browser.people import SLUG, recruiting_study
from tests.browser.staff import come_in

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = recruiting_study()
    return studies.close(study, actor=study.owner)


def test_the_plan_and_the_report_can_be_read_on_every_screen(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    for width in (1280, 390):
        page = new_page(viewport={"width": width, "height": 900})
        come_in(page, "investigator")
        page.goto(f"/studies/{SLUG}/")
        page.get_by_role("link", name="Analysis plan and its hash").click()
        expect(page.get_by_role("heading", name="Hypotheses")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
        page.emulate_media(media="print")
        expect(page.get_by_role("link", name=study.title)).to_be_visible()  # a sheet of paper names its study
        page.emulate_media(media="screen")
        page.goto(f"/studies/{SLUG}/results/")
        page.get_by_role("link", name="Planned and done").click()
        expect(page.get_by_role("columnheader", name="Planned")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
