"""Planned subgroups in a browser: chosen by keyboard in the builder, and compared on the results page, wide and narrow."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from analysis.models import RunKind
from surveys.models import Participant, Study
from surveys.studies import services as studies
from tests.browser.people import SLUG, TWO_QUESTIONS, recruiting_study
from tests.browser.staff import log_in
from tests.categories import FREQUENCY
from tests.factories import draft_study
from tests.finished_people import TELLING_DIE, add_finished_people, compute, count_everybody

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = recruiting_study(
        questions=TWO_QUESTIONS, die=TELLING_DIE, allocation={"planned_participants": 400, "block_multiples": [1]}, subgroups=["gender"]
    )
    return with_two_genders(study)


def with_two_genders(study: Study) -> Study:
    """The closed study with 400 people and its results."""
    add_finished_people(study, 400, seed=2)
    for index, person in enumerate(Participant.objects.filter(study=study).order_by("arm", "subsample", "pk")):
        Participant.objects.filter(pk=person.pk).update(background={"gender": ("woman", "man")[index % 2]})
    count_everybody(study)
    studies.close(Study.objects.get(pk=study.pk), actor=study.owner)
    study.refresh_from_db()
    compute(study, RunKind.FIRST_RESULTS)
    compute(study, RunKind.FULL_RESULTS)
    return study


def test_the_comparison_fits_every_screen_and_serves_screen_readers(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    page = new_page()
    log_in(page, "investigator")
    page.goto(f"/studies/{SLUG}/results/")
    expect(page.get_by_role("heading", name="By subgroup:").first).to_be_visible()
    expect(page.get_by_text("whether the groups differ").first.or_(page.get_by_text("The groups differ").first).first).to_be_visible()
    region = page.get_by_role("region", name="Question 1, numbers by subgroup")
    expect(region.get_by_role("row")).to_have_count(3)
    page.get_by_role("link", name="How this is computed").last.click()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits(page)
        assert_accessible(page)


def test_groups_are_compared_on_every_named_answer(
    transactional_db: None, new_page: Callable[..., Page], assert_accessible: Check, assert_fits: Check
) -> None:
    faces = {"1": {"never": [1], "once": [2], "often": [*range(3, 16)]}, "2": {"never": [*range(1, 14)], "once": [14], "often": [15]}}
    study = recruiting_study(
        questions=[{**FREQUENCY, "faces": faces}],
        die=TELLING_DIE,
        allocation={"planned_participants": 400, "block_multiples": [1]},
        subgroups=["gender"],
    )
    with_two_genders(study)
    page = new_page()
    log_in(page, "investigator")
    page.goto(f"/studies/{SLUG}/results/")
    expect(page.get_by_role("heading", name="By subgroup:").first).to_be_visible()
    expect(page.locator("p.sentence").filter(has_text="groups differ")).to_have_count(2)
    region = page.get_by_role("region", name="Question 1, numbers by subgroup")
    expect(region.get_by_role("row")).to_have_count(1 + 2 * (3 + 2 + 1))
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert_fits(page)
        assert_accessible(page)


def test_the_questions_are_chosen_by_keyboard(page: Page, transactional_db: None, assert_accessible: Check, assert_fits: Check) -> None:
    recruiting_study()
    study = draft_study(slug="another", owner=Study.objects.get(slug=SLUG).owner)
    log_in(page, "investigator")
    page.goto(f"/studies/{study.slug}/build/subgroups/")
    box = page.get_by_role("checkbox").first
    box.focus()
    page.keyboard.press("Space")
    assert_accessible(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert_fits(page)
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    study.refresh_from_db()
    assert study.definition["subgroups"] == ["gender"]
    page.goto(f"/studies/{study.slug}/build/subgroups/")
    expect(page.get_by_role("checkbox").first).to_be_checked()
