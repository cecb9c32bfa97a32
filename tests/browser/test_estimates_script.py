"""The estimates that a browser computes from the files of a package are those of the library, for every design, to 1e-9."""

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page

from analysis.packages.archives.browser_page import SCRIPTS
from tests.category_cases import category_packages
from tests.estimate_cases import packages

COMPARE = """cases => cases.map(({csv, protocol, results}) => {
  const again = candorEstimates.recomputed(csv, protocol, results);
  return {again, ...candorEstimates.compared(again, results)};
})"""


@pytest.fixture
def blank(browser: Browser) -> Page:
    """A page from nowhere, as a file on a disk: the scripts need nothing around them."""
    page = browser.new_page()
    for name in SCRIPTS[:-1]:
        page.add_script_tag(path=settings.STATICFILES_DIRS[0] / name)
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


def test_named_answers_have_every_number_of_the_library(blank: Page) -> None:
    """Intervals by likelihood and numbers at the edge of what is possible, too: all but words, and p-values of mere rounding."""
    values = 0
    for case in category_packages(seed=20260302):
        (found,) = blank.evaluate(COMPARE, [case])
        assert found["different"] == [], case["protocol"]["category_questions"][0]["design"]
        values += found["values"]
        for name, library in case["results"]["categories"].items():
            words = {"assumption", "notes", "with_covariates", "categories", "scores", "not_estimated", "missing_answers", "assignment"}
            assert library.get("assignment") is None, "sections are left to replicate.py"
            missing = {place.split(".0")[0] for place in places(library) - places(found["again"]["categories"][name])}
            assert missing - words <= {"model_test.p_value"}, name
    assert values > 20000


def places(found: Any, place: str = "") -> set[str]:
    """Where a document holds numbers, lists by their first entry."""
    if isinstance(found, dict):
        return {one for key, value in found.items() for one in places(value, f"{place}.{key}" if place else key)}
    if isinstance(found, list | tuple):
        return places(found[0], f"{place}.0") if found else set()
    return {place}


def test_a_number_that_was_changed_is_found(blank: Page) -> None:
    (case,) = packages(seed=1, chosen=[1])
    effect = case["results"]["outcomes"]["of_600"]["effects"][0]
    effect["honest_times_effect"]["value"] += 1e-8
    case["csv"] += f"slides,1,,,{1}\r\n"
    (found,) = blank.evaluate(COMPARE, [case])
    assert "outcomes.of_600.effects.0.honest_times_effect.value" in {one["place"] for one in found["different"]}
    assert "n" in {one["place"] for one in found["different"]}


def test_a_named_answer_that_was_changed_is_found(blank: Page) -> None:
    (case,) = category_packages(seed=1, chosen=[1])
    case["results"]["categories"]["of_500"]["effects"][0]["interval"]["low"] += 2e-9
    (found,) = blank.evaluate(COMPARE, [case])
    assert [one["place"] for one in found["different"]] == ["categories.of_500.effects.0.interval.low"]
    head, first, *rest = case["csv"].splitlines()
    arm, subsample, *said = first.split(",")
    changed = [{"lo": "hi", "hi": "lo", "": ""}[one] for one in said]
    case["csv"] = "\r\n".join([head, ",".join((arm, subsample, *changed)), *rest])
    (found,) = blank.evaluate(COMPARE, [case])
    assert len(found["different"]) > 10
