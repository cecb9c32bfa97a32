"""The next page in the place of the one before, in the same document: it looks, reads and behaves as a page that was loaded."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, Request, Route, expect

from surveys.models import Participant, Step, Study
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, SLUG, become, recruiting_study, token_at_questions
from tests.browser.test_outages import fail, let_time_pass
from tests.browser.test_participant_pages import ENGLISH, GERMAN, arrive, pages_of_the_journey
from tests.browser.turning import answer_all, button

IN_PLACE = ("consent", "background", "video", "quiz", "die", "questions")
# The text, the language, the style sheets and the address of a page: what somebody sees of it.
LOOK = r"""() => ({
    text: ["header", "main", "footer"].map((part) => document.querySelector(part).innerText.split(/\s+/)),
    title: document.title, lang: document.documentElement.lang, dir: document.documentElement.dir,
    styles: [...document.querySelectorAll("link[rel=stylesheet]")].map(({href}) => href), address: location.href,
    focus: document.activeElement.tagName, top: scrollY,
})"""


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study()


@pytest.fixture
def documents(page: Page) -> list[str]:
    """The documents that the browser asked for."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if request.is_navigation_request():
            asked.append(f"{request.method} {request.url}")

    page.on("request", note)
    return asked


def clicks(page: Page, words: dict[str, str] = ENGLISH) -> Iterator[str]:
    """The pages that come in the answer to a form, one after the other."""
    page.goto(JOURNEY)
    for step, name in zip(IN_PLACE, ("start", "agree", *["continue"] * 4), strict=True):
        if step == "questions":
            for place in ("check-1", "check-2"):
                says, _, truth = page.locator(f"[name={place.replace('check', 'situation')}]").input_value().partition("-")
                page.locator(f"[name={place}][value={truth if says == 'truth' else says}]").check()
        button(page, words[name]).click()
        arrive(page, step)
        yield step


@pytest.mark.parametrize("words", [ENGLISH, GERMAN])
def test_each_page_is_what_a_reload_shows(new_page: Callable[..., Page], study: Study, words: dict[str, str]) -> None:
    page = new_page(locale="de" if words is GERMAN else "en")
    page.add_init_script("Math.random = () => 0.4")  # for the game on the page of the die
    for step in clicks(page, words):
        page.evaluate("document.fonts.ready.then(() => true)")
        in_place, name = page.evaluate(LOOK), page.evaluate("performance.getEntriesByType('navigation')[0].type")
        title = page.title()
        expect(page.locator("body > [aria-live]")).to_have_text(title)
        assert name == ("navigate" if step == "consent" else "reload"), f"{step} was loaded"
        page.reload()
        arrive(page, step)
        reloaded = page.evaluate(LOOK)
        assert in_place == reloaded, step
        assert in_place["focus"] == "BODY"


def test_a_whole_journey_loads_two_documents(page: Page, documents: list[str], study: Study) -> None:
    for step in clicks(page):
        assert documents == [f"GET {page.url}"], step
    answer_all(page, number=4)
    button(page, "Submit answers").click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert documents == [f"GET {page.url}"] * 2


def test_the_document_in_which_dice_were_rolled_ends(page: Page, study: Study) -> None:
    for _step in clicks(page):
        page.evaluate("globalThis.remembered = true")
    answer_all(page, number=4)
    button(page, "Submit answers").click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert page.evaluate("globalThis.remembered") is None


def test_history_has_one_place_for_the_study(page: Page, study: Study) -> None:
    page.goto(f"{JOURNEY}privacy/")
    lengths = set()
    for _step in clicks(page):
        lengths.add(page.evaluate("history.length"))
    assert len(lengths) == 1
    page.go_back()
    assert page.url.endswith("/privacy/")
    page.go_forward()
    arrive(page, "questions")


def test_a_program_that_waits_for_a_navigation_goes_on(page: Page, study: Study) -> None:
    page.goto(JOURNEY)
    for name, step in (("start", "consent"), ("agree", "background")):
        with page.expect_navigation():
            button(page, ENGLISH[name]).click()
        assert page.locator("[name=step]").first.input_value() == step


def test_an_address_with_more_in_it_is_left_by_loading(page: Page, documents: list[str], study: Study) -> None:
    page.goto(f"{JOURNEY}?from=a-letter")
    button(page, "Start").click()
    arrive(page, "consent")
    assert page.evaluate("location.pathname + location.search") == JOURNEY
    assert len(documents) == 2
    button(page, "I agree").click()
    arrive(page, "background")
    assert len(documents) == 2


def test_nothing_of_a_page_lives_on(page: Page, study: Study) -> None:
    """The lecture of the page before neither plays nor loads nor reports, and no listener of its window stays."""
    page.add_init_script("""
        const listeners = new Map();
        const { addEventListener } = EventTarget.prototype;
        window.addEventListener = function (name, ...rest) {
            const count = (by) => listeners.set(name, (listeners.get(name) ?? 0) + by);
            count(1);
            rest[1]?.signal?.addEventListener("abort", () => count(-1));
            return addEventListener.call(this, name, ...rest);
        };
        globalThis.listening = () => Object.fromEntries(listeners);
    """)
    before = {}
    for step in clicks(page):
        if step == "video":
            page.evaluate("globalThis.lecture = document.querySelector('video'); lecture.muted = true")
            page.evaluate("lecture.play().then(() => true)")
            assert page.evaluate("listening().pagehide") == 1
        if step == "quiz":
            # A browser empties an element that lost its source a moment after it was told to.
            page.wait_for_function("lecture.networkState === HTMLMediaElement.NETWORK_EMPTY")
            assert page.evaluate("[lecture.isConnected, lecture.paused, lecture.childElementCount]") == [False, True, 0]
        before[step] = page.evaluate("listening()")
    assert before["quiz"].get("pagehide") == 0
    assert {step: found.get("pageshow") for step, found in before.items()} == dict.fromkeys(IN_PLACE, 1)
    assert all("beforeunload" not in found for found in before.values())
    assert not page.evaluate("Object.keys(sessionStorage)")


def test_a_page_after_an_outage_comes_in_place_and_can_be_left(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study
) -> None:
    complaints.expected += ["Failed to load resource"]
    page = new_page()
    page.clock.install()
    become(page.context, site, token_at_questions(study, subsample="1"))
    Participant.objects.filter(study=study).update(step=Step.BACKGROUND)
    page.goto(JOURNEY)
    page.evaluate("globalThis.remembered = true")
    page.locator("#year").fill("2")
    sent = fail(page, 503, "refused")
    button(page, "Continue").click()
    let_time_pass(page, sent, attempts=3)
    arrive(page, "video")
    assert page.evaluate("globalThis.remembered")
    page.on("dialog", lambda dialog: pytest.fail(f"the page asks before it is left: {dialog.type}"))
    page.goto(f"{JOURNEY}privacy/")


def test_an_answer_that_is_lost_leads_where_the_person_belongs(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study
) -> None:
    complaints.expected += ["Failed to load resource"]
    page = new_page()
    page.clock.install()
    become(page.context, site, token_at_questions(study, subsample="1"))
    Participant.objects.filter(study=study).update(step=Step.QUIZ)
    page.goto(JOURNEY)
    sent = fail(page, "the answer is lost")
    button(page, "Continue").click()
    let_time_pass(page, sent, attempts=2)
    arrive(page, "die")


def test_a_part_that_does_not_come_makes_the_browser_load_the_page(page: Page, complaints: Complaints, study: Study) -> None:
    complaints.expected += ["Failed to load resource", "Failed to fetch dynamically imported module", "[object Event]"]
    refused: list[Route] = []

    def once(route: Route) -> None:
        if refused:
            route.fallback()
        else:
            refused.append(route)
            route.abort("connectionrefused")

    page.route(re.compile(r"/background[.\w]*\.js"), once)
    page.goto(JOURNEY)
    button(page, "Start").click()
    arrive(page, "consent")
    button(page, "I agree").click()
    arrive(page, "background")
    expect(page.get_by_role("group", name=re.compile("^Entry"))).to_have_count(1)  # its script runs
    assert refused


def test_a_page_of_another_version_of_the_server_is_loaded(page: Page, documents: list[str], study: Study) -> None:
    """As while hosts are upgraded one after the other: two versions of one script would know nothing of each other."""

    def upgraded(route: Route) -> None:
        if route.request.method != "POST":
            route.fallback()
            return
        answer = route.fetch(max_redirects=0)
        route.fulfill(response=answer, body=answer.text().replace("js/next_page.", "js/next_page.another."))

    page.goto(JOURNEY)
    page.route(f"**{JOURNEY}", upgraded)
    button(page, "Start").click()
    arrive(page, "consent")
    assert len(documents) == 2
    page.unroute_all()
    button(page, "I agree").click()
    arrive(page, "background")
    assert len(documents) == 2


def test_two_tabs_end_on_the_same_page(page: Page, study: Study) -> None:
    steps = clicks(page)
    for step in steps:
        if step == "background":
            break
    other = page.context.new_page()
    other.goto(JOURNEY)
    arrive(other, "background")
    for tab in (page, other):
        button(tab, "Continue").click()
        arrive(tab, "video")
    assert Participant.objects.filter(study=study).count() == 1


def test_an_objection_is_shown_with_what_was_typed(page: Page, complaints: Complaints, study: Study) -> None:
    complaints.expected.append("422")
    places = pages_of_the_journey(page, ENGLISH)
    for place in places:
        if place == "background with a mistake":
            break
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.locator("#year")).to_have_value("40")


def test_without_javascript_each_page_is_loaded(new_page: Callable[..., Page], study: Study) -> None:
    page = new_page(java_script_enabled=False)
    loaded: list[str] = []
    page.on("response", lambda response: loaded.append(f"{response.request.method} {response.status}") if SLUG in response.url else None)
    page.goto(JOURNEY)
    for name, step in (("Start", "consent"), ("I agree", "background"), ("Continue", "video")):
        button(page, name).click()
        arrive(page, step)
    assert [one for one in loaded if one.startswith("POST")] == ["POST 303"] * 3
