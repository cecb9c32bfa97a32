"""Files of students in a browser: joined, prepared, decided about and downloaded, with the keyboard, on a desk and on phones."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from accounts.models import Role
from analysis.models import RecordPackage, RecordSweep
from tests.browser.conftest import LOOK_GIVES_WAY, Complaints
from tests.browser.test_ledger_page import log_in_as
from tests.factories import person
from tests.jobs import work_off
from tests.record_sets import FILES

Check = Callable[[Page], None]
CAPTIONS_BEYOND_THE_SCREEN = """[...document.querySelectorAll("caption:not(.visually-hidden)")]
  .filter((caption) => caption.getBoundingClientRect().right > innerWidth).map((caption) => caption.textContent)"""
OF_STUDENTS = {"number": "number", "born": "quasi_identifier", "sex": "quasi_identifier", "name": "identifier"}
OF_COURSES = {"number": "number", "course": "quasi_identifier", "grade": "sensitive"}


@pytest.fixture(autouse=True)
def looks_give_way(complaints: Complaints) -> None:
    """Each file that is chosen asks for its columns."""
    complaints.expected += LOOK_GIVES_WAY


@pytest.mark.usefixtures("transactional_db")
def test_files_that_were_chosen_before_the_script_came_are_read_too(new_page: Callable[..., Page], tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    page, script, held = new_page(), re.compile(r"/bring\b[^/]*\.js"), list[Route]()
    log_in_as(page, person(Role.INVESTIGATOR))
    page.route(script, lambda route: held.append(route))
    with page.expect_request(script):
        page.goto(reverse("analysis:bring_records"), wait_until="commit")
    page.get_by_label("Files", exact=True).set_input_files([tmp_path / name for name in FILES])
    for route in held:
        route.continue_()
    expect(page.get_by_label("First line of each file")).to_have_value(re.compile("students.csv: number,born"))
    expect(page.get_by_role("region", name="maths.csv")).to_be_visible()


@pytest.mark.usefixtures("transactional_db")
def test_a_refusal_of_no_file_goes_when_files_are_chosen(new_page: Callable[..., Page], complaints: Complaints, tmp_path: Path) -> None:
    complaints.expected.append("422")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    page = new_page()
    log_in_as(page, person(Role.INVESTIGATOR))
    page.goto(reverse("analysis:bring_records"))
    page.get_by_role("button", name="Show the columns").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a file")
    page.get_by_label("Files", exact=True).set_input_files([tmp_path / name for name in FILES])
    expect(page.get_by_role("region", name="maths.csv")).to_be_visible()
    expect(page.get_by_text("Choose a file, or paste its first line.")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.usefixtures("transactional_db")
@pytest.mark.parametrize(
    "content",
    [
        pytest.param("number,Größe\n1,2\n".encode("utf-16"), id="UTF-16"),
        pytest.param("number,Größe\n1,2\n".encode("latin-1"), id="Latin-1"),
        pytest.param(b"PK\x03\x04\x14\x00\x00\x00", id="a spreadsheet"),
        pytest.param(b"number,born\r1,2\r", id="an old Macintosh"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_a_file_that_is_no_text_is_refused_before_anything_is_sent(new_page: Callable[..., Page], content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    (tmp_path / "cut.csv").write_text("number,born\n" + "ß" * 40_000 + "\n")  # the first part ends within a letter
    page = new_page()
    log_in_as(page, person(Role.INVESTIGATOR))
    page.goto(reverse("analysis:bring_records"))
    chosen = page.get_by_label("Files", exact=True)
    chosen.set_input_files(tmp_path / "odd.csv")
    expect(page.get_by_text("“odd.csv” cannot be read: expected is text in UTF-8")).to_be_visible()
    expect(chosen).to_have_accessible_description(re.compile("saves it as “CSV UTF-8”"))
    expect(page.get_by_label("First line of each file")).to_have_value("")
    page.get_by_role("button", name="Show the columns").click()
    expect(page.get_by_role("alert")).to_contain_text("“odd.csv” cannot be read")
    chosen.set_input_files(tmp_path / "cut.csv")
    expect(page.get_by_label("First line of each file")).to_have_value("cut.csv: number,born")
    expect(page.get_by_role("region", name="cut.csv")).to_be_visible()
    expect(page.get_by_text("cannot be read")).to_have_count(0)


@pytest.mark.usefixtures("transactional_db")
def test_another_kind_of_a_file_in_json_shows_its_columns(new_page: Callable[..., Page], tmp_path: Path) -> None:
    """The choice came with the columns, after the page was read."""
    (tmp_path / "quizzes.json").write_text("[]")
    page = new_page()
    log_in_as(page, person(Role.INVESTIGATOR))
    page.goto(reverse("analysis:bring_records"))
    page.get_by_label("Files", exact=True).set_input_files(tmp_path / "quizzes.json")
    kinds = page.get_by_role("region", name="quizzes.json").get_by_label("What it holds")
    kinds.wait_for()
    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    with page.expect_response(lambda response: response.request.method == "POST", timeout=5000):
        kinds.select_option(index=1)


@pytest.mark.usefixtures("transactional_db")
def test_records_are_brought_prepared_decided_about_and_checked_by_anybody(
    new_page: Callable[..., Page], tmp_path: Path, assert_accessible: Check, assert_fits: Check
) -> None:
    def look(page: Page, name: str) -> None:
        for width in (1280, 390, 320):
            page.set_viewport_size({"width": width, "height": 900})
            assert_accessible(page)
            assert_fits(page)
            assert page.evaluate(CAPTIONS_BEYOND_THE_SCREEN) == [], f"{name} at {width}"
            if os.environ.get("SHOTS"):
                page.screenshot(path=f"{os.environ['SHOTS']}/cur_{name}_{width}.png", full_page=True)

    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    owner, officer, stranger = (new_page(viewport={"width": 1280, "height": 900}) for _ in range(3))
    log_in_as(owner, person(Role.INVESTIGATOR))
    owner.get_by_role("link", name="Data sets").click()
    owner.get_by_role("link", name="Bring student records").press("Enter")
    owner.get_by_label("Title").fill("Transcripts")
    owner.get_by_label("Where the data come from").fill("From the registrar; the students agreed.")
    owner.get_by_label("Files", exact=True).set_input_files([tmp_path / name for name in FILES])
    expect(owner.get_by_label("First line of each file")).to_have_value(
        "students.csv: number,born,sex,name\nmaths.csv: number,course,grade"
    )
    for file, roles in (("students.csv", OF_STUDENTS), ("maths.csv", OF_COURSES)):
        section = owner.get_by_role("region", name=file)
        for column, role in roles.items():
            section.get_by_label(f"Role of “{column}”").select_option(role)
    owner.get_by_role("region", name="maths.csv").get_by_label("A row is").fill("course")
    look(owner, "bring")
    owner.get_by_role("region", name="maths.csv").get_by_label("Role of “course”").focus()
    owner.keyboard.press("Tab")
    expect(owner.get_by_role("region", name="maths.csv").get_by_label("Role of “grade”")).to_be_focused()
    owner.get_by_role("button", name="Bring the records").press("Enter")

    expect(owner.get_by_role("heading", level=1)).to_have_text("Transcripts")
    owner.locator("summary", has_text="course.course").press("Enter")
    owner.get_by_label("Labels of course.course").fill("CS\n  CS101\n  CS201\n  CS999\nMA101\nnot answered")
    owner.get_by_role("button", name="Keep this hierarchy").first.press("Enter")
    expect(owner.get_by_text("The hierarchy was kept.")).to_be_visible()
    owner.get_by_role("button", name="Try every class size").press("Enter")
    expect(owner.get_by_text("are tried.")).to_be_visible()
    sweep = RecordSweep.objects.get()
    RecordSweep.objects.update(plan=[sweep.plan[1], sweep.plan[2], sweep.plan[-1]])
    work_off(sweep)
    expect(owner.get_by_text("Every class size was tried.")).to_be_visible()
    owner.get_by_text("Twenty students, before and after").press("Enter")
    owner.get_by_label("Authors").fill("Lovelace, Ada")
    owner.get_by_label("k: at least so many").fill("3")
    owner.get_by_label("Class size that").fill("4")
    owner.get_by_label("ℓ of “course.grade”").fill("2")
    look(owner, "prepare")
    share = owner.get_by_label("Largest share of people left out")
    assert share.evaluate("(input) => input.nextElementSibling.offsetTop - input.offsetTop - input.offsetHeight") < 0  # % is beside it
    owner.get_by_role("button", name="Build the package").press("Enter")
    expect(owner.get_by_text("The package is being built.")).to_be_visible()
    work_off(RecordPackage.objects.get())
    expect(owner.get_by_text("The checker accepts them.")).to_be_visible()
    owner.get_by_text("Twenty of the records").press("Enter")
    look(owner, "package")
    owner.get_by_role("button", name="Request release").press("Enter")
    expect(owner.get_by_text("Waits for a decision")).to_be_visible()

    log_in_as(officer, person(Role.IRB_OFFICER))
    officer.get_by_role("link", name="Transcripts").click()
    expect(
        officer.get_by_role("heading", name="What an insider learns").or_(officer.get_by_text("What an insider learns")).first
    ).to_be_visible()
    look(officer, "officer")
    officer.get_by_role("button", name="Approve and publish").press("Enter")
    expect(officer.get_by_text("The records are public.")).to_be_visible()

    stranger.goto("/data/")
    stranger.get_by_role("link", name="Transcripts").click()
    expect(stranger.get_by_text("The checker accepts them.")).to_be_visible()
    look(stranger, "public")
    with stranger.expect_download() as download:
        stranger.get_by_role("link", name="Download the data package").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        archive.extractall(tmp_path)
    checked = [sys.executable, "check.py", "records.json", "--k", "3", "--l", "course.grade=2"]
    done = subprocess.run(checked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "holds: 60 records, k = 3, ℓ of course.grade = 2\n")
