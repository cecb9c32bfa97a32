"""The builder in a browser: a study is built from nothing, by keyboard and by pointer, and its pages fit every screen."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from surveys.models import MediaFile, Study
from surveys.studies.readiness import to_do
from surveys.studies.services import create_study
from surveys.study_file import define
from tests.browser.conftest import Complaints
from tests.browser.people import SAMPLE
from tests.browser.staff import log_in
from tests.factories import document
from tests.import_files import FILES

Check = Callable[[Page], None]


@pytest.fixture
def investigator(transactional_db: None) -> User:
    return User.objects.create_user("investigator", password="correct horse", role=Role.INVESTIGATOR)


def open_page(page: Page, address: str) -> None:
    log_in(page, "investigator", address=address)
    page.wait_for_url(f"**{address}")  # with its scripts


def test_a_study_is_begun_and_an_upload_shows_its_progress(page: Page, investigator: User, complaints: Complaints) -> None:
    complaints.expected.append("422")
    open_page(page, "/studies/")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Title").fill("Faces in lectures")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Build the study")
    page.get_by_role("link", name="The file first.mp4 has not been uploaded.").click()
    page.wait_for_load_state()  # without its script the form of a file goes up without a word
    page.get_by_label("Weight").fill("3")
    status = page.locator("[data-status]").first
    page.evaluate(
        "window.said = []; new MutationObserver(() => window.said.push(document.querySelector('[data-status]')?.textContent))"
        ".observe(document.querySelector('[data-status]'), {childList: true})"
    )
    page.get_by_label("File: Video").set_input_files(SAMPLE / "lectures" / "slides-only.mp4")
    expect(status).to_be_hidden()
    page.get_by_role("button", name="Upload").first.click()
    expect(page.get_by_text("27 s").first).to_be_visible()
    assert any("sent" in (words or "").lower() for words in page.evaluate("window.said"))
    assert page.evaluate("document.querySelector('video').checkVisibility()")
    expect(page.get_by_label("Weight")).to_have_value("3")
    page.get_by_label("File: Captions, English").set_input_files({"name": "c.vtt", "mimeType": "text/vtt", "buffer": b"no captions"})
    page.get_by_role("button", name="Upload").nth(1).click()
    expect(page.get_by_text("are not WebVTT")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile("/build/arms/(#|$)"))
    study = Study.objects.get(slug="faces-in-lectures")
    assert define(study.definition).arm("first").weight == 3
    assert MediaFile.objects.get(study=study).name == "first.mp4"
    assert "The file first.mp4 has not been uploaded." not in [one.sentence for one in to_do(study)]


def test_questions_are_ordered_by_keyboard_alone_and_by_dragging(page: Page, investigator: User) -> None:
    study = create_study(definition=define(document()), owner=investigator)
    names = [item["name"] for item in document()["background"]]
    open_page(page, f"/studies/{study.slug}/build/background/")
    page.locator(f'button[value="down:{names[0]}"]').focus()
    for place in (2, 3):
        page.keyboard.press("Enter")
        expect(page.get_by_text(f"Now number {place} of {len(names)}.")).to_be_visible()
        expect(page.locator(f'button[value="down:{names[0]}"]')).to_be_focused()
    items = page.locator("[data-name]")
    items.first.evaluate("(item) => item.scrollIntoView({ block: 'center' })")  # a page that scrolls under a held button drags nothing
    items.nth(2).drag_to(items.nth(0), target_position={"x": 100, "y": 4})
    expect(items.first).to_have_attribute("data-name", names[0])
    expect(page.get_by_text("Saved.")).to_be_visible()
    study.refresh_from_db()
    assert study.definition["background"][0]["name"] == names[0]
    page.get_by_role("button", name=f"Duplicate: {document()['background'][0]['text']['en']}").click()
    expect(page.get_by_text(f"Copied: the copy is number 2 of {len(names) + 1}.")).to_be_visible()
    expect(page.locator(f'button[value="{names[0]}_2"]')).to_be_focused()


def test_a_title_with_the_longest_word_fits_and_a_count_of_two_digits_stands_on_one_line(
    page: Page, phone: Page, investigator: User, assert_fits: Check
) -> None:
    word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    questions = [{"name": "attention", "text": f"Did you ever {word}?"}]
    study = create_study(definition=define(document(title={"en": word, "de": "[[1]]"}, questions=questions)), owner=investigator)
    build = f"/studies/{study.slug}/build/"
    open_page(phone, build)
    for address in (build, f"{build}questions/", "/studies/", f"{build}../preview/?framed=1&step=welcome"):
        phone.goto(address)
        assert_fits(phone)
    open_page(page, build)
    count = page.get_by_role("link", name=re.compile("^Arms and what they show")).locator(".builder-left")
    heights = count.evaluate("(count) => ['9', '10'].map((text) => { count.textContent = text; return count.offsetHeight; })")
    assert heights[0] == heights[1]


def test_every_page_fits_and_serves_screen_readers(page: Page, investigator: User, complaints: Complaints, assert_readable: Check) -> None:
    complaints.expected += ["422", "404"]  # forms that were sent empty, and videos of which there is only a name
    study = create_study(definition=define(document(contact="[[whom]]")), owner=investigator)
    build = f"/studies/{study.slug}/build/"
    open_page(page, build)
    parts = ("about/", "consent/", "arms/", "arms/slides/", "background/", "background/edit/courses/", "background/export/redcap/")
    for part in ("", *parts, "quiz/edit/control/", "questions/add/?kind=yes_no", "plans/", "file/", "../duplicate/"):
        page.goto(build + part)
        for summary in page.locator("summary:visible").all():
            summary.click()
        assert_readable(page)
    page.goto(build + "background/import/")
    page.locator("input[type=file]").set_input_files(next(path for path in FILES if path.suffix == ".qsf"))
    page.get_by_role("button", name="Show what comes in").click()
    expect(page.get_by_role("heading", name="What comes in")).to_be_visible()
    page.locator(".import-offer details:not([open]) summary").nth(1).click()
    assert_readable(page)
    for begin, button in (("/new-study/", "Create the study"), ("/import-study/", "Import")):
        page.goto(begin)
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("alert")).to_be_visible()
        assert_readable(page)
