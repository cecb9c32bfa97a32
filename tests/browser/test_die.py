"""The participant's view of the die they roll."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from surveys.models import Response, Study
from tests.browser import turning
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, TWO_QUESTIONS, become, recruiting_study, token_at_questions
from tests.browser.turning import ROLLING, button, roll

SAYS = {"1": {1: "yes", 2: "no", 3: "no"}, "2": {1: "yes", 2: "yes", 3: "no"}}


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(questions=TWO_QUESTIONS)


@pytest.fixture
def at_questions(new_page: Callable[..., Page], site: str, study: Study) -> Callable[..., Page]:
    """`at_questions(face=4)`: a new participant's questions page, whose die will show that face if one is given."""

    def make(*, face: int | None = None, subsample: str = "1", **options: Any) -> Page:
        page = new_page(**options)
        become(page.context, site, token_at_questions(study, subsample=subsample))
        if face:
            force(page, face)
        page.goto(JOURNEY)
        return page

    return make


def force(page: Page, face: int) -> None:
    page.add_init_script(f"crypto.getRandomValues = (bytes) => bytes.fill({face - 1})")


def question(page: Page, index: int = 0) -> Locator:
    return turning.question(page, TWO_QUESTIONS[index]["text"])


def answer_all(page: Page, answer: str = "Yes") -> None:
    turning.answer_all(page, answer, number=len(TWO_QUESTIONS))


def submit(page: Page) -> Locator:
    return page.get_by_role("button", name="Submit answers")


def posts_of(page: Page) -> list[Request]:
    posts: list[Request] = []
    page.on("request", lambda request: posts.append(request) if request.method == "POST" else None)
    return posts


@pytest.mark.parametrize("subsample", SAYS)
def test_words_picture_and_table_agree_for_every_face(at_questions: Callable[..., Page], subsample: str) -> None:
    page = at_questions(subsample=subsample, reduced_motion="reduce")
    for face in range(1, 7):
        page.evaluate(f"() => {{ sessionStorage.clear(); crypto.getRandomValues = (bytes) => bytes.fill({face - 1}); }}")
        says = {"yes": "Answer yes", "no": "Answer no", "truth": "Answer truthfully"}[SAYS[subsample].get(face, "truth")]
        assert roll(page) == says
        expect(page.get_by_role("img")).to_have_attribute("aria-label", f"The die shows {face}")
        expect(page.locator(f"[data-die-key] tr[data-faces~='{face}'] td")).to_have_text(says)
        expect(page.locator("[data-die]").first).to_have_class(re.compile(rf"\bshows-{face}\b"))
        page.evaluate("sessionStorage.clear()")
        page.reload()


def test_the_face_to_the_front_is_the_face_that_was_rolled(at_questions: Callable[..., Page]) -> None:
    page = at_questions(reduced_motion="reduce")
    for face in range(1, 7):
        page.evaluate(f"() => {{ sessionStorage.clear(); crypto.getRandomValues = (bytes) => bytes.fill({face - 1}); }}")
        roll(page)
        front = page.locator("[data-picture]").first.evaluate(
            """(picture) => { const { x, y, width, height } = picture.querySelector(".die-hop").getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2).closest(".die-side").className; }"""
        )
        assert front == f"die-side die-side-{face}"
        assert page.locator("[data-die]").first.locator(f".die-side-{face} .pip").count() == face
        page.evaluate("sessionStorage.clear()")
        page.reload()


def test_neither_eye_nor_key_nor_reader_nor_search_reaches_a_question_before_its_roll(at_questions: Callable[..., Page]) -> None:
    """The negative control is the same look after the roll."""
    page = at_questions(reduced_motion="reduce")
    text = TWO_QUESTIONS[0]["text"]

    def reached() -> dict[str, bool]:
        for_readers = page.locator("body").aria_snapshot()
        page.locator("h1").click()
        keys = []
        for _press in range(30):
            page.keyboard.press("Tab")
            keys.append(page.evaluate("document.activeElement.name ?? ''"))
        return {
            "eye": text in page.locator("main").inner_text(),
            "search": page.evaluate("(text) => find(text)", text),
            "reader": text in for_readers or "radio" in for_readers,
            "described to the reader": page.evaluate(
                """(text) => [...document.querySelectorAll("[aria-describedby]")].some((one) => one.checkVisibility() &&
                one.getAttribute("aria-describedby").split(" ").some((id) => document.getElementById(id)?.textContent.includes(text)))""",
                text,
            ),
            "keys": any(name.startswith("answer-") for name in keys),
            "Next": button(page, "Next").is_visible(),
        }

    assert set(reached().values()) == {False}
    roll(page)
    assert {way for way, is_reached in reached().items() if not is_reached} == {"described to the reader"}


def test_one_question_is_there_at_a_time_and_the_last_page_lists_the_answers(at_questions: Callable[..., Page], study: Study) -> None:
    page = at_questions(reduced_motion="reduce")
    posts = posts_of(page)
    expect(page.get_by_role("heading", level=2)).to_have_text("Question 1 of 2")
    roll(page)
    question(page).get_by_role("radio", name="Yes", exact=True).check()
    button(page, "Next").click()
    expect(page.get_by_role("heading", level=2)).to_have_text("Question 2 of 2")
    expect(page.get_by_role("heading", level=2)).to_be_focused()
    expect(page.locator("fieldset:visible")).to_have_count(0)
    roll(page)
    question(page, 1).get_by_role("radio", name="No", exact=True).check()
    button(page, "Next").click()
    expect(page.get_by_role("term")).to_have_text([one["text"] for one in TWO_QUESTIONS])
    expect(page.locator("[data-answer-to]")).to_have_text(["Yes", "No"])
    expect(page.get_by_role("radio")).to_have_count(0)
    button(page, "Change").nth(1).click()
    question(page, 1).get_by_role("radio", name="Yes", exact=True).check()
    button(page, "Next").click()
    expect(page.locator("[data-answer-to]")).to_have_text(["Yes", "Yes"])
    assert posts == []
    submit(page).click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    [sent] = [post.post_data.split("&")[1:] for post in posts if post.post_data]
    assert [one for one in sent if not one.startswith("whose=")] == ["step=questions", "answer-attention=1", "answer-comprehension=1"]


def test_going_back_keeps_roll_and_answer(at_questions: Callable[..., Page]) -> None:
    page = at_questions(face=1)
    says = roll(page)
    question(page).get_by_role("radio", name="No", exact=True).check()
    button(page, "Next").click()
    page.evaluate("() => { crypto.getRandomValues = (bytes) => bytes.fill(5); }")
    button(page, "Previous").click()
    expect(page.get_by_role("status")).to_have_text(says)
    expect(button(page, "Roll the die")).to_have_count(0)
    expect(question(page).get_by_role("radio", name="No", exact=True)).to_be_checked()
    button(page, "Next").click()
    expect(page.get_by_role("status")).to_be_empty()
    assert roll(page) == "Answer truthfully"


def test_a_reload_does_not_give_a_new_roll_but_a_new_tab_does(at_questions: Callable[..., Page]) -> None:
    page = at_questions(face=1)
    roll(page)
    force(page, 6)
    page.reload()
    expect(page.get_by_role("status")).to_have_text("Answer yes")
    expect(button(page, "Roll the die")).to_have_count(0)
    tab = page.context.new_page()
    force(tab, 6)
    tab.goto(JOURNEY)
    assert roll(tab) == "Answer truthfully"


def test_a_reload_in_the_middle_of_a_roll_does_not_give_a_new_roll(at_questions: Callable[..., Page]) -> None:
    page = at_questions(face=1)
    button(page, "Roll the die").click()
    force(page, 6)
    page.reload()
    expect(page.get_by_role("status")).to_have_text("Answer yes")


def test_the_next_participant_in_the_same_tab_rolls_anew_and_finds_no_trace(
    at_questions: Callable[..., Page], site: str, study: Study
) -> None:
    page = at_questions(face=1)
    roll(page)
    become(page.context, site, token_at_questions(study, subsample="1"))
    page.goto(JOURNEY)
    expect(page.get_by_role("status")).to_be_empty()
    assert page.evaluate("sessionStorage.length") == 0


def test_the_last_page_forgets_the_rolls(at_questions: Callable[..., Page]) -> None:
    page = at_questions()
    roll(page)
    assert page.evaluate("sessionStorage.length") == 1
    answer_all(page)
    submit(page).click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    page.wait_for_load_state()  # its script forgets them
    assert page.evaluate("sessionStorage.length") == 0


def test_the_keyboard_goes_from_the_button_to_the_result_and_not_to_an_answer(at_questions: Callable[..., Page]) -> None:
    page = at_questions()
    button(page, "Roll the die").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-result]").first).to_be_focused(timeout=ROLLING)
    page.keyboard.press("Tab")
    expect(question(page).get_by_role("radio", name="Yes", exact=True)).to_be_focused()


def test_the_die_lies_still_for_people_who_do_not_want_motion(at_questions: Callable[..., Page]) -> None:
    page = at_questions(reduced_motion="reduce")
    page.evaluate(
        """() => {
            const [set, waits] = [setTimeout, []];
            globalThis.setTimeout = (then, wait = 0) => { waits.push(wait); return set(then, wait); };
            globalThis.waits = waits;
        }"""
    )
    button(page, "Roll the die").click()
    assert page.evaluate("document.getAnimations().length") == 0
    expect(page.get_by_role("status")).to_have_text(re.compile("^Answer"))
    assert set(page.evaluate("waits")) == {0}, "the result comes at once"


def test_a_side_stays_light_under_its_dark_pips_with_forced_colours(at_questions: Callable[..., Page]) -> None:
    page = at_questions(face=5, forced_colors="active", color_scheme="dark", reduced_motion="reduce")
    roll(page)
    side = page.locator(".die-side-5").first
    assert "gradient" in side.evaluate("(one) => getComputedStyle(one).backgroundImage")
    assert "rgb(0, 0, 0)" not in side.evaluate("(one) => getComputedStyle(one, '::before').backgroundColor")


def test_drawing_a_face_is_exactly_fair_for_every_die(at_questions: Callable[..., Page]) -> None:
    """Feed every byte once: each face must come out of equally many bytes, and the rest be thrown away."""
    counts = at_questions().evaluate(
        """async () => {
            const { drawFace } = await import(document.querySelector("script[src*='/die']").src);
            return [...Array(99).keys()].map((index) => {
                const sides = index + 2, counts = Array(sides).fill(0);
                let next = 0;
                const feed = (bytes) => { if (next > 255) throw new RangeError("all bytes are used"); bytes[0] = next++; };
                try { for (;;) counts[drawFace(sides, feed) - 1]++; } catch (error) { if (!(error instanceof RangeError)) throw error; }
                return counts;
            });
        }"""
    )
    for sides, faces in enumerate(counts, start=2):
        assert faces == [256 // sides] * sides


def test_a_real_roll_takes_its_randomness_from_the_browsers_cryptography(at_questions: Callable[..., Page]) -> None:
    page = at_questions()
    page.evaluate(
        """() => {
            const real = crypto.getRandomValues.bind(crypto);
            window.draws = 0;
            crypto.getRandomValues = (bytes) => { draws++; return real(bytes); };
            Math.random = () => { throw new Error("not for dice"); };
        }"""
    )
    roll(page)
    assert page.evaluate("draws") >= 1


def test_own_die_is_an_equal_way(at_questions: Callable[..., Page], study: Study) -> None:
    page = at_questions()
    for index in range(len(TWO_QUESTIONS)):
        page.get_by_text("I would rather use my own die").nth(index).click()
        expect(page.get_by_text("Take a real die with 6 sides").nth(index)).to_be_visible()
        expect(question(page, index)).to_have_count(0)
        button(page, "I have rolled my own die").click()
        expect(button(page, "Roll the die")).to_have_count(0)
        page.keyboard.press("Tab")
        expect(question(page, index).get_by_role("radio", name="Yes", exact=True)).to_be_focused()
        question(page, index).get_by_role("radio", name="No", exact=True).check()
        button(page, "Next").click()
    submit(page).click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert list(Response.objects.filter(participant__study=study).values_list("reported_yes", flat=True)) == [False, False]


def test_without_javascript_the_page_explains_the_physical_die_and_works(
    at_questions: Callable[..., Page], complaints: Complaints, study: Study
) -> None:
    complaints.expected.append("422")
    page = at_questions(java_script_enabled=False)
    expect(page.locator("noscript .notice")).to_be_visible()
    expect(page.locator("noscript .notice")).to_contain_text("Take a real die with 6 sides.")
    for name in ("Roll the die", "Next", "Previous", "Change", "I have rolled my own die"):
        expect(button(page, name)).to_have_count(0)
    question(page, 1).get_by_role("radio", name="No", exact=True).check()
    submit(page).click()
    expect(page.get_by_role("alert").get_by_role("link")).to_have_text([f"Choose an answer: {TWO_QUESTIONS[0]['text']}"])
    expect(question(page, 1).get_by_role("radio", name="No", exact=True)).to_be_checked()
    question(page, 0).get_by_role("radio", name="Yes", exact=True).check()
    submit(page).click()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert Response.objects.filter(participant__study=study, reported_yes=True).count() == 1


@pytest.mark.parametrize(("chance", "opens", "leaves"), [(0, 20, 23), (0.98, 29.8, 32.8)])
def test_answers_leave_at_a_moment_that_chance_draws_and_not_the_click(
    new_page: Callable[..., Page], site: str, transactional_db: None, chance: float, opens: float, leaves: float
) -> None:
    study = recruiting_study(questions=TWO_QUESTIONS, minimum_seconds=20)
    for seconds_until_click in (0.5, 2.5):
        page = new_page(reduced_motion="reduce")
        become(page.context, site, token_at_questions(study, subsample="1"))
        posts = posts_of(page)
        page.add_init_script(f"Math.random = () => {chance}")
        page.clock.install(time=0)
        page.goto(JOURNEY)
        page.clock.pause_at(18)  # the page has come by then, and has not opened its button
        for _question in TWO_QUESTIONS:
            button(page, "Roll the die").click()
            page.clock.run_for(10)
            page.get_by_role("radio", name="Yes", exact=True).check()
            button(page, "Next").click()
        expect(submit(page)).to_be_disabled()
        expect(page.get_by_text("at most 30 seconds after this page opened")).to_be_visible()
        page.clock.run_for(opens * 1000 - page.evaluate("performance.now()") - 100)
        expect(submit(page)).to_be_disabled()
        page.clock.run_for(200)
        expect(submit(page)).to_be_enabled()
        expect(page.get_by_text("You can send your answers now.")).to_be_visible()
        page.clock.run_for(seconds_until_click * 1000 - 100)
        submit(page).click(no_wait_after=True)
        page.clock.run_for(leaves * 1000 - page.evaluate("performance.now()") - 100)
        page.wait_for_timeout(200)
        assert posts == []
        page.clock.run_for(200)
        expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()


def test_a_missing_answer_is_shown_and_nothing_is_sent(at_questions: Callable[..., Page]) -> None:
    page = at_questions()
    posts = posts_of(page)
    roll(page)
    button(page, "Next").click()
    expect(question(page).get_by_text("Choose an answer")).to_be_visible()
    expect(question(page).get_by_role("radio", name="Yes", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(question(page).get_by_text("Choose an answer")).to_be_visible()
    assert posts == []
    page.keyboard.press("Space")
    expect(question(page).get_by_text("Choose an answer")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=2)).to_have_text("Question 2 of 2")
    assert posts == []


def test_a_double_click_sends_once(at_questions: Callable[..., Page]) -> None:
    page = at_questions()
    posts = posts_of(page)
    answer_all(page)
    submit(page).dblclick()
    expect(page.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert len(posts) == 1


def test_a_die_with_more_sides_shows_numerals(new_page: Callable[..., Page], site: str, transactional_db: None) -> None:
    study = recruiting_study(
        questions=TWO_QUESTIONS,
        die={"sides": 20, "subsamples": {"1": {"yes": [1, 2, 20], "no": [3, 4, 5, 6]}, "2": {"yes": [1, 2, 3, 4], "no": [5, 6, 20]}}},
    )
    page = new_page()
    become(page.context, site, token_at_questions(study, subsample="1"))
    force(page, 20)
    page.goto(JOURNEY)
    assert roll(page) == "Answer yes"
    expect(page.locator("[data-numeral]").first).to_have_text("20")
