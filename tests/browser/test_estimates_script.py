"""The estimates that a browser computes from the files of a package are those of the library, for every design, to 1e-9."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.estimate_cases import packages

SCRIPT = Path(__file__).resolve().parents[2] / "platform" / "static" / "js" / "estimates.js"
COMPARE = """cases => cases.map(({csv, protocol, results}) => {
  const again = candorEstimates.recomputed(csv, protocol, results);
  return {again, ...candorEstimates.compared(again, results)};
})"""


@pytest.fixture
def blank(browser: Browser) -> Page:
    """A page from nowhere, as a file on a disk: the script needs nothing around it."""
    page = browser.new_page()
    page.add_script_tag(path=SCRIPT)
    return page


def test_a_browser_computes_what_the_library_computes(blank: Page) -> None:
    cases = packages(seed=20260301)
    found: list[dict[str, Any]] = blank.evaluate(COMPARE, cases)
    assert [different for one in found for different in one["different"]] == []
    compared = [one["values"] for one in found]
    assert sum(compared) > 4000
    estimated = [
        (again, case["results"]["outcomes"][name])
        for case, one in zip(cases, found, strict=True)
        for name, again in one["again"]["outcomes"].items()
    ]
    assert sum("effects" in again for again, _library in estimated) == sum("effects" in library for _again, library in estimated)
    headline = [again["effects"][0] for again, _library in estimated if again.get("effects")]
    assert sum(isinstance(effect.get("value"), float) for effect in headline) > 20


def test_a_number_that_was_changed_is_found(blank: Page) -> None:
    (case,) = [one for one in packages(seed=1) if one["protocol"]["design"]["arms"] == ["slides", "face"]][:1]
    effect = case["results"]["outcomes"]["of_600"]["effects"][0]
    effect["honest_times_effect"]["value"] += 1e-8
    case["csv"] += f"slides,1,,,{1}\r\n"
    (found,) = blank.evaluate(COMPARE, [case])
    assert "outcomes.of_600.effects.0.honest_times_effect.value" in {one["place"] for one in found["different"]}
    assert "n" in {one["place"] for one in found["different"]}
