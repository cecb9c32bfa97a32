"""The home page's demonstration: its estimate is the library's, nothing of it is sent, and it works for everybody."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

import candor
from config.views import DEMONSTRATION
from tests.browser.traces import requests_of, wait_until_loaded

pytestmark = pytest.mark.django_db(transaction=True)
HALVES = {"1": (1, 1), "2": (DEMONSTRATION["second_yes"], DEMONSTRATION["second_no"])}
EACH = 150
ESTIMATE = "async ([module, halves]) => (await import(module)).estimate(halves)"
RESULT = "[role=status][data-words]"


def by_library(answers: tuple[int, int]) -> tuple[float, float, float]:
    """The share of true yes among honest people with its interval, by `candor.estimate`."""
    subsamples = {name: {"forced_yes": f"{yes}/6", "forced_no": f"{no}/6"} for name, (yes, no) in HALVES.items()}
    design = {"arms": ["class"], "control": "class", "subsamples": subsamples, "cheater_model": "always_no"}
    said = [(name, int(person < yes)) for name, yes in zip(HALVES, answers, strict=True) for person in range(EACH)]
    columns = {"arm": ["class"] * len(said), "subsample": [name for name, _yes in said], "answer": [yes for _name, yes in said]}
    found = candor.estimate(columns, design, outcomes=["answer"], bootstrap=0).to_dict()["outcomes"]["answer"]["prevalence"][0]
    return found["value"], found["interval"]["low"], found["interval"]["high"]


def test_the_estimate_is_that_of_the_library(page: Page, site: str) -> None:
    page.goto("/")
    module = f"{site}{settings.STATIC_URL}js/class_estimate.js"
    for answers in ((52, 72), (40, 70), (60, 90), (30, 60), (20, 55)):
        halves = [
            {"n": EACH, "yes": count, "forced": yes / 6, "truth": (6 - yes - no) / 6}
            for count, (yes, no) in zip(answers, HALVES.values(), strict=True)
        ]
        found = page.evaluate(ESTIMATE, [module, halves])
        assert (found["share"], found["low"], found["high"]) == pytest.approx(by_library(answers), abs=1e-6)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_a_stranger_rolls_answers_and_sees_the_class_without_a_request(
    new_page: Callable[..., Page],
    assert_accessible: Callable[[Page], None],
    assert_fits: Callable[[Page], None],
    width: int,
    scheme: str,
) -> None:
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce")
    page.goto("/")
    wait_until_loaded(page)
    requests = requests_of(page)
    expect(page.get_by_text("Have you ever pretended to listen")).to_be_hidden()
    page.get_by_role("button", name="Roll the die").press("Enter")
    page.get_by_role("button", name="Yes", exact=True).press("Enter")
    expect(page.get_by_role("heading", name="Your answer among those of a class")).to_be_focused()
    expect(page.locator(RESULT)).to_contain_text(re.compile(r"^300 people answered, \d+ of them with yes"))
    page.get_by_label("People in the class").press("End")
    expect(page.locator(RESULT)).to_contain_text("3000 people answered")
    page.get_by_label("People who ignore the die").press("Home")
    page.get_by_role("button", name="Another class").press("Enter")
    assert_accessible(page)
    assert_fits(page)
    assert requests == []
    assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


def test_without_a_script_the_page_explains_itself(new_page: Callable[..., Page]) -> None:
    page = new_page(java_script_enabled=False, locale="de-DE")
    page.goto("/")
    expect(page.get_by_role("heading", name="Probier es in 30 Sekunden aus")).to_be_hidden()
    expect(page.get_by_text("Probier es")).to_have_count(1)
    page.get_by_role("link", name="Mit einem Code mitmachen").click()
    expect(page.get_by_label("Der Code")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("listitem").get_by_role("heading", level=3)).to_have_count(7)
