"""Every page of a participant: on a wide screen and on a narrow phone, by keyboard alone, for screen readers, in both languages.

The strict browser of conftest.py adds that no page breaks the content security policy or asks anything of another host.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from surveys.models import Response, Study, StudyStatus
from tests.audits.tree import ROOT
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, SLUG, become, recruiting_study, token_at_questions
from tests.browser.turning import answer_all, button, roll

Check = Callable[[Page], None]
ENGLISH = {
    "start": "Start",
    "agree": "I agree",
    "decline": "I do not agree",
    "continue": "Continue",
    "roll": "Roll the die",
    "submit": "Submit answers",
    "next": "Next",
    "show": "Show who told the truth",
    "yes": "Yes",
    "thanks": "Thank you",
    "error": "Error:",
}
GERMAN = {
    "start": "Los geht’s",
    "agree": "Ich stimme zu",
    "decline": "Ich stimme nicht zu",
    "continue": "Weiter",
    "roll": "Würfeln",
    "submit": "Antworten abschicken",
    "next": "Weiter",
    "show": "Zeigen, wer die Wahrheit gesagt hat",
    "yes": "Ja",
    "thanks": "Danke",
    "error": "Fehler:",
}
WAYS = {
    "wide and light": {"viewport": {"width": 1280, "height": 900}},
    "narrow and dark": {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True, "color_scheme": "dark"},
    "enlarged four times": {"viewport": {"width": 320, "height": 256}, "device_scale_factor": 4},
    "German, narrow": {"viewport": {"width": 320, "height": 640}, "locale": "de"},
}
TARGETS = "button, summary, select, label.choice, input[type=text], .footer-links a, .error-summary a"
TOO_SMALL_FOR_A_THUMB = """(targets) => [...document.querySelectorAll(targets)]
    .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < 44).map((target) => target.outerHTML)"""


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study()


def debrief(page: Page, site: str, study: Study) -> None:
    """The last page of somebody whom the services put before the sensitive questions."""
    become(page.context, site, token_at_questions(study, subsample="1"))
    page.goto(JOURNEY)
    answer_all(page, number=4)
    button(page, "Submit answers").click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()


def right_click(situation: str) -> str:
    """The answer to a situation of the check, such as `yes-no`: the die says yes, the truth is no."""
    says, truth = situation.split("-")
    return truth if says == "truth" else says


def arrive(page: Page, step: str) -> None:
    """The page of this step is there."""
    expect(page.locator(f"input[name=step][value={step}]")).to_be_attached()
    page.wait_for_load_state()


def pages_of_the_journey(page: Page, words: dict[str, str]) -> Iterator[str]:
    """Walk the whole journey; stops at each page, and again where it looks different. Questions in the middle look like the first."""
    page.goto(JOURNEY)
    yield "welcome"
    button(page, words["start"]).click()
    arrive(page, "consent")
    yield "consent"
    button(page, words["agree"]).click()
    arrive(page, "background")
    yield "background"
    page.locator("#year").fill("40")
    button(page, words["continue"]).click()
    expect(page.get_by_role("alert")).to_be_focused()
    yield "background with a mistake"
    page.locator("#year").fill("2")
    for step in ("video", "quiz", "die"):
        button(page, words["continue"]).click()
        arrive(page, step)
        yield step
    button(page, words["continue"]).click()
    expect(page.get_by_role("alert")).to_be_focused()
    yield "die without an answer"
    roll(page, button_name=words["roll"])
    button(page, words["show"]).click()
    yield "die, with everybody caught"
    for place in ("check-1", "check-2"):
        situation = page.locator(f"[name={place.replace('check', 'situation')}]").input_value()
        page.locator(f"[name={place}][value={right_click(situation)}]").check()
    button(page, words["continue"]).click()
    arrive(page, "questions")
    for number in range(4):
        looks_new = number in (0, 3)
        if looks_new:
            yield f"the die before question {number + 1}"
        roll(page, button_name=words["roll"])
        if looks_new:
            yield f"question {number + 1}"
        button(page, words["next"]).click()
        if looks_new:
            yield f"question {number + 1}, not answered"
        page.get_by_role("radio", name=words["yes"], exact=True).check()
        button(page, words["next"]).click()
    yield "a look at the answers"
    button(page, words["submit"]).click()
    expect(page.get_by_role("heading", level=1, name=words["thanks"])).to_be_visible()
    yield "debrief"
    for other in ("privacy", "allocation", "consent", "withdraw"):
        page.goto(f"{JOURNEY}{other}/")
        yield other


@pytest.mark.parametrize("way", WAYS)
def test_every_page_fits_the_screen_and_serves_screen_readers(
    new_page: Callable[..., Page], complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check, way: str
) -> None:
    complaints.expected.append("422")  # a page that returns with a mistake has a status that says so
    page = new_page(**WAYS[way])
    words = GERMAN if "German" in way else ENGLISH
    for place in pages_of_the_journey(page, words):
        page.wait_for_load_state()
        assert_fits(page)
        if "enlarged" not in way:  # axe knows no pixels: it saw this page on the narrow screen
            assert_accessible(page)
        assert page.locator("h1").count() == 1, place
        assert page.locator("html").get_attribute("lang") == ("de" if words is GERMAN else "en"), place
        expect(page).to_have_title(re.compile(r".+ – Candor"))
        assert page.title().startswith(words["error"]) == (page.locator(".error-summary").count() > 0), place
        if place == "debrief":
            sent = [link.get_attribute("href") for link in page.locator("a[href^='mailto:']").all()]
            codes = [page.locator(f"#{kind}-code").inner_text() for kind in ("completion", "withdrawal")]
            assert [(address or "").partition("body=")[2] for address in sent] == codes
        if way == "narrow and dark":  # dark changes colours alone (tokens.css), so this holds for a light phone too
            assert page.evaluate(TOO_SMALL_FOR_A_THUMB, TARGETS) == [], place
        if way == "wide and light" and ("mistake" in place or "without" in place):
            link = page.get_by_role("alert").get_by_role("link").first
            field = page.locator(link.get_attribute("href") or "")
            link.click()
            expect(field).to_be_focused()


def test_each_scheme_of_colours_has_the_same_sizes() -> None:
    """Else a look at the dark phone would say nothing of the light one."""
    tokens = (ROOT / "platform" / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
    dark = dict(re.findall(r"--([\w-]+): ([^;]+);", tokens.partition("prefers-color-scheme: dark")[2]))
    assert len(dark) > 5
    assert [name for name, value in dark.items() if not value.startswith("#")] == ["shadow"]
    others = [sheet.name for sheet in (ROOT / "platform" / "static" / "css").glob("*.css") if "prefers-color-scheme" in sheet.read_text()]
    assert others == ["tokens.css"]


def tab_to(page: Page, target: Locator) -> None:
    """Reach a control with the Tab key alone, and see that the focus shows."""
    for _press in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            break
    expect(target).to_be_focused()
    shown = "(element) => getComputedStyle(element.closest('.choice') ?? element).outlineStyle"
    assert target.evaluate(shown) == "solid", "the focus cannot be seen"


def press(page: Page, name: str) -> None:
    tab_to(page, button(page, name))
    page.keyboard.press("Enter")


def test_the_whole_journey_works_by_keyboard_alone(page: Page, study: Study) -> None:
    page.goto(JOURNEY)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    press(page, "Start")
    expect(page.get_by_role("heading", level=1, name="Do you agree to take part?")).to_be_visible()
    press(page, "I agree")
    tab_to(page, page.get_by_role("radio", name="Woman"))
    page.keyboard.press("Space")
    expect(page.get_by_role("radio", name="Woman")).to_be_checked()
    press(page, "Add another")
    expect(page.get_by_role("group", name="Entry 2").get_by_role("radio").first).to_be_focused()
    press(page, "Continue")
    expect(page.get_by_role("heading", level=1, name="Watch the lecture")).to_be_visible()
    press(page, "Continue")
    expect(page.get_by_role("heading", level=1, name="A short quiz")).to_be_visible()
    press(page, "Continue")
    press(page, "Roll the die")
    expect(page.get_by_role("status")).to_have_text(re.compile("^Answer"))
    press(page, "Show who told the truth")
    expect(button(page, "Twelve others")).to_be_focused()
    for number in ("1", "2"):
        situation = page.locator(f"[name=situation-{number}]").input_value()
        tab_to(page, page.locator(f"#check-{number}"))
        page.keyboard.press("Space")
        if right_click(situation) == "no":
            page.keyboard.press("ArrowRight")
    press(page, "Continue")
    expect(page.get_by_role("heading", level=1, name="Roll, then answer")).to_be_visible()
    for _question in range(4):
        press(page, "Roll the die")
        expect(page.get_by_role("status")).to_have_text(re.compile("^Answer"))
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("radio", name="No", exact=True)).to_be_checked()
        press(page, "Next")
    press(page, "Submit answers")
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert Response.objects.filter(participant__study=study, reported_yes=False).count() == 4


def test_the_codes_can_be_copied_and_saved_once_and_the_next_person_finds_none(
    new_page: Callable[..., Page], site: str, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    """Their labels are the names that screen readers say."""
    page = new_page(viewport={"width": 390, "height": 844}, permissions=["clipboard-read", "clipboard-write"], reduced_motion="reduce")
    debrief(page, site, study)
    for kind, name, word in (("completion", "Completion code", "DONE-"), ("withdrawal", "Withdrawal code", "SECRET-")):
        code = page.get_by_label(name).inner_text()
        card = page.locator(f".code-card-{kind}")
        assert re.fullmatch(rf"{word}[A-Z0-9-]{{3,}}", code)
        assert len(code) >= 8
        card.get_by_role("button", name="Copy").click()
        expect(card.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == code
        with page.expect_download() as saved:
            card.get_by_role("button", name="Download").click()
        assert saved.value.suggested_filename == f"{kind}-code.txt"
        assert saved.value.path().read_text(encoding="utf-8") == f"{name}: {code}\n"
    page.reload()
    expect(page.get_by_role("heading", level=1, name="Somebody has taken part here")).to_be_visible()
    assert "SECRET-" not in page.content()
    assert_accessible(page)
    assert_fits(page)
    page.go_back()
    assert "SECRET-" not in page.content()
    page.goto(JOURNEY)
    button(page, "I am somebody else").click()
    expect(button(page, "Start")).to_be_visible()


def test_the_language_can_be_chosen_on_the_first_page(page: Page, study: Study) -> None:
    page.goto(JOURNEY)
    page.get_by_role("link", name="Deutsch").click()
    button(page, "Los geht’s").click()
    expect(page.get_by_role("heading", level=1, name="Stimmst du der Teilnahme zu?")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")


def test_people_who_do_not_agree_are_told_that_nothing_was_stored(page: Page, study: Study, assert_accessible: Check) -> None:
    page.goto(JOURNEY)
    button(page, "Start").click()
    button(page, "I do not agree").click()
    expect(page.get_by_text("Nothing about you was stored")).to_be_visible()
    assert_accessible(page)


def test_rows_of_a_group_appear_one_by_one_and_all_without_javascript(new_page: Callable[..., Page], study: Study) -> None:
    page, plain = new_page(), new_page(java_script_enabled=False)
    for one in (page, plain):
        one.goto(JOURNEY)
        button(one, "Start").click()
        button(one, "I agree").click()
    expect(page.get_by_role("group", name=re.compile("^Entry"))).to_have_count(1)
    expect(plain.get_by_role("group", name=re.compile("^Entry"))).to_have_count(3)
    button(page, "Add another").click()
    button(page, "Add another").click()
    expect(page.get_by_role("group", name=re.compile("^Entry"))).to_have_count(3)
    expect(button(page, "Add another")).to_have_count(0)
    expect(button(plain, "Add another")).to_have_count(0)


def test_withdrawing_asks_once_more_and_says_when_it_is_done(
    new_page: Callable[..., Page], site: str, complaints: Complaints, study: Study, assert_accessible: Check
) -> None:
    complaints.expected.append("422")
    page = new_page(reduced_motion="reduce")
    debrief(page, site, study)
    code = page.get_by_label("Withdrawal code").inner_text()
    page.goto(f"{JOURNEY}withdraw/")
    page.get_by_label("Withdrawal code").fill("nonsense")
    button(page, "Withdraw my data").click()
    expect(page.get_by_role("alert")).to_be_focused()
    assert_accessible(page)
    page.get_by_label("Withdrawal code").fill(code)
    button(page, "Withdraw my data").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    assert_accessible(page)
    button(page, "Withdraw my data").click()
    expect(page.get_by_role("heading", level=1, name="Your data are gone")).to_be_visible()
    assert_accessible(page)
    assert not Response.objects.filter(participant__study=study).exists()


@pytest.mark.parametrize(("status", "words"), [(StudyStatus.PAUSED, "taking a break"), (StudyStatus.CLOSED, "has ended")])
def test_a_study_that_is_not_open_says_so_and_what_to_do(
    phone: Page, complaints: Complaints, study: Study, assert_accessible: Check, assert_fits: Check, status: str, words: str
) -> None:
    complaints.expected.append("403")
    Study.objects.filter(slug=SLUG).update(status=status)
    phone.goto(JOURNEY)
    expect(phone.get_by_role("heading", level=1, name=re.compile(words))).to_be_visible()
    assert_accessible(phone)
    assert_fits(phone)


def test_the_consent_copy_prints_without_navigation(page: Page, study: Study) -> None:
    page.goto(f"{JOURNEY}consent/")
    expect(button(page, "Print")).to_be_visible()
    page.emulate_media(media="print")
    expect(button(page, "Print")).to_be_hidden()
    expect(page.locator(".site-footer")).to_be_hidden()
    expect(page.get_by_text("Your rights")).to_be_visible()
