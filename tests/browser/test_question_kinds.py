"""Sliders, months, rows on one scale, conditions and earlier answers in texts: by keyboard, on narrow phones, without a script."""

import gzip
from collections.abc import Callable
from typing import Any

from django.test import Client
from playwright.sync_api import Page, expect

from accounts.models import User
from surveys.models import Participant
from surveys.studies.examples import study_from_example
from tests.browser.conftest import Complaints
from tests.browser.people import recruiting_study
from tests.browser.test_builder import investigator, open_page
from tests.browser.traces import wait_until_loaded

fixtures = (investigator,)
Check = Callable[[Page], None]
NARROW = {"viewport": {"width": 320, "height": 640}}
AGREE = [
    {"name": f"a{number}", "text": {"en": en, "de": de}}
    for number, (en, de) in enumerate(
        (
            ("Strongly disagree", "Stimme gar nicht zu"),
            ("Disagree", "Stimme nicht zu"),
            ("Neither", "Weder noch"),
            ("Agree", "Stimme zu"),
            ("Strongly agree", "Stimme sehr zu"),
        ),
        start=1,
    )
]
BACKGROUND: list[dict[str, Any]] = [
    {
        "kind": "slider", "name": "stress", "role": "sensitive", "minimum": 0, "maximum": 10,
        "text": {"en": "How stressful was your last month?", "de": "Wie anstrengend war dein letzter Monat?"},
        "low": {"en": "not at all", "de": "gar nicht"}, "high": {"en": "very", "de": "sehr"},
    },
    {
        "kind": "date", "name": "began", "role": "quasi_identifier", "earliest": "2018-10", "latest": "2026-11",
        "text": {"en": "When did you begin to study?", "de": "Wann hast du angefangen zu studieren?"},
    },
    {"kind": "short_text", "name": "subject", "text": {"en": "What is your main subject?", "de": "Was ist dein Hauptfach?"}},
    {
        "kind": "number", "name": "hours", "role": "auxiliary", "minimum": 0, "maximum": 60,
        "text": {"en": "Hours for {subject|your subject} in a week?", "de": "Stunden für {subject|dein Fach}?"},
    },
    {
        "kind": "single_choice", "name": "course", "role": "auxiliary",
        "options": [{"name": "yes", "text": {"en": "Yes", "de": "Ja"}}, {"name": "no", "text": {"en": "No", "de": "Nein"}}],
        "text": {"en": "Did a course help?", "de": "Hat ein Kurs geholfen?"}, "show_if": [{"question": "stress", "at_least": 7}],
    },
    {
        "kind": "matrix", "name": "habits", "role": "auxiliary", "options": AGREE,
        "rows": [{"name": f"r{number}", "text": f"Statement {number} about how a term is organised"} for number in range(1, 51)],
        "text": {"en": "How far do you agree?", "de": "Wie sehr stimmst du zu?"},
    },
]  # fmt: skip


def at_background(page: Page, site: str, slug: str) -> None:
    page.goto(f"{site}/s/{slug}/")
    page.get_by_role("button", name="Start").press("Enter")
    page.get_by_role("button", name="I agree", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="About you")).to_be_visible()


def test_every_new_kind_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page], site: str, transactional_db: None, assert_accessible: Check, assert_fits: Check
) -> None:
    study = recruiting_study(background=BACKGROUND)
    page = new_page(**NARROW)
    at_background(page, site, study.slug)
    assert_accessible(page)
    assert_fits(page)
    line, number = page.get_by_role("slider"), page.get_by_role("textbox", name="How stressful")
    expect(number).to_have_value("")
    expect(line).to_have_attribute("aria-valuetext", "nothing chosen yet")
    line.focus()
    for _press in range(3):
        page.keyboard.press("ArrowRight")
    expect(number).to_have_value("8")
    page.keyboard.press("End")
    expect(line).to_have_attribute("aria-valuetext", "10 – very")
    number.fill("")
    expect(line).to_have_attribute("aria-valuetext", "nothing chosen yet")
    line.press("Space")
    expect(number).to_have_value("5")
    number.fill("8")
    expect(line).to_have_js_property("value", "8")
    page.get_by_label("Month", exact=True).focus()
    page.keyboard.press("O")
    page.keyboard.press("Tab")
    year = page.get_by_label("Year", exact=True)
    expect(year).to_be_focused()
    for _step in range(year.locator("option").count()):  # by digits a browser begins anew when the next one comes late
        if year.input_value() != "2024":
            page.keyboard.press("ArrowDown")
    expect(year).to_have_value("2024")
    page.get_by_label("What is your main subject?").fill("<b>Law</b>")
    rows = page.get_by_role("group", name="Statement")
    expect(rows).to_have_count(50)
    last = rows.last.get_by_label("Agree", exact=True)
    last.press("Space")
    expect(last).to_be_checked()
    wait_until_loaded(page)  # a font that comes between two looks moves all rows
    before, after = (rows.nth(place).bounding_box() for place in (48, 49))
    assert before
    assert after
    assert before["x"] == after["x"]
    assert before["y"] + before["height"] <= after["y"], "one row under the other"
    page.get_by_role("button", name="Continue", exact=True).press("Enter")

    expect(page.get_by_text("A few more questions follow from your answers.")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    assert not Participant.objects.get().background, "nothing is stored half-way"
    page.get_by_label("Hours for <b>Law</b> in a week?").fill("12")
    page.get_by_role("group", name="Did a course help?").get_by_label("Yes").press("Space")
    page.get_by_role("button", name="Continue", exact=True).press("Enter")
    expect(page.locator("video")).to_be_visible()
    kept = {"stress": 8, "began": "2024-10", "subject": "<b>Law</b>", "hours": 12, "course": "yes", "habits.r50": "a4"}
    assert Participant.objects.get().background == kept


def test_without_a_script_the_number_stands_alone_and_conditions_hold(
    new_page: Callable[..., Page], site: str, transactional_db: None, assert_fits: Check
) -> None:
    study = recruiting_study(background=BACKGROUND)
    page = new_page(**NARROW, java_script_enabled=False)
    at_background(page, site, study.slug)
    assert_fits(page)
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_role("textbox", name="How stressful").fill("3")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.get_by_label("Hours for your subject in a week?")).to_be_visible()
    expect(page.get_by_role("group", name="Did a course help?")).to_have_count(0)
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get().background == {"stress": 3}


def test_the_page_with_fifty_rows_stays_small(client: Client, transactional_db: None) -> None:
    study = recruiting_study(background=BACKGROUND)
    address = f"/s/{study.slug}/"
    for answer in ({"step": "welcome", "language": "en"}, {"step": "consent", "choice": "agree"}):
        client.post(address, answer)
    page = client.get(address).content
    assert b"Statement 50" in page
    assert len(gzip.compress(page)) < 8_000  # with the scripts and styles of the page below 30 kB


def test_each_kind_shows_its_own_inputs_in_the_builder(
    page: Page, investigator: User, complaints: Complaints, assert_accessible: Check, assert_fits: Check
) -> None:
    study = study_from_example("recorded-lectures", owner=investigator)
    complaints.expected.append("422")
    open_page(page, f"/studies/{study.slug}/build/background/add/")
    own = {
        "A slider": ("Step", "Smallest answer", "Words at the small end"),
        "A month or a year": ("Earliest answer", "Latest answer", "How exact"),
        "Rows on one scale": ("Rows, one on each line", "Options, one on each line", "Scores (optional)"),
        "A few words": ("How many characters at most",),
    }
    for kind, labels in own.items():
        page.get_by_label(kind, exact=True).check()
        for label in labels:
            expect(page.get_by_text(label).first).to_be_visible()
        for other in set().union(*own.values()) - set(labels):
            expect(page.get_by_text(other).first).to_be_hidden()
        assert_accessible(page)
    page.set_viewport_size({"width": 320, "height": 640})
    assert_fits(page)
    page.get_by_text("Show only after certain answers").click()
    page.get_by_label("Conditions, one on each line").fill("later: yes")
    page.locator("[id='text.en']").fill("Why?")
    page.get_by_role("button", name="Save").first.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("never looks forward")
    expect(page.get_by_label("Conditions, one on each line")).to_have_value("later: yes")
    assert_accessible(page)
    assert_fits(page)
