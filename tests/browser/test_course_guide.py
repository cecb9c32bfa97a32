"""The guide for lecturers, followed word for word: what stands in italics there is what is clicked here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from surveys.models import JoinCode, Study
from tests.browser.people import JOURNEY, SLUG, recruiting_study
from tests.browser.staff import log_in

Check = Callable[[Page], None]
WAYS = [{"name": "lecture", "kind": "class"}, {"name": "letters", "kind": "codes"}]


def clicked_in(section: str) -> list[str]:
    """The words in italics of a section of the guide, in their order."""
    text = Path(__file__).parents[2].joinpath("docs/courses.md").read_text(encoding="utf-8")
    return re.findall(r"(?<![*\w])\*([^*\n]+)\*(?!\*)", text.split(f"### {section}\n")[1].split("\n### ")[0])


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(entry={"ways": WAYS})


@pytest.fixture(params=[1280, 390, 320])
def desk(request: pytest.FixtureRequest, new_page: Callable[..., Page], study: Study) -> Page:
    page = new_page(viewport={"width": request.param, "height": 800})
    log_in(page, "investigator", address=f"/studies/{SLUG}/")
    page.wait_for_url(f"**/studies/{SLUG}/")
    return page


def test_a_join_code_is_made_shown_and_typed_as_the_guide_says(
    desk: Page, study: Study, new_page: Callable[..., Page], assert_accessible: Check, assert_fits: Check
) -> None:
    build, ways, kind, run, again, make, poster, another = clicked_in("A join code for your lecture")
    assert (build, run, again) == ("Build", "Run", ways)
    desk.goto(f"/studies/{SLUG}/build/ways/")
    expect(desk.get_by_role("heading", name=ways, exact=True).first).to_be_visible()
    expect(desk.get_by_role("radio", name=re.compile(f"^{kind}")).first).to_be_visible()
    assert_accessible(desk)
    assert_fits(desk)
    desk.goto(f"/studies/{SLUG}/")
    desk.get_by_role("navigation", name="Pages of this study").get_by_role("link", name=run).click()
    desk.get_by_role("link", name=ways, exact=True).first.click()
    desk.get_by_role("button", name=make).click()
    expect(desk.locator("code.code")).to_be_visible()
    code = JoinCode.objects.get(study=study).code
    expect(desk.locator("code.code")).to_have_text(code)
    assert_accessible(desk)
    assert_fits(desk)
    desk.get_by_role("link", name=poster).first.click()
    expect(desk.locator(".poster")).to_contain_text(code)
    assert_accessible(desk)
    assert_fits(desk)
    student = new_page(viewport={"width": 390, "height": 800})
    student.goto("/join/")
    assert_accessible(student)
    assert_fits(student)
    student.get_by_label("The code").fill(f" {code.lower()} ")
    student.get_by_role("button", name="Go on").click()
    student.wait_for_url(f"**{JOURNEY}?join={code}")
    student.get_by_role("button", name="Start").click()
    expect(student.get_by_role("button", name="I agree")).to_be_visible()
    desk.goto(f"/studies/{SLUG}/ways-in/")
    desk.get_by_role("button", name=another).click()
    expect(desk.locator("code.code")).not_to_have_text(code)
    assert JoinCode.objects.get(study=study).code != code


def test_letters_are_written_as_the_guide_says(desk: Page, study: Study) -> None:
    build, ways, kind, run, again, letters, make, download, _program = clicked_in("Letters with personal links")
    assert (build, ways, run, again) == ("Build", "Ways in", "Run", "Ways in")
    desk.goto(f"/studies/{SLUG}/build/ways/")
    expect(desk.get_by_role("radio", name=re.compile(f"^{kind}")).first).to_be_visible()
    desk.goto(f"/studies/{SLUG}/ways-in/")
    desk.get_by_role("link", name=letters).click()
    file = {"name": "class.csv", "mimeType": "text/csv", "buffer": b"name,address\nAnn,ann@example.org\n"}
    expect(desk.get_by_label("Open a file")).to_be_visible()
    desk.get_by_label("Open a file").set_input_files(file)
    desk.get_by_role("button", name=make).click()
    with desk.expect_download():
        desk.get_by_role("button", name=download).click()
    expect(desk.get_by_text("Drafts, one for each person")).to_be_visible()
