"""The game of the two worlds: the picture keeps its promise, guesses are counted, and nothing is sent."""

import math
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.traces import requests_of, wait_until_loaded

ADDRESS = "/two-worlds/"
pytestmark = pytest.mark.django_db(transaction=True)


def heights(page: Page, world: str) -> list[float]:
    return [float(one) for one in page.locator(f".{world}").evaluate_all("bars => bars.map((bar) => bar.getAttribute('height'))")]


def test_no_bar_is_higher_than_the_caption_says(page: Page) -> None:
    page.goto(ADDRESS)
    for presses in (0, 10, 10, 40):
        for _ in range(presses):
            page.get_by_role("slider").press("ArrowRight")
        epsilon = 0.1 * 100 ** (int(page.get_by_role("slider").input_value()) / 40)
        ratios = [one / other for one, other in zip(heights(page, "world-no"), heights(page, "world-yes"), strict=True)]
        assert max(*ratios, *(1 / ratio for ratio in ratios)) == pytest.approx(math.exp(epsilon), rel=1e-6)
        said = re.search(r"more than ([\d,.]+) times", page.locator("figcaption").inner_text()).group(1)
        assert max(ratios) <= float(said.replace(",", "")) < max(ratios) + 0.1


def test_guesses_are_counted_and_nothing_is_sent(page: Page) -> None:
    page.goto(ADDRESS)
    wait_until_loaded(page)
    requests = requests_of(page)
    page.get_by_role("slider").fill("40")  # hardly any noise: the number gives the world away
    for round_number in range(1, 7):
        page.get_by_role("button", name="Publish a number").press("Enter")
        published = int(page.locator("[data-number]").inner_text())
        page.get_by_role("button", name="They said yes" if published >= 24 else "They said no").press("Enter")
        expect(page.locator("[data-result]")).to_contain_text(re.compile(rf"\d of {round_number} guesses"))
    assert int(re.search(r"(\d) of 6", page.locator("[data-result]").inner_text()).group(1)) >= 5
    page.get_by_role("slider").fill("20")  # ε = 1
    page.get_by_role("button", name="Publish a number").press("Enter")
    page.get_by_role("button", name="They said yes").press("Enter")
    expect(page.locator("[data-result]")).to_contain_text("nobody is right in more than 74 % of them")  # 73.1 %
    assert requests == []
    assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


def test_without_a_script_the_promise_stands_in_numbers(new_page: Callable[..., Page]) -> None:
    page = new_page(java_script_enabled=False, locale="de-DE")
    page.goto(ADDRESS)
    expect(page.get_by_role("heading", level=1)).to_have_text("Zwei Welten")
    expect(page.get_by_role("row")).to_have_count(6)
    for row in page.locator("tbody tr").all():
        epsilon, ratio, right = (float(cell.replace(",", ".").removesuffix(" %")) for cell in row.get_by_role("cell").all_inner_texts())
        assert ratio >= math.exp(epsilon), "the page says at most"
        assert right >= 100 / (1 + math.exp(-epsilon)), "the page says at most"
    expect(page.get_by_role("slider")).to_be_hidden()
