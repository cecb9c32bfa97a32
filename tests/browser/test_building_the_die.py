"""The die designer and the preview in a browser: by keyboard, without a script, on a small screen, and for screen readers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files import File
from playwright.sync_api import Page, expect

from accounts.models import Role, User
from surveys.media.services import add_media_file
from surveys.models import Participant, Study
from surveys.studies.services import create_study
from surveys.study_file import define
from tests.browser.conftest import LOOK_GIVES_WAY, PHONE, Complaints
from tests.browser.people import SAMPLE
from tests.browser.staff import log_in
from tests.browser.turning import answer_all, roll
from tests.factories import definition

Check = Callable[[Page], None]
SLUG = "lecture-videos"
DIE = f"/studies/{SLUG}/build/die/"
ALLOCATION = f"/studies/{SLUG}/build/allocation/"
PREVIEW = f"/studies/{SLUG}/preview/"


@pytest.fixture
def study(transactional_db: None) -> Study:
    owner = User.objects.create_user("builder", password="correct horse", role=Role.INVESTIGATOR)
    study = create_study(definition=definition(), owner=owner)
    for name in sorted(one for one in definition().files() if one.startswith("slides-only") or one.endswith(".vtt")):
        with Path(SAMPLE, "lectures", name).open("rb") as content:
            add_media_file(study, name=name, content=File(content), actor=owner)
    return study


def open_page(page: Page, address: str) -> None:
    log_in(page, "builder", address=address)
    page.wait_for_url(f"**{address}")


def test_faces_are_turned_by_keyboard_and_the_page_answers_at_once(page: Page, complaints: Complaints, study: Study) -> None:
    complaints.expected += LOOK_GIVES_WAY
    open_page(page, DIE)
    facts = page.locator("#die-facts")
    expect(facts).to_contain_text("ε = 1.3863 for each answer, 5.5452 in total.")
    face = page.get_by_role("group", name="Subsample 1").get_by_role("button", name="Face 4 truth")
    face.focus()
    page.keyboard.press("Enter")
    expect(facts).to_contain_text("ε = 1.3863 for each answer")
    expect(page.locator("#face-0-3")).to_be_focused()
    expect(page.locator("#face-0-3")).to_have_text("Face 4yes")
    expect(facts).to_contain_text("only bounds")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    expect(facts).to_contain_text("The size of the effect: yes.")
    page.get_by_label("Choose a die").select_option("other")
    page.get_by_label("Another number of sides").fill("7")
    expect(page.locator(".plan-face")).to_have_count(14)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert define(Study.objects.get().definition).die.sides == 7


def test_without_a_script_every_button_does_what_it_says(new_page: Callable[..., Page], study: Study) -> None:
    page = new_page(java_script_enabled=False)
    open_page(page, DIE)
    page.locator("#face-1-0").click()
    expect(page.locator("#face-1-0")).to_have_text("Face 1no")
    page.get_by_role("button", name="Mirror the first subsample").click()
    expect(page.locator("#die-facts")).to_contain_text("The size of the effect: yes.")
    page.get_by_label("always no").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert define(Study.objects.get().definition).die.cheaters == "always_no"


def test_somebody_walks_the_preview_and_nobody_has_been_there(page: Page, study: Study) -> None:
    open_page(page, PREVIEW)
    page.get_by_role("button", name="Show this page").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Continue").click()
    page.locator("video").evaluate("(video) => video.play()")
    expect(page.locator("video")).not_to_have_js_property("currentTime", 0)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The die keeps your answers private")
    roll(page)
    page.get_by_role("link", name="Next page").click()
    answer_all(page, number=len(definition().questions))
    page.get_by_role("button", name="Submit answers").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Roll, then answer")
    assert not Participant.objects.exists()


def test_the_pages_fit_small_screens_and_serve_screen_readers(page: Page, study: Study, assert_readable: Callable[..., None]) -> None:
    open_page(page, DIE)
    steps = ("video&arm=slides", "video&arm=instructor", "questions", "finished")
    rehearsal = f"/studies/{SLUG}/rehearsal/"
    for address in (DIE, ALLOCATION, PREVIEW, rehearsal, *(f"{PREVIEW}?step={step}" for step in steps)):
        page.goto(address)
        assert_readable(page, screens=[(PHONE, "light"), (PHONE, "dark")])


def test_beside_the_preview_every_column_of_the_designs_is_in_sight(page: Page, study: Study) -> None:
    open_page(page, DIE)
    table = page.get_by_role("region", name="Table of designs")
    expect(table.get_by_role("columnheader", name="Shares")).to_be_visible()
    assert table.evaluate("(region) => region.scrollWidth - region.clientWidth") == 0
