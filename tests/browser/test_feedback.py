"""The page on which students learn how they did: its numbers, its form on small screens, and that nothing of it can be noticed outside.

The check for secrecy is run on pages that leak on purpose, and must notice each leak.
"""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from analysis.learning.difficulties_page import newest_difficulties
from analysis.ledger.services import ask
from analysis.models import Source
from candor.rasch.feedback import ability, at_least, chances_right
from surveys.models import Participant, Study
from tests.browser.secret_pages import HARMLESS, LEAKS, SecretPage, assert_nothing_is_noticed, leaking_traces
from tests.browser.traces import STEP_MILLISECONDS, differences, scripts_of, unnoticed
from tests.browser.written_once import written_once
from tests.jobs import catch, work_on
from tests.ledgers import make_snapshot, study_with_budget

Check = Callable[[Page], None]
ITEMS = 8
QUIZ = [
    {
        "name": f"item-{place}",
        "text": {"en": f"Question {place}?", "de": f"Frage {place}?"},
        "options": [{"name": name, "text": name} for name in ("right", "wrong", "silly")],
        "answer": "right",
        "shuffle": False,
    }
    for place in range(ITEMS)
]
ANSWERS = (["right"] * ITEMS, ["wrong"] * ITEMS, ["right", "silly"] * (ITEMS // 2), ["right"] * 6 + [""] * 2)
LARGEST_PAGE = 60_000
LONGEST_MILLISECONDS = 5
RESULT = "[data-result]"


@pytest.fixture
def study(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    catch(monkeypatch)
    return with_difficulties()


@written_once
def with_difficulties() -> Study:
    study = study_with_budget(epsilon=10, delta=1e-4, quiz=QUIZ)
    drawn = random.Random(7)
    for one in Participant.objects.filter(study=study):
        skill = drawn.gauss(0.5, 1)
        one.quiz = {item["name"]: "right" if drawn.gauss(skill - place / 4, 1) > 0 else "wrong" for place, item in enumerate(QUIZ)}
        one.save()
    source = Source.objects.get(study=study)
    make_snapshot(source)
    work_on(ask(source, {"kind": "difficulties", "rho": 2.0}, actor=study.owner).charge.asking)
    return study


def address(study: Study) -> str:
    return reverse("analysis:feedback", args=[study.slug])


def tick(page: Page, answers: Sequence[str]) -> None:
    for place, answer in enumerate(answers):
        page.locator(f"#item-{place}-{answer or '-'}").check()


def said(page: Page, name: str) -> str:
    return page.locator(f'[data-say="{name}"]').first.inner_text()


@pytest.mark.parametrize("answers", ANSWERS)
def test_the_numbers_are_those_of_the_library(page: Page, site: str, study: Study, answers: list[str]) -> None:
    """Every score is finite, also none and all right; an omitted answer counts as the release says, as wrong."""
    found = newest_difficulties(Source.objects.get(study=study))
    assert found is not None
    difficulties = [round(item["difficulty"], 4) for item in found["items"]]
    deviations = [round(item["standard_deviation"], 4) for item in found["items"]]
    group = found["abilities"]
    expected = ability(
        [answer == "right" for answer in answers],
        difficulties=difficulties,
        deviations=deviations,
        class_mean=round(group["mean"], 4),
        class_sd=round(group["standard_deviation"], 4),
    )
    page.goto(address(study))
    expect(page.locator(RESULT)).to_be_hidden()
    tick(page, answers)
    chances = chances_right(expected.value, np.array(difficulties), deviations)
    for name, number in (("ability", expected.value), ("low", expected.low), ("high", expected.high), ("warm", expected.warm)):
        written = page.locator(f'[data-say="{name}"]').first.text_content() or ""
        assert "-" not in written, "a number below 0 has a minus"
        assert abs(float(written.replace("−", "-")) - number) < 0.051, name
    assert abs(float(said(page, "expected")) - chances.sum()) < 0.051
    assert abs(float(said(page, "at-least").rstrip("%")) - 100 * at_least(chances, ITEMS // 2)) < 0.51
    page.locator("#wanted").fill(str(ITEMS))
    assert abs(float(said(page, "at-least").rstrip("%")) - 100 * at_least(chances, ITEMS)) < 0.51
    assert abs(float(said(page, "chance-0").rstrip("%")) - 100 * chances[0]) < 0.51


@pytest.mark.parametrize(("locale", "words"), [("en", "You solved"), ("de", "Du hast")])
def test_the_page_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page], site: str, study: Study, assert_accessible: Check, assert_fits: Check, locale: str, words: str
) -> None:
    page = new_page(viewport={"width": 320, "height": 640}, locale=locale)
    page.goto(address(study))
    assert_accessible(page)
    page.locator("#item-0-right").focus()
    page.keyboard.press("Space")
    expect(page.get_by_text(words)).to_be_visible()
    assert_accessible(page)
    assert_fits(page)


def test_the_page_is_small_and_quick(page: Page, site: str, study: Study) -> None:
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body())) if "font" not in response.url else None)
    page.goto(address(study))
    page.wait_for_load_state("networkidle")
    own = page.content()
    assert len(own.encode()) < LARGEST_PAGE
    script = page.locator('script[src*="feedback"]').get_attribute("src")
    times = page.evaluate(
        """async (script) => {
            const { abilityOf } = await import(script);
            const items = Array.from({ length: 20 }, (_, at) => ({ difficulty: at / 10 - 1, deviation: .2, solved: at % 2 > 0 }));
            return Array.from({ length: 21 }, () => {
                const start = performance.now();
                abilityOf(items, { mean: 0, sd: 1 });
                return performance.now() - start;
            }).sort((one, other) => one - other);
        }""",
        script,
    )
    assert times[10] <= LONGEST_MILLISECONDS
    assert sum(sizes) < 4 * LARGEST_PAGE, "with the style sheets of all pages"


def act(page: Page, answers: Sequence[str]) -> None:
    """Tick, look at everything, take the ticks back, tick again."""
    for chosen in (answers, [""] * ITEMS, answers):
        tick(page, chosen)
        page.clock.run_for(STEP_MILLISECONDS)
    page.locator("#wanted").fill("3")
    page.get_by_text("Without the class").click()


@pytest.fixture
def secret(study: Study) -> SecretPage:
    return SecretPage(address=address(study), script="**/js/feedback*.js", act=act)


def test_no_answer_makes_a_difference_that_can_be_noticed_outside_the_page(
    new_page: Callable[..., Page], site: str, secret: SecretPage
) -> None:
    assert_nothing_is_noticed(new_page, secret, ANSWERS)


def test_a_leak_is_noticed(browser: Browser, site: str, secret: SecretPage) -> None:
    assert not unnoticed(leaking_traces(browser, site, secret, scripts_of(LEAKS), ANSWERS[:2]), LEAKS)


def test_a_harmless_change_is_not_taken_for_a_leak(browser: Browser, site: str, secret: SecretPage) -> None:
    traces = leaking_traces(browser, site, secret, HARMLESS, ANSWERS[:2])
    assert not differences(traces)
    assert unnoticed(traces, LEAKS) == list(LEAKS)


def test_the_page_works_without_a_connection_and_forgets_on_reload(new_page: Callable[..., Page], site: str, study: Study) -> None:
    page = new_page()
    page.goto(address(study))
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    tick(page, ANSWERS[2])
    expect(page.locator(RESULT)).to_be_visible()
    page.context.set_offline(False)
    page.reload()
    expect(page.locator(RESULT)).to_be_hidden()
