"""Data sets in a browser: brought with the keyboard and a file, approved, and its topics counted, on a desk and on a phone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import Role
from analysis.models import Asking, DataSet
from tests.browser.conftest import LOOK_GIVES_WAY, Complaints
from tests.browser.test_ledger_page import log_in_as
from tests.data_sets import approved, quiz_file, texts_file
from tests.factories import person
from tests.jobs import work_on

Check = Callable[[Page], None]


@pytest.mark.usefixtures("transactional_db")
def test_a_data_set_is_brought_approved_and_counted(
    new_page: Callable[..., Page], complaints: Complaints, tmp_path: Path, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected += LOOK_GIVES_WAY
    owner, officer = person(Role.INVESTIGATOR), person(Role.IRB_OFFICER)
    file = tmp_path / "diaries.csv"
    file.write_text(texts_file())
    page = new_page(viewport={"width": 1280, "height": 900})
    log_in_as(page, owner)
    page.get_by_role("link", name="Data sets").click()
    page.get_by_role("link", name="Bring data").click()
    page.get_by_label("Title").fill("Diaries of a term")
    page.get_by_label("Where the data come from").fill("From another university; the students agreed.")
    page.get_by_label("Texts, of which only topics").check()
    page.get_by_label("File", exact=True).set_input_files(file)
    expect(page.get_by_label("First line of the file")).to_have_value("student,week,text")
    for column, role in (("student", "student"), ("week", "week"), ("text", "text")):
        page.get_by_role("group", name=column, exact=True).get_by_label("Role").select_option(role)
    page.get_by_label("Language of the texts").select_option("en")
    page.get_by_label("Weeks of the term").fill("2")
    page.get_by_label("Topics of one student in one week").fill("1")
    page.get_by_label("Topics and their words").fill("recursion: recursion\nexam: exam, test")
    assert_accessible(page)
    page.set_viewport_size({"width": 320, "height": 800})
    assert_fits(page)
    page.get_by_role("group", name="text", exact=True).get_by_label("Role").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Language of the texts")).to_be_focused()
    page.locator("#columns").get_by_role("button", name="Bring data").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Diaries of a term")
    page.get_by_label("Budget ε").fill("5")
    expect(page.get_by_text("A single count to ± 1 of 40 people")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Ask for approval").click()
    expect(page.get_by_text("Waits for a decision")).to_be_visible()

    deciding = new_page(viewport={"width": 320, "height": 800})
    log_in_as(deciding, officer)
    deciding.get_by_role("link", name="Diaries of a term").click()
    assert_accessible(deciding)
    assert_fits(deciding)
    deciding.get_by_role("button", name="Approve", exact=True).click()
    expect(deciding.get_by_text("Approved by")).to_be_visible()

    page.reload()
    page.get_by_role("link", name="Topics").click()
    page.get_by_label("The whole term costs").fill("0.2")
    page.get_by_role("button", name="What would it cost?").click()
    expect(page.get_by_text("2 weeks at 0.1 each")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Spend and answer").click()
    expect(page.get_by_text("A worker draws the noise.")).to_be_visible()
    work_on(Asking.objects.get())
    expect(page.get_by_role("rowheader", name="recursion")).to_be_visible()
    expect(page.get_by_role("button", name="Print, or save as PDF")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.emulate_media(media="print")
    expect(page.get_by_role("button", name="What would it cost?")).to_be_hidden()
    expect(page.get_by_role("rowheader", name="recursion")).to_be_visible()


@pytest.mark.usefixtures("transactional_db")
def test_a_quiz_is_brought_and_has_the_pages_of_a_study(
    new_page: Callable[..., Page], complaints: Complaints, tmp_path: Path, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected += ["422", *LOOK_GIVES_WAY]
    owner = person(Role.INVESTIGATOR)
    file = tmp_path / "marks.csv"
    file.write_text(quiz_file().replace("major", '"the\nmajor"', 1))
    page = new_page(viewport={"width": 320, "height": 800})
    log_in_as(page, owner)
    page.goto("/data-sets/new/")
    page.get_by_label("Title").fill("Marks")
    page.get_by_label("Where the data come from").fill("From elsewhere.")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("group", name="id", exact=True).get_by_label("Role").select_option("student")
    expect(page.get_by_role("group", name="the major", exact=True)).to_be_visible()
    held_back: list[Route] = []
    page.route("/data-sets/new/", lambda route: held_back.append(route), times=1)
    page.get_by_role("button", name="Show the columns").click()
    page.get_by_label("Columns without a choice are").select_option("left_out")
    page.get_by_role("group", name="q1", exact=True).get_by_label("Role").select_option("item")
    held_back[0].continue_()
    page.locator(".htmx-request").wait_for(state="detached")
    assert page.get_by_label("File", exact=True).evaluate("(input) => input.files.length") == 1
    expect(page.get_by_role("group", name="id", exact=True).get_by_label("Role")).to_have_value("student")
    page.locator("#columns").get_by_role("button", name="Bring data").click()
    expect(page.get_by_role("alert")).to_contain_text("Expected a quiz of 2 to 200 questions, found 1.")
    assert_accessible(page)
    assert_fits(page)
    assert not DataSet.objects.exists()
    slug = approved(owner).whole.slug
    for name in ("difficulties", "questions", "ledger"):
        page.goto(f"/data-sets/{slug}/{name}/")
        expect(page.get_by_role("navigation", name="Pages of this data set").get_by_role("link", name=name.title())).to_have_attribute(
            "aria-current", "page"
        )
        assert_accessible(page)
        assert_fits(page)
    page.goto("/data-sets/")
    assert_accessible(page)
    assert_fits(page)
