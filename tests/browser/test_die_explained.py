"""The page that explains the die: the practice roll, and the game of catching people who told the truth."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from surveys.models import Participant, Step, Study
from tests.browser.people import JOURNEY, TWO_QUESTIONS, become, recruiting_study, token_at_questions
from tests.browser.traces import requests_of, wait_until_loaded
from tests.browser.turning import ROLLING, button


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(questions=TWO_QUESTIONS)


def test_the_practice_die_may_roll_again_and_is_kept_nowhere(new_page: Callable[..., Page], site: str, study: Study) -> None:
    page = new_page()
    become(page.context, site, token_at_questions(study, subsample="1"))
    Participant.objects.filter(study=study).update(step=Step.DIE)
    page.add_init_script("crypto.getRandomValues = (bytes) => bytes.fill(1)")
    page.goto(JOURNEY)
    wait_until_loaded(page)
    requests = requests_of(page)
    for _again in range(2):
        page.get_by_role("button", name="Roll the die").click()
        expect(page.get_by_role("status")).to_have_text("Answer no", timeout=ROLLING)
    assert requests == []
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0


def test_nobody_can_tell_who_told_the_truth_and_the_game_sends_nothing(new_page: Callable[..., Page], site: str, study: Study) -> None:
    page = new_page()
    become(page.context, site, token_at_questions(study, subsample="1"))
    Participant.objects.filter(study=study).update(step=Step.DIE)
    page.goto(JOURNEY)
    wait_until_loaded(page)
    requests = requests_of(page)
    people = page.get_by_role("checkbox")
    right = guessed = 0
    for _round in range(20):
        expect(people).to_have_count(12)
        # The best that anybody can do with this die: a yes is more likely true than forced, a no more likely forced.
        for index, label in enumerate(page.locator("[data-people] label").all_inner_texts()):
            if label.endswith("Yes"):
                people.nth(index).check()
        button(page, "Show who told the truth").click()
        found = page.locator("[data-caught] p").first.inner_text()
        right += int(re.findall(r"\d+", found)[0])
        guessed += 12
        assert "right about 7 of 12 people on average" in page.locator("[data-caught]").inner_text()
        assert sum("told the truth" in words for words in page.locator("[data-people] label").all_inner_texts()) in range(13)
        button(page, "Twelve others").click()
    assert 0.4 < right / guessed < 0.76  # 0.583 in the long run; four standard errors of 240 guesses
    assert requests == []
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
