"""The files of simulated students that the pages offer: taken from the page, and brought on it."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Role
from analysis.sources.table_files import SIMULATED
from tests.browser.conftest import LOOK_GIVES_WAY, Complaints
from tests.browser.test_ledger_page import log_in_as
from tests.factories import person

EXAMPLES = Path(__file__).parents[2] / "platform" / "static" / "examples"
MAKE_EXAMPLES = Path(__file__).parents[2] / "docs" / "make_examples.py"
ITEMS = [f"q{number}" for number in range(1, 7)]


@pytest.fixture
def owners_page(transactional_db: None, new_page: Callable[..., Page], complaints: Complaints) -> Page:
    complaints.expected += LOOK_GIVES_WAY
    page = new_page(viewport={"width": 1280, "height": 900})
    log_in_as(page, person(Role.INVESTIGATOR))
    return page


def taken(page: Page, names: tuple[str, ...], folder: Path) -> list[Path]:
    """The files of these names, from their links."""
    found = []
    for name in names:
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        assert download.value.suggested_filename == name
        download.value.save_as(folder / name)
        found.append(folder / name)
    return found


def test_a_simulated_quiz_is_taken_and_brought(owners_page: Page, tmp_path: Path) -> None:
    page = owners_page
    page.goto("/data-sets/new/")
    [quiz] = taken(page, ("quiz.csv",), tmp_path)
    page.get_by_label("Title").fill("A quiz")
    page.get_by_label("Where the data come from").fill("Nobody is in it.")
    page.get_by_label("File", exact=True).set_input_files(quiz)
    declared = {"student": ("student", ""), "gender": ("category", "woman, man, other"), "hours": ("number", "0, 30")}
    for column, (role, values) in {**declared, **dict.fromkeys(ITEMS, ("item", ""))}.items():
        group = page.get_by_role("group", name=column, exact=True)
        group.get_by_label("Role").select_option(role)
        group.get_by_label("Values, or bounds").fill(values)
    page.locator("#columns").get_by_role("button", name="Bring data").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A quiz (simulated data)")
    expect(page.get_by_text("240 students. This number is public.")).to_be_visible()


def test_simulated_records_are_taken_and_brought(owners_page: Page, tmp_path: Path) -> None:
    page = owners_page
    page.goto("/data-sets/new/records/")
    files = taken(page, ("students.csv", "courses.csv"), tmp_path)
    page.get_by_label("Title").fill("Records")
    page.get_by_label("Where the data come from").fill("Nobody is in them.")
    page.get_by_label("Files", exact=True).set_input_files(files)
    of_students = {"student": "number", "born": "quasi_identifier", "gender": "quasi_identifier"}
    of_courses = {"student": "number", "course": "quasi_identifier", "grade": "sensitive"}
    for name, roles in (("students.csv", of_students), ("courses.csv", of_courses)):
        for column, role in roles.items():
            page.get_by_role("region", name=name).get_by_label(f"Role of “{column}”").select_option(role)
    page.get_by_role("region", name="courses.csv").get_by_label("A row is").fill("course")
    page.get_by_role("button", name="Bring the records").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Records (simulated data)")
    expect(page.get_by_text("240 students. This number is public.")).to_be_visible()


def test_the_files_are_those_that_their_script_makes(tmp_path: Path) -> None:
    made = runpy.run_path(str(MAKE_EXAMPLES))
    made["main"].__globals__["FOLDER"] = tmp_path
    made["main"]()
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == {one.name: one.read_bytes() for one in EXAMPLES.iterdir()}
    for path in EXAMPLES.iterdir():
        _, *rows = path.read_text(encoding="utf-8").splitlines()
        assert all(row.startswith(SIMULATED) for row in rows), f"{path.name}: a row could be taken for somebody's"
