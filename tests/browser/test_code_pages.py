"""Personal codes in a browser: a file is looked at before it is added, slips are printed, and a slip's link opens the study."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.models import EntryCode, Study
from surveys.recruitment.slowing import FREE_A_MINUTE, LONGEST_SECONDS, refused_codes
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, SLUG, recruiting_study
from tests.browser.staff import log_in

Check = Callable[[Page], None]
CODES = f"/studies/{SLUG}/codes/"
COURSE = "Name;Code\r\nJörg;KXTF-4M9P\r\nZoë;HDRN 7Q2W\r\nEve;A1\r\n".encode("cp1252")


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(entry={"kind": "codes"})


@pytest.fixture(params=[1280, 320], ids=["desk", "phone"])
def desk(request: pytest.FixtureRequest, new_page: Callable[..., Page], study: Study) -> Page:
    """The page of codes, open before the investigator."""
    page = new_page(viewport={"width": request.param, "height": 800})
    log_in(page, "investigator", address=CODES)
    page.wait_for_url(f"**{CODES}")
    return page


def choose(desk: Page, content: bytes) -> None:
    desk.get_by_label("File with codes").set_input_files({"name": "course.csv", "mimeType": "text/csv", "buffer": content})
    desk.get_by_role("button", name="Read the file").click()


def test_a_file_is_looked_at_before_its_codes_are_added(desk: Page, study: Study, assert_accessible: Check, assert_fits: Check) -> None:
    choose(desk, COURSE)
    expect(desk.get_by_role("heading", level=1)).to_have_text("2 codes in the file")
    expect(desk.get_by_text("course.csv, Windows-1252")).to_be_visible()
    expect(desk.get_by_text("line 4: expected 8 to 64 letters and digits, found 2")).to_be_visible()
    assert_accessible(desk)
    assert_fits(desk)
    assert not EntryCode.objects.filter(study=study).exists()
    desk.get_by_role("button", name="Add these codes").click()
    expect(desk.get_by_text("2 new codes were added.")).to_be_visible()
    expect(desk.get_by_text("There are 2 codes, 0 of them spent.")).to_be_visible()


def test_codes_that_were_checked_are_on_the_screen(desk: Page) -> None:
    desk.get_by_label("Completion codes, one on each line").fill("DONE-AAAA-BBBB-CCCC-DDDD")
    desk.get_by_role("button", name="Check", exact=True).click()
    expect(desk.get_by_role("rowheader", name="DONE-AAAA-BBBB-CCCC-DDDD")).to_be_in_viewport()


def test_a_file_without_codes_says_so_beside_its_field(
    desk: Page, complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("422")
    choose(desk, b"XYZA1;ANN\nXYZB2;BOB\n")
    expect(desk.get_by_role("alert")).to_be_focused()
    expect(desk.get_by_role("main")).to_contain_text("line 2: expected 8 to 64 letters and digits, found 5")
    assert_accessible(desk)
    assert_fits(desk)


def test_a_slips_link_fills_the_code_in_and_no_server_sees_it(
    desk: Page, new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    desk.get_by_label("How many codes").fill("3")
    desk.get_by_role("button", name="Make the codes").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("3 new codes")
    expect(desk.locator(".slip svg")).to_have_count(3)
    expect(desk.get_by_role("button", name="Print the slips")).to_be_visible()
    assert_accessible(desk)
    assert_fits(desk)
    desk.emulate_media(media="print")
    expect(desk.get_by_role("button", name="Download for a mail merge (CSV)")).to_be_hidden()
    expect(desk.locator(".slip").first).to_be_visible()
    desk.emulate_media(media="screen")
    with desk.expect_download() as download:
        desk.get_by_role("button", name="Download for a mail merge (CSV)").click()
    _head, *rows = download.value.path().read_text(encoding="utf-8").split()
    code, link = rows[0].split(",")
    student = new_page(viewport={"width": 320, "height": 640})
    asked: list[str] = []
    student.on("request", lambda request: asked.append(request.url))
    student.goto(link.partition("/s/")[1] + link.partition("/s/")[2])
    expect(student.get_by_label("Your personal code")).to_have_value(code.replace("-", ""))
    expect(student).to_have_url(re.compile(f"{JOURNEY}$"))
    assert not any(code.replace("-", "") in address.partition("#")[0] for address in asked)
    student.get_by_role("button", name="Start").click()
    expect(student.get_by_role("button", name="I agree")).to_be_visible()


def test_a_student_who_must_wait_keeps_the_code(
    page: Page, complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    complaints.expected.append("429")
    for _time in range(FREE_A_MINUTE + LONGEST_SECONDS):  # the count sinks by one in three seconds
        refused_codes.add(study.pk)
    page.goto(JOURNEY)
    page.get_by_label("Your personal code").fill("kxtf-4m9p")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("then press Start again. Your code stays good.")
    expect(page.get_by_label("Your personal code")).to_have_value("kxtf-4m9p")
    assert_accessible(page)
    assert_fits(page)
    refused_codes.clear()
