"""The page on which students read released tables about themselves: its numbers, and that nothing chosen on it can be noticed outside.

The check for secrecy, and the pages that leak on purpose, are those of the feedback page.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.ledger.services import ask
from analysis.models import Source
from candor.queries.intervals import share_cell
from candor.queries.naive_bayes.release import log_probabilities
from surveys.models import Study
from tests.browser.secret_pages import HARMLESS, LEAKS, SecretPage, assert_nothing_is_noticed, leaking_traces
from tests.browser.traces import STEP_MILLISECONDS, differences, scripts_of, unnoticed
from tests.browser.written_once import written_once
from tests.integration.test_question_desk import documents
from tests.jobs import catch, work_on
from tests.ledgers import make_snapshot, study_with_budget

Check = Callable[[Page], None]
LARGEST_PAGE = 60_000
# Places in the lists of choices: two of the classifier, which was asked last, one of the recommendation.
STUDENTS = (["0", "0", "0"], ["1", "1", "1"], ["1", "", "0"])


@pytest.fixture
def study(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    catch(monkeypatch)
    return with_answers()


@written_once
def with_answers() -> Study:
    study = study_with_budget(epsilon=10, delta=1e-4)
    source = Source.objects.get(study=study)
    make_snapshot(source)
    for kind in ("recommendation", "naive_bayes"):
        question = documents(source)[kind] | {"kind": kind, "epsilon": 2.0}
        asked = ask(source, {"kind": "statistic", "question": question}, actor=study.owner)
        work_on(asked.charge.asking)
    return study


def address(study: Study) -> str:
    return reverse("analysis:outlook", args=[study.slug])


def choose(page: Page, chosen: Sequence[str]) -> None:
    for place, value in enumerate(chosen):
        page.locator("[data-choice]").nth(place).select_option(value)


def act(page: Page, chosen: Sequence[str]) -> None:
    """Choose, take it back, choose again."""
    for values in (chosen, [""] * len(chosen), chosen):
        choose(page, values)
        page.clock.run_for(STEP_MILLISECONDS)


@pytest.fixture
def secret(study: Study) -> SecretPage:
    return SecretPage(address=address(study), script="**/js/outlook*.js", act=act)


def test_the_numbers_are_those_of_the_library(page: Page, site: str, study: Study) -> None:
    """To nine digits, for counts of every kind: none, negative, far below and above the noise."""
    rng = np.random.default_rng(1)
    counts = [(int(yes), int(no)) for scale in (2, 30, 3000) for yes, no in rng.normal(scale, scale, (40, 2)).round()] + [(0, 0), (5, -5)]
    noises = [{"sd": sd, "multiplier": 1.96} for sd in (0.0, 0.5, 20.0)]
    sizes, classes = [4, 2, 3], 3
    tables = [rng.normal(10, 10, classes * sum(sizes)).round().astype(int).tolist() for _ in range(10)]
    chosen = [[1, 0, 2], [3, None, 0], [None, None, None]]
    page.goto(address(study))
    script = page.locator('script[src*="outlook"]').get_attribute("src")
    shares, chances = page.evaluate(
        """async ([script, counts, noises, tables, sizes, chosen]) => {
            const { shareOf, chancesOfClasses } = await import(script);
            return [
                noises.map((noise) => counts.map(([yes, no]) => shareOf(yes, no, noise))),
                tables.map((table) => chosen.map((values) => chancesOfClasses(table, sizes, values))),
            ];
        }""",
        [script, counts, noises, tables, sizes, chosen],
    )
    for noise, found in zip(noises, shares, strict=True):
        for (yes, no), cell in zip(counts, found, strict=True):
            expected = share_cell(yes, no, labels=(), **noise)
            for end in ("value", "low", "high"):
                assert cell[end] == (None if getattr(expected, end) is None else pytest.approx(getattr(expected, end), abs=1e-9)), (
                    yes,
                    no,
                    noise,
                )
    for table, found in zip(tables, chances, strict=True):
        prior, likelihoods = log_probabilities(table, class_count=classes, sizes=sizes)
        for values, shown in zip(chosen, found, strict=True):
            logarithms = prior + sum(part[:, value] for part, value in zip(likelihoods, values, strict=True) if value is not None)
            assert shown == pytest.approx(np.exp(logarithms) / np.exp(logarithms).sum(), abs=1e-9)


def test_the_page_shows_the_released_answer(page: Page, site: str, study: Study) -> None:
    """The library's answer for the first option stands beside it, in percent."""
    charge = Source.objects.get(study=study).budget.charges.order_by("number").first()
    cells = charge.steps.get(reached="answered").answer["cells"]
    page.goto(address(study))
    expect(page.locator("[data-recommendation] [data-result]")).to_be_hidden()
    page.locator("[data-recommendation] [data-choice]").select_option("0")
    row = page.locator("[data-recommendation] tbody tr").first
    for mark, end in (("share", "value"), ("low", "low"), ("high", "high")):
        expected = cells[0][end]
        shown = row.locator(f"[data-{mark}]").inner_text()
        assert shown == "?" if expected is None else abs(float(shown.rstrip("%")) - 100 * expected) < 0.51


@pytest.mark.parametrize(("locale", "words"), [("en", "Share with success"), ("de", "Anteil mit Erfolg")])
def test_the_page_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page], site: str, study: Study, assert_accessible: Check, assert_fits: Check, locale: str, words: str
) -> None:
    page = new_page(viewport={"width": 320, "height": 640}, locale=locale)
    page.goto(address(study))
    assert len(page.content().encode()) < LARGEST_PAGE
    for place in range(3):
        page.locator("[data-choice]").nth(place).focus()
        page.keyboard.press("ArrowDown")
    expect(page.get_by_text(words)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)


def test_no_choice_makes_a_difference_that_can_be_noticed_outside_the_page(
    new_page: Callable[..., Page], site: str, secret: SecretPage
) -> None:
    assert_nothing_is_noticed(new_page, secret, STUDENTS)


def test_a_leak_is_noticed(browser: Browser, site: str, secret: SecretPage) -> None:
    assert not unnoticed(leaking_traces(browser, site, secret, scripts_of(LEAKS), STUDENTS[:2]), LEAKS)


def test_a_harmless_change_is_not_taken_for_a_leak(browser: Browser, site: str, secret: SecretPage) -> None:
    traces = leaking_traces(browser, site, secret, HARMLESS, STUDENTS[:2])
    assert not differences(traces)
    assert unnoticed(traces, LEAKS) == list(LEAKS)
