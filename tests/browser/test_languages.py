"""Pages in a language that is read from right to left, in one without spaces, and in long words, on the narrowest phone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from surveys.classroom.services import open_room
from surveys.languages.catalogues import read_catalogue
from surveys.languages.offered import OWN, place_of
from surveys.models import Study
from surveys.study_file import document_of, read_study_file
from tests.audits.participants_words import LOCALE
from tests.browser.conftest import PHONE, Complaints
from tests.browser.people import JOURNEY, SAMPLE, become, recruiting_study, token_at_questions
from tests.browser.test_builder import open_page
from tests.browser.test_participant_pages import ENGLISH, pages_of_the_journey
from tests.factories import draft_study
from tests.language_files import file_of_words
from tests.languages import in_every_language

Check = Callable[[Page], None]


@pytest.fixture
def study(transactional_db: None) -> Study:
    document = document_of(read_study_file((SAMPLE / "lecture-videos.yaml").read_text(encoding="utf-8"), source="sample"))
    texts = {key: part for key, part in in_every_language(document).items() if part != document[key]}
    return recruiting_study(**{**texts, "languages": list(OWN)})


def words_in(code: str) -> dict[str, str]:
    """The words of the buttons that a journey presses."""
    catalogue = read_catalogue((place_of(code, LOCALE) / "django.po").read_text(encoding="utf-8"))
    return {name: catalogue.entries[words].said[0] for name, words in ENGLISH.items()}


def test_a_journey_from_right_to_left_fits_a_phone_and_serves_screen_readers(
    new_page: Callable[..., Page], complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("422")
    page = new_page(viewport=PHONE, locale="ar")
    for place in pages_of_the_journey(page, words_in("ar")):
        page.wait_for_load_state()
        assert page.locator("html").get_attribute("dir") == "rtl", place
        assert_fits(page)
        assert_accessible(page)
        if place == "debrief":
            assert page.locator("#withdrawal-code").evaluate("(code) => getComputedStyle(code).direction") == "ltr"


def test_the_language_is_changed_on_every_page_and_all_fit_a_phone(
    new_page: Callable[..., Page], site: str, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    page = new_page(viewport=PHONE)
    become(page.context, site, token_at_questions(study, subsample="1"))
    for where in (JOURNEY, f"{JOURNEY}privacy/", f"{JOURNEY}withdraw/", "/two-worlds/"):
        page.goto(where)
        for code in OWN:
            page.locator(f".languages a[hreflang={code}]").click()
            expect(page.locator("html")).to_have_attribute("lang", code)
            assert_fits(page)
        page.locator(".languages a[hreflang=zh-hans]").click()
        expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
        assert_accessible(page)


def test_the_home_page_and_a_class_room_fit_a_narrow_phone_from_right_to_left(
    new_page: Callable[..., Page], site: str, transactional_db: None, assert_accessible: Check, assert_fits: Check
) -> None:
    code = open_room("listened").code
    page = new_page(viewport={"width": 320, "height": 800}, locale="ar")
    for place in ("", "privacy/", "in-class/", f"in-class/{code}/", f"in-class/{code}/screen/"):
        page.goto(f"{site}/{place}")
        assert page.locator("html").get_attribute("dir") == "rtl", place
        page.locator("nav.languages").get_by_role("link", name="Polski").click()
        expect(page.locator("html")).to_have_attribute("lang", "pl")
        page.locator("nav.languages").get_by_role("link", name="العربية").click()
        expect(page.locator("html")).to_have_attribute("dir", "rtl")
        assert_fits(page)
        assert_accessible(page)


def test_an_investigator_uploads_a_language_after_each_problem_was_named(
    page: Page, transactional_db: None, complaints: Complaints, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("422")
    draft = draft_study(owner=User.objects.create_user("investigator", password="correct horse", role=Role.INVESTIGATOR))
    open_page(page, f"/studies/{draft.slug}/build/languages/")
    for content, words in (
        (file_of_words().replace('"TR Yes"', '"<b>TR Yes</b>"'), "expected the markup none, found </b> <b>: Yes"),
        (file_of_words(), "participants can read the pages in Türkçe"),
    ):
        file = page.get_by_label("File with your translations (.po)")
        file.set_input_files({"name": "tr.po", "mimeType": "text/plain", "buffer": content.encode()})
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text(words).first).to_be_visible()
        for width in (320, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert_fits(page)
            assert_accessible(page)
