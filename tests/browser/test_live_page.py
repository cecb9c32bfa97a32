"""The live page in a real browser: wide and narrow, light and dark, by keyboard, alive and blinded."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from analysis.models import RunKind
from surveys.models import Study
from tests.browser.people import SLUG, TWO_QUESTIONS, recruiting_study
from tests.browser.staff import log_in
from tests.finished_people import add_finished_people, compute

Check = Callable[[Page], None]
RESULTS = f"/studies/{SLUG}/results/"


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = recruiting_study(questions=TWO_QUESTIONS, allocation={"planned_participants": 400})
    for part in range(4):
        add_finished_people(study, 75, seed=part, unfinished=0.1)
        compute(study, RunKind.FIRST_RESULTS)
    compute(study, RunKind.FULL_RESULTS)
    return study


def test_it_fits_the_screen_and_serves_screen_readers(page: Page, study: Study, assert_readable: Check) -> None:
    log_in(page, "investigator")
    page.goto(RESULTS)
    for summary in page.locator("details > summary").all():
        summary.click()
    assert_readable(page)
    expect(page.get_by_role("group", name="How many people came how far")).to_have_count(1)
    expect(page.get_by_role("region", name="Exact numbers of question 1").get_by_text("not for publication").first).to_be_visible()


def test_the_planned_analysis_stands_below_what_is_true_at_every_look(page: Page, transactional_db: None, assert_readable: Check) -> None:
    add_finished_people(study := recruiting_study(questions=TWO_QUESTIONS, allocation={"planned_participants": 240}), 240)
    compute(study)
    log_in(page, "investigator")
    page.goto(RESULTS)
    planned = page.locator(".planned-analysis").first
    expect(planned).to_contain_text("at the 240 people of the first batch with the 240 that were planned")
    planned.locator("summary").first.press("Enter")
    expect(planned.get_by_text("not for publication").first).to_be_visible()
    assert_readable(page)


def test_a_number_leads_to_its_formula_by_keyboard(page: Page, study: Study) -> None:
    log_in(page, "investigator")
    page.goto(RESULTS)
    page.locator("#numbers-1 > summary").press("Enter")
    page.locator("#numbers-1").get_by_role("link", name="efficient, with background answers").press("Enter")
    expect(page.locator("#how-efficient_with_covariates .formula")).to_be_visible()
    expect(page.locator("#how-efficient_with_covariates > summary")).to_be_focused()


def test_a_page_that_hears_of_news_asks_at_once_and_once(page: Page, study: Study, settings: Any) -> None:
    settings.PUSH = "redis://127.0.0.1:1/0"  # nobody announces anything here: the page is told by the test
    log_in(page, "investigator")
    told = "event: pace\ndata: 200\n\nevent: news\ndata: other\n\n"
    page.route("**/events/**", lambda route: route.fulfill(content_type="text/event-stream", body=told))
    with page.expect_request(f"**{RESULTS}?state=*"), page.expect_request("**/events/?token=*since=*"):
        page.goto(RESULTS)
    page.wait_for_timeout(1500)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1000)
    assert len([url for url in asked if "/events/" in url]) <= 1, "it does not listen again and again to what it knows"


def test_a_page_that_cannot_listen_asks_for_itself(page: Page, study: Study, settings: Any) -> None:
    settings.PUSH = "redis://127.0.0.1:1/0"
    page.route("**/events/**", lambda route: route.fulfill(content_type="text/event-stream", body=""))  # and ends
    log_in(page, "investigator")
    page.goto(RESULTS)
    with page.expect_response(f"**{RESULTS}?state=*") as answer:
        pass
    assert answer.value.status == 204


def test_new_answers_appear_and_the_reader_keeps_their_place(page: Page, study: Study) -> None:
    page.clock.install()
    log_in(page, "investigator")
    page.goto(RESULTS)
    page.locator("#numbers-1 > summary").click()
    page.locator("#numbers-1 > summary").focus()
    with page.expect_response(f"**{RESULTS}?state=*") as answer:
        page.clock.fast_forward(10_000)
    assert answer.value.status == 204
    with page.expect_response(lambda answer: f"{RESULTS}?state=" in answer.url and answer.status == 200):
        add_finished_people(study, 100, seed=9)
        compute(study, RunKind.FIRST_RESULTS)
        page.clock.fast_forward(10_000)
    n = study.participants.filter(step="finished").count()
    expect(page.get_by_role("status")).to_contain_text(f"Computed from {n} people’s answers.")
    expect(page.locator("#numbers-1")).to_have_attribute("open", "")
    expect(page.locator("#numbers-1 > summary")).to_be_focused()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_point_of_a_figure_is_read_enlarged_and_kept_when_numbers_move(
    new_page: Callable[..., Page], study: Study, assert_accessible: Check, assert_fits: Check, width: int
) -> None:
    page = new_page(viewport={"width": width, "height": 900})
    page.clock.install()
    log_in(page, "investigator")
    page.goto(RESULTS)
    requests: list[str] = []
    page.on("request", lambda request: requests.extend([request.url] if request.resource_type not in ("font", "image", "other") else []))
    figure = page.locator("figure", has=page.locator("#figure-running-attention"))
    drawn = figure.locator(f".{'wide' if width > 640 else 'narrow'} svg")
    points, reading = drawn.locator("[data-mark]"), figure.locator(".figure-reading")
    batches = points.count()
    assert batches >= 2
    assert points.evaluate_all("marks => marks.filter((mark) => mark.tabIndex === 0).length") == 1
    points.first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    last_but_one = points.nth(batches - 2)
    expect(last_but_one).to_be_focused()
    expect(reading).to_contain_text(last_but_one.locator("title").text_content() or "nothing")
    whole = drawn.get_attribute("viewBox")
    page.keyboard.press("+")
    expect(drawn).not_to_have_attribute("viewBox", whole or "")
    expect(figure.locator("[aria-live]")).to_have_text("A part of the figure, enlarged")
    assert_fits(page)
    assert_accessible(page)
    # On a slow machine, a poll for new numbers may come meanwhile.
    assert [url for url in requests if "?state=" not in url] == []
    enlarged = drawn.get_attribute("viewBox")
    name = last_but_one.get_attribute("data-mark")
    add_finished_people(study, 100, seed=9)
    compute(study, RunKind.FIRST_RESULTS)
    with page.expect_response(f"**{RESULTS}?state=*"):
        page.clock.fast_forward(10_000)
    expect(points).to_have_count(batches + 1)
    expect(drawn.locator("[data-mark]:focus")).to_have_attribute("data-mark", name or "")
    expect(drawn).to_have_attribute("viewBox", enlarged or "")
    page.keyboard.press("Escape")
    expect(drawn).to_have_attribute("viewBox", whole or "")
    points.first.hover(force=True)
    expect(reading).to_contain_text(points.first.locator("title").text_content() or "nothing")
    if width > 640:
        box = drawn.bounding_box()
        assert box
        page.mouse.move(box["x"] + 80, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + 280, box["y"] + 140)
        page.mouse.up()
        expect(drawn).not_to_have_attribute("viewBox", whole or "")
        figure.get_by_role("button", name="Whole figure").click()
        expect(drawn).to_have_attribute("viewBox", whole or "")


def test_a_blinded_page_shows_letters(page: Page, study: Study, assert_accessible: Check) -> None:
    log_in(page, "investigator")
    page.goto(RESULTS)
    page.get_by_role("link", name="Show me letters only").click()
    expect(page.locator("#results")).to_contain_text("B minus A")
    expect(page.locator("#results")).not_to_contain_text("Slides")
    assert_accessible(page)
    page.get_by_role("button", name="Hide the arms from everybody").click()
    expect(page.locator("#results")).to_contain_text("You see letters in place of the arms")


def test_figures_and_tables_come_as_files(page: Page, study: Study) -> None:
    log_in(page, "investigator")
    page.goto(RESULTS)
    for label, ending in (
        ("Question 1, effects by method: figure as SVG", "forest-attention.svg"),
        ("Question 1, effects by method: table as CSV", "sequences.csv"),
    ):
        with page.expect_download() as download:
            page.get_by_role("link", name=label).click()
        assert download.value.suggested_filename == f"{SLUG}-{ending}"
