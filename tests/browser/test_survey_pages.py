"""The pages of a study with one arm in a browser, wide and on a phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from surveys.models import Study
from tests.browser.staff import log_in
from tests.factories import PASSWORD, person, recruiting_study
from tests.finished_people import add_finished_people, compute
from tests.surveys import one_arm

Check = Callable[[Page], None]
PAGES = {
    "plan": ("/studies/{slug}/plan/", "the share who truly say yes would be known to"),
    "live": ("/studies/{slug}/results/", "would truly say yes (between"),
    "packet": ("/studies/{slug}/protocol/", "This is a survey: there is one group"),
    "arms": ("/studies/{slug}/build/arms/", "This study has one arm: it is a survey."),
    "die": ("/studies/{slug}/build/die/", "How many truly say yes can be known."),
    "new": ("/new-study/", "A survey, no experiment"),
    "about": ("/s/{slug}/about/", "which of the dice you used"),
    "allocation": ("/s/{slug}/allocation/", "Chance decides who gets which die"),
}


@pytest.fixture
def study(transactional_db: None) -> Study:
    owner: User = person(Role.INVESTIGATOR, username="surveyor")
    study = recruiting_study(owner=owner, **one_arm(allocation={"planned_participants": 400, "block_multiples": [1]}))
    add_finished_people(study, 400)
    compute(study)
    return study


def test_every_page_of_a_survey_is_read_on_every_screen(page: Page, study: Study, assert_readable: Check) -> None:
    log_in(page, "surveyor", PASSWORD, address="/studies/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    for address, words in PAGES.values():
        page.goto(address.format(slug=study.slug))
        expect(page.locator("main")).to_contain_text(words)
        assert_readable(page)


def test_a_slider_of_the_plan_moves_its_sentence(new_page: Callable[..., Page], study: Study) -> None:
    page = new_page(viewport={"width": 1280, "height": 900})
    log_in(page, "surveyor", PASSWORD, address=f"/studies/{study.slug}/plan/")
    expect(page.locator("#plan-results")).to_contain_text("To know it to ± 10 points takes 893 students")
    page.get_by_label("Precision wanted", exact=True).fill("5")
    expect(page.locator("#plan-results")).to_contain_text("To know it to ± 5 points takes 3,5")
