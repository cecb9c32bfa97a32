"""Scales and short texts: the participant's page by keyboard on a narrow phone in both languages, and the builder's page for them."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from surveys.models import Participant, Study
from surveys.studies import services as studies
from surveys.studies.examples import SAMPLE, study_from_example
from surveys.study_file import document_of, read_study_file
from tests.browser.conftest import Complaints
from tests.browser.people import recruiting_study
from tests.browser.test_builder import investigator, open_page
from tests.finished_people import add_finished_people, count_everybody

fixtures = (investigator,)
Check = Callable[[Page], None]
PAPER = document_of(read_study_file((SAMPLE / "recorded-lectures.yaml").read_text(encoding="utf-8")))
NARROW = {"viewport": {"width": 320, "height": 640}}


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(background=PAPER["background"])


@pytest.mark.parametrize(
    ("language", "subject", "grade", "wrong"),
    [
        ("en", "What is your main subject?", "Letter grade", "Leave out e-mail"),
        ("de", "Was ist dein Hauptfach?", "Note in Buchstaben", "Lass E-Mail"),
    ],
)
def test_the_background_of_the_papers_study_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page],
    site: str,
    study: Study,
    complaints: Complaints,
    assert_accessible: Check,
    assert_fits: Check,
    language: str,
    subject: str,
    grade: str,
    wrong: str,
) -> None:
    complaints.expected.append("422")  # a page that returns with a mistake has a status that says so
    page = new_page(**NARROW, locale=language)
    page.goto(f"{site}/s/{study.slug}/")
    page.get_by_role("button", name="Start" if language == "en" else "Los geht’s").press("Enter")
    page.get_by_role("button", name="I agree" if language == "en" else "Ich stimme zu", exact=True).press("Enter")
    expect(page.locator("input[name=step][value=background]")).to_be_attached()
    assert_accessible(page)
    assert_fits(page)
    field = page.get_by_label(subject)
    field.focus()
    page.keyboard.type("me@uni.example")
    page.keyboard.press("Tab")  # the first of the next scale
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#knowledge-2")).to_be_checked()
    page.get_by_role("group", name=grade).first.get_by_label("AB", exact=True).press("Space")
    page.get_by_role("button", name="Continue" if language == "en" else "Weiter", exact=True).press("Enter")

    summary = page.get_by_role("alert")
    expect(summary).to_contain_text(wrong)
    assert_accessible(page)
    assert_fits(page)
    summary.get_by_role("link").press("Enter")
    expect(field).to_be_focused()
    expect(field).to_have_value("me@uni.example")
    expect(page.locator("#knowledge-2")).to_be_checked()
    field.fill("Medienkunst")
    page.get_by_role("button", name="Continue" if language == "en" else "Weiter", exact=True).press("Enter")
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get().background == {"subject": "Medienkunst", "knowledge": "little", "courses": [{"grade": "ab"}]}


def test_a_scale_and_words_are_built_where_each_kind_shows_its_own_fields(
    page: Page, investigator: User, complaints: Complaints, assert_accessible: Check, assert_fits: Check
) -> None:
    study = study_from_example("recorded-lectures", owner=investigator)
    complaints.expected.append("422")
    open_page(page, f"/studies/{study.slug}/build/background/edit/interest/")
    scores, length = page.get_by_label("Scores (optional)"), page.get_by_label("How many characters at most")
    role = page.get_by_text("What the answer means for privacy")
    expect(scores).to_be_visible()
    expect(length).to_be_hidden()
    assert_accessible(page)
    assert_fits(page)
    scores.fill("1 2 3 5 4")
    page.get_by_role("button", name="Save").first.press("Enter")
    expect(page.get_by_text("must rise, or fall").first).to_be_visible()
    expect(scores).to_have_value("1 2 3 5 4")
    page.get_by_label("A few words").check()
    expect(scores).to_be_hidden()
    expect(role).to_be_hidden()
    expect(length).to_be_visible()
    page.set_viewport_size({"width": 320, "height": 640})
    assert_fits(page)


def test_the_list_of_words_and_the_examples_read_well_on_every_screen(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    add_finished_people(study, 20)
    for number, one in enumerate(Participant.objects.filter(study=study)):
        one.background = {"subject": ("History", "media arts and a very long name of a subject, hyphenated-never")[number % 2]}
        one.save()
    count_everybody(study)
    studies.close(study, actor=study.owner)
    for width in (1280, 320):
        page = new_page(viewport={"width": width, "height": 700})
        open_page(page, f"/studies/{study.slug}/")
        page.get_by_role("link", name="What people wrote in short texts").click()
        expect(page.get_by_role("listitem").filter(has_text="History")).to_contain_text("× 10")
        assert_accessible(page)
        assert_fits(page)
        page.goto("/new-study/")
        expect(page.get_by_role("button", name="Begin with recorded-lectures")).to_be_visible()
        assert_accessible(page)
        assert_fits(page)
