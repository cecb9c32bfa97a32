"""The choice of one's section: by keyboard, on a narrow phone, from a list or from a link, with the mistakes that people make."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.models import Participant, Study
from tests.browser.conftest import Complaints
from tests.browser.people import recruiting_study

Check = Callable[[Page], None]
NARROW = {"viewport": {"width": 320, "height": 640}}
LABELS = ["Monday, 9 am, in the large hall of the old building", "Monday, 11 am", "Tuesday, 9 am", "Tuesday, 11 am"]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(allocation={"planned_participants": 48, "unit": "cluster", "sections": LABELS})


@pytest.mark.parametrize(
    ("language", "start", "agree", "onwards", "question", "wrong"),
    [
        ("en", "Start", "I agree", "Continue", "Which section are you in?", "Choose one from the list."),
        ("de", "Los geht’s", "Ich stimme zu", "Weiter", "In welcher Kursgruppe bist du?", "Wähle etwas aus der Liste."),
    ],
)
def test_somebody_chooses_their_section_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page],
    site: str,
    study: Study,
    complaints: Complaints,
    assert_accessible: Check,
    assert_fits: Check,
    language: str,
    start: str,
    agree: str,
    onwards: str,
    question: str,
    wrong: str,
) -> None:
    complaints.expected.append("422")  # a page that returns with a mistake has a status that says so
    page = new_page(**NARROW, locale=language)
    page.goto(f"{site}/s/{study.slug}/")
    page.get_by_role("button", name=start).press("Enter")
    page.get_by_role("button", name=agree, exact=True).press("Enter")
    sections = page.get_by_role("group", name=question)
    expect(sections.get_by_role("radio")).to_have_count(4)
    expect(sections.get_by_role("radio", checked=True)).to_have_count(0)
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name=onwards, exact=True).press("Enter")

    summary = page.get_by_role("alert")
    expect(summary).to_contain_text(f"{question} {wrong}")
    assert_accessible(page)
    assert_fits(page)
    summary.get_by_role("link").press("Enter")
    expect(page.locator("#section")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(sections.get_by_label("Monday, 11 am")).to_be_checked()
    page.get_by_role("button", name=onwards, exact=True).press("Enter")
    expect(page.locator("video")).to_be_visible()
    person = Participant.objects.get(study=study)
    assert person.background["section"] == "2"
    assert person.arm == study.allocation_slots.filter(stratum="2").first().arm


def test_a_link_has_chosen_the_section_and_a_wrong_one_leads_to_the_list(
    new_page: Callable[..., Page], site: str, study: Study, complaints: Complaints, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("404")
    page = new_page(**NARROW)
    page.goto(f"{site}/s/{study.slug}/?section=99")
    expect(page.get_by_role("heading", level=1)).to_have_text("This link names a section that is not in this study")
    assert_accessible(page)
    assert_fits(page)
    page.goto(f"{site}/s/{study.slug}/?section=3")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I agree", exact=True).click()
    expect(page.get_by_label("Tuesday, 9 am")).to_be_checked()
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get(study=study).background["section"] == "3"
