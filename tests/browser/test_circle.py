"""Friends and their ties: by keyboard on a narrow phone in both languages, without a script, and in the builder."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from surveys.models import Participant, Study
from surveys.studies.examples import study_from_example
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, recruiting_study
from tests.browser.test_builder import investigator, open_page
from tests.browser.test_circle_secrecy import CIRCLE, newcomer

fixtures = (investigator,)
Check = Callable[[Page], None]
NARROW = {"viewport": {"width": 320, "height": 640}}
NOTE = {"kind": "short_text", "name": "note", "text": {"en": "Which subject?", "de": "Welches Fach?"}}
WORDS = {
    "en": ("Friend {}", "AB and EF", "There is nobody", "Sent will be: {} for the friends, {} for the pairs.", "Continue"),
    "de": ("Freund {}", "AB und EF", "Es gibt niemanden", "Gesendet wird: {} für die Freunde, {} für die Paare.", "Weiter"),
}


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(background=[CIRCLE, NOTE])


@pytest.mark.parametrize("language", WORDS)
def test_a_circle_by_keyboard_on_a_narrow_phone(
    new_page: Callable[..., Page],
    site: str,
    study: Study,
    complaints: Complaints,
    assert_accessible: Check,
    assert_fits: Check,
    language: str,
) -> None:
    complaints.expected.append("422")  # a page that returns with a mistake has a status that says so
    friend, pair, nobody, sent, go_on = WORDS[language]
    page = new_page(**NARROW, locale=language)
    newcomer(page.context, site, study)
    Participant.objects.update(language=language)
    page.goto(JOURNEY)
    expect(page.locator("[id='team.friends']")).to_be_hidden()
    page.get_by_role("checkbox", name=nobody).focus()
    page.keyboard.press("Space")
    expect(page.get_by_text(sent.format(0, 0))).to_be_visible()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    for name in ("AB", "CD", "EF"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")  # the next friend, not the next page
    expect(page.get_by_label(friend.format(4), exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("checkbox", name=pair)).to_be_focused()
    page.keyboard.press("Space")
    expect(page.get_by_text(sent.format(3, 1))).to_be_visible()
    page.get_by_label(friend.format(2), exact=True).fill("a-very-l")
    assert_accessible(page)
    assert_fits(page)
    page.locator("#note").fill("me@uni.example")
    page.get_by_role("button", name=go_on, exact=True).press("Enter")

    expect(page.get_by_role("alert")).to_be_visible()  # the names are gone, the two numbers stay
    expect(page.get_by_label(friend.format(1), exact=True)).to_have_value("")
    expect(page.get_by_text(sent.format(3, 1))).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.locator("#note").fill("")
    page.get_by_role("button", name=go_on, exact=True).press("Enter")
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get().background == {"team": {"friends": 3, "pairs": 1}}


def test_eight_friends_make_twenty_eight_pairs_and_a_friend_who_goes_takes_theirs_along(
    new_page: Callable[..., Page], site: str, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    page = new_page(**NARROW)
    newcomer(page.context, site, study)
    page.goto(JOURNEY)
    for place in range(1, 9):
        page.get_by_label(f"Friend {place}", exact=True).fill(f"WWWWWW{place}")
    ticks = page.get_by_role("group", name="Which of them are friends with each other?").get_by_role("checkbox")
    expect(ticks).to_have_count(28)
    for tick in ticks.all():
        tick.check()
    expect(page.get_by_text("Sent will be: 8 for the friends, 28 for the pairs.")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_label("Friend 3", exact=True).fill(" ")
    expect(page.get_by_text("Sent will be: 7 for the friends, 21 for the pairs.")).to_be_visible()
    page.get_by_label("Friend 3", exact=True).fill("new")
    expect(page.get_by_text("Sent will be: 8 for the friends, 21 for the pairs.")).to_be_visible()
    page.get_by_role("button", name="Leave this question out").click()
    expect(page.get_by_text("So far nothing is sent for this question.")).to_be_visible()
    expect(page.get_by_label("Friend 1", exact=True)).to_be_focused()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get().background == {}


def test_without_a_script_two_plain_fields_take_the_numbers(
    new_page: Callable[..., Page], site: str, study: Study, complaints: Complaints, assert_fits: Check
) -> None:
    complaints.expected.append("422")
    page = new_page(**NARROW, java_script_enabled=False)
    newcomer(page.context, site, study)
    page.goto(JOURNEY)
    expect(page.get_by_label("There is nobody")).to_be_hidden()
    page.get_by_label("How many friends?").fill("3")
    page.get_by_label("How many pairs of them").fill("4")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("With 3 friends there are at most 3 pairs, not 4.")
    page.get_by_label("How many pairs of them").fill("2")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("video")).to_be_visible()
    assert Participant.objects.get().background == {"team": {"friends": 3, "pairs": 2}}


def test_the_builder_shows_what_a_circle_needs(page: Page, investigator: User, assert_accessible: Check, assert_fits: Check) -> None:
    study = study_from_example("recorded-lectures", owner=investigator)
    open_page(page, f"/studies/{study.slug}/build/background/edit/interest/")
    page.get_by_label("Friends", exact=True).check()
    expect(page.get_by_text("Names stay in their page")).to_be_visible()
    expect(page.get_by_text("What the answer means for privacy")).to_be_visible()
    expect(page.get_by_label("Options, one on each line")).to_have_count(0)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 640})
        assert_accessible(page)
        assert_fits(page)
