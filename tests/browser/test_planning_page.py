"""The design page in a browser: it answers at once, by pointer and by keyboard, and without a script it answers too."""

import re
from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Language, Role, User
from accounts.services import choose_language
from surveys.models import Study
from tests.browser.conftest import DESKTOP, LOOK_GIVES_WAY, PHONE, Complaints
from tests.browser.people import SLUG, recruiting_study
from tests.browser.staff import log_in

Check = Callable[[Page], None]
PLAN = "/plan/"
SCREENS = tuple(product((DESKTOP, PHONE), ("light", "dark")))


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study()


@pytest.fixture
def planner(transactional_db: None, complaints: Complaints) -> User:
    complaints.expected += LOOK_GIVES_WAY
    return User.objects.create_user("planner", password="correct horse", role=Role.INVESTIGATOR)


def open_plan(page: Page, address: str = PLAN, *, username: str = "planner") -> None:
    log_in(page, username, address=address.replace("&", "%26"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Plan a study")
    page.wait_for_load_state()  # without its scripts the page answers too, but with forms


def face(page: Page, group: int, roll: int) -> str:
    return page.locator(f"#face-{group}-{roll - 1}").inner_text().split()[-1]


def test_the_page_fits_every_screen_and_serves_screen_readers(page: Page, study: Study, assert_readable: Callable[..., None]) -> None:
    open_plan(page, f"/studies/{SLUG}/plan/", username="investigator")
    for details in page.locator("details").all():
        details.locator("summary").click()
    assert_readable(page, screens=SCREENS)
    page.goto(f"{PLAN}?n=abc&die=6&group1=ynnttt&group2=ynnttt&cap=0.1")
    assert_readable(page, screens=SCREENS)


def test_a_number_that_is_typed_is_answered_at_once_and_stands_in_the_address(page: Page, planner: User) -> None:
    open_plan(page)
    headline = page.get_by_role("status")
    expect(headline).to_contain_text("With 945 students")
    page.get_by_label("Students", exact=True).fill("72")
    expect(headline).to_contain_text("With 72 students you cannot tell 0 % cheaters from 100 %.")
    expect(page).to_have_url(re.compile(r"[?&]n=72&"))
    expect(page.get_by_label("Students", exact=True)).to_be_focused()
    said = headline.inner_text()
    page.reload()
    expect(headline).to_have_text(said, use_inner_text=True)


def test_a_slider_moves_its_number_and_a_number_its_slider(page: Page, planner: User) -> None:
    open_plan(page)
    slider = page.get_by_label("Prevalence, slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Prevalence", exact=True)).to_have_value("41")
    expect(page).to_have_url(re.compile("prevalence=41"))
    page.get_by_label("Prevalence", exact=True).fill("55")
    expect(slider).to_have_value("55")
    students = page.get_by_label("Students, slider")
    students.focus()
    page.keyboard.press("End")
    expect(page.get_by_label("Students", exact=True)).to_have_value("100000")
    expect(students).to_have_attribute("aria-valuetext", "100000")


def test_a_slider_reads_and_writes_the_comma_of_a_german_page(page: Page, planner: User) -> None:
    open_plan(page)
    choose_language(user=planner, language=Language.GERMAN)
    page.goto(PLAN)
    expect(page.locator("#cap")).to_have_value("1,39")
    page.goto(f"{PLAN}?cap=2,5")
    slider, students = page.locator("[data-slider=cap]"), page.locator("[data-slider=n]")
    expect(slider).to_have_value("2.5")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#cap")).to_have_value("2,51")
    expect(slider).to_have_attribute("aria-valuetext", "2,51")
    expect(page).to_have_url(re.compile(r"cap=2%2C51"))
    expect(page.locator("#cap-error")).to_be_empty()
    students.focus()
    page.keyboard.press("End")
    expect(page.locator("#n")).to_have_value("100000")


def test_faces_are_turned_by_the_keyboard_and_keep_the_focus(page: Page, planner: User) -> None:
    open_plan(page)
    button = page.get_by_role("group", name="Subsample 1").get_by_role("button", name="Face 6 truth")
    button.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("group1=ynntty"))
    turned = page.get_by_role("group", name="Subsample 1").get_by_role("button", name="Face 6 yes")
    expect(turned).to_be_focused()
    page.keyboard.press("Space")
    expect(page).to_have_url(re.compile("group1=ynnttn"))


def test_faces_that_protect_nobody_are_explained_where_they_are(page: Page, planner: User) -> None:
    open_plan(page)
    page.locator("#face-0-0").click()
    expect(page.locator("#face-0-0")).to_contain_text("no")
    expect(page).to_have_url(re.compile("group1=nnnttt&weight1=1&group2=nyyttt"))
    expect(page.locator("#die-error")).to_contain_text("epsilon is infinite")
    expect(page.locator("#plan-results")).to_contain_text("usual faces")


def test_another_die_comes_with_its_best_faces_and_the_recommended_one_is_a_button_away(page: Page, planner: User) -> None:
    open_plan(page)
    page.get_by_label("Choose a die.").select_option("10")
    expect(page.locator("#face-0-9")).to_be_visible()
    expect(page).to_have_url(re.compile("die=10&group1=yynnnntttt"))
    page.get_by_role("button", name="Use the recommended die").click()
    expect(page).to_have_url(re.compile("die=20&group1=yyynnnnnnnnttttttttt"))
    page.get_by_role("button", name="Use 12 sides").click()
    expect(page).to_have_url(re.compile("die=12"))
    page.get_by_role("button", name="Add a third subsample").click()
    expect(page.get_by_role("group", name="Subsample 3")).to_be_visible()


def test_a_mistake_is_named_at_its_field_while_typing_and_goes_when_it_is_put_right(page: Page, planner: User) -> None:
    open_plan(page)
    cheaters = page.get_by_label("Cheaters", exact=True)
    cheaters.fill("many")
    expect(page.locator("#cheaters-error")).to_contain_text("not “many”")
    expect(cheaters).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Students", exact=True).fill("72")
    expect(page.get_by_role("status")).to_contain_text("With 72 students")
    cheaters.fill("5")
    expect(page.locator("#cheaters-error")).to_be_empty()
    expect(cheaters).not_to_have_attribute("aria-invalid", "true")


def test_enter_in_a_field_updates_the_plan_and_turns_no_face(page: Page, planner: User) -> None:
    open_plan(page)
    page.get_by_label("Students", exact=True).fill("945")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("With 945 students")
    assert face(page, 0, 1) == "yes"


def test_the_numbers_of_a_figure_stay_open_while_the_plan_changes(page: Page, planner: User) -> None:
    open_plan(page)
    numbers = page.locator("#power-students-numbers")
    numbers.locator("summary").click()
    page.get_by_label("Students", exact=True).fill("150")
    expect(page.get_by_role("status")).to_contain_text("With 150 students")
    expect(numbers).to_have_attribute("open", "")
    expect(numbers.get_by_role("rowheader", name="150", exact=True)).to_be_visible()


def test_a_point_of_the_front_is_a_die_by_pointer_by_keyboard_and_from_the_table(page: Page, planner: User, assert_fits: Check) -> None:
    open_plan(page)
    point = page.locator("#figure-front-effect").get_by_role("link", name=re.compile("^Use design 2:"))
    point.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("die=20&group1=y{13}nnttttt&group2=y{4}n{4}t{12}&group3=yyn{13}t{5}&weight1=1&weight2=8&weight3=1"))
    expect(page.get_by_label("Weight of subsample 2")).to_have_value("8")
    expect(page.locator("#front").get_by_role("row", name=re.compile("^2[.]")).get_by_text("in use")).to_be_visible()
    page.locator("#figure-front-cheaters").get_by_role("link", name=re.compile("^Use design 1:")).click()
    expect(page).to_have_url(re.compile("weight1=1&weight2=8&weight3=1#front-title"))
    expect(page.locator("#front").get_by_role("row", name=re.compile("^1[.]")).get_by_text("in use")).to_be_visible()
    page.get_by_role("link", name="Use design 3").last.click()
    expect(page.locator("#front").get_by_role("row", name=re.compile("^3[.]")).get_by_text("in use")).to_be_visible()
    page.get_by_label("Weight of subsample 2").fill("0")
    expect(page.locator("#die-error")).to_contain_text("not “0”")
    expect(page.get_by_label("Weight of subsample 2")).to_be_focused()
    expect(page.get_by_label("Weight of subsample 2")).to_have_value("0")
    assert_fits(page)


def test_without_a_script_the_form_and_its_faces_work(new_page: Callable[..., Page], planner: User, assert_fits: Check) -> None:
    page = new_page(java_script_enabled=False)
    open_plan(page)
    expect(page.get_by_label("Students, slider")).to_be_hidden()
    page.get_by_label("Students", exact=True).fill("72")
    page.get_by_role("button", name="Update the plan").click()
    expect(page.get_by_role("status")).to_contain_text("With 72 students you cannot tell")
    page.locator("#face-0-5").click()
    expect(page.locator("#face-0-5")).to_contain_text("yes")
    expect(page.get_by_role("status")).to_contain_text("With 72 students")
    page.get_by_label("Students", exact=True).fill("500")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("With 500 students")
    expect(page.locator("#face-0-0")).to_contain_text("yes")
