"""The die's non-interference, in a real Chromium on the real journey: whatever the die shows, nobody outside the page can notice it.

The same check is run on pages that leak on purpose, and must notice each leak.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from surveys.models import Study
from tests.browser.conftest import Complaints
from tests.browser.die_traces import Trace, trace_of
from tests.browser.people import JOURNEY, TWO_QUESTIONS, become, recruiting_study, token_at_questions
from tests.browser.traces import Leak, differences, scripts_of, unnoticed
from tests.categories import PROBATION
from tests.factories import recruiting_study as study_of_many_arms
from tests.stimuli import EVERY_ARM, OF_A_KIND, arms_with

FACES = range(1, 7)

# Possible damage by a careless or curious change to the die. `face()` reads the face that the die of the first question showed.
LEAK = """
const face = () => Number(Object.entries(sessionStorage).find(([key]) => key.startsWith("candor-die:"))?.[1] ?? 0);
const form = document.querySelector("[data-questions]");
const afterRoll = (leak) => document.addEventListener("click", (event) => event.target.closest("[data-roll]") && setTimeout(leak, 0));
const onPress = (mark, leak) => document.addEventListener("click", (event) => event.target.closest(mark) && leak(), { capture: true });
const onSubmit = (leak) => form?.addEventListener("submit", leak);
const send = (name, value) => form.insertAdjacentHTML("beforeend", `<input type="hidden" name="${name}" value="${value}">`);
"""
LEAKS = {
    "a picture whose address has the face": Leak(
        "from_rolling_on",
        r"favicon\.svg\?(\d)",
        "afterRoll(() => { new Image().src = `/static/images/favicon.svg?${face()}`; });",
    ),
    "a picture for one face only": Leak(
        "from_rolling_on",
        r"favicon\.svg\?seen",
        "afterRoll(() => { if (face() === 6) new Image().src = '/static/images/favicon.svg?seen'; });",
    ),
    "a beacon": Leak(
        "from_rolling_on", r"/healthz\?roll .* (\d)$", "afterRoll(() => { navigator.sendBeacon('/healthz?roll', String(face())); });"
    ),
    "a header": Leak(
        "from_rolling_on", r"'x-face', '(\d)'", "afterRoll(() => { fetch('/healthz?header', { headers: { 'X-Face': String(face()) } }); });"
    ),
    "a hidden field": Leak("from_rolling_on", r"name=\"face\"\s+(\d)", "onSubmit(() => { send('face', face()); });"),
    "the order of the answers": Leak(
        "from_rolling_on",
        r"name=\"(answer-\w+)\"",
        "onSubmit(() => { if (face() === 6) form.prepend(...[...form.querySelectorAll('section')].reverse()); });",
    ),
    "the address of the form": Leak("from_rolling_on", r"POST \S+\?(\d)", "onSubmit(() => { form.action += `?${face()}`; });"),
    "a cookie": Leak("cookies", r"'seen'.*'value', '(\d)'", "afterRoll(() => { document.cookie = `seen=${face()}; path=/`; });"),
    "the life of a cookie": Leak(
        "cookies",
        r"'expires', (\d+).*'lives'",
        "afterRoll(() => { document.cookie = `lives=1; path=/; max-age=${face() * 36000}`; });",
    ),
    "localStorage": Leak("kept", r"^local: .*'seen': '(\d)'", "afterRoll(() => { localStorage.setItem('seen', face()); });"),
    "sessionStorage that stays": Leak("kept", r"^session: .*", "afterRoll(() => { sessionStorage.setItem('seen', face()); });"),
    "a database in the browser": Leak("kept", r"^databases: .*", "afterRoll(() => { indexedDB.open(`seen-${face()}`); });"),
    "the name of the window": Leak("kept", r"^name: .*", "afterRoll(() => { window.name = face(); });"),
    "the length of the history": Leak(
        "kept", r"^pages: .*", "afterRoll(() => { for (let step = face(); step; step--) history.pushState(null, ''); });"
    ),
    "a beacon on Next": Leak(
        "from_rolling_on",
        r"/healthz\?next .* (\d)$",
        "onPress('[data-next]', () => { navigator.sendBeacon('/healthz?next', String(face())); });",
    ),
    "a beacon on Previous": Leak(
        "from_rolling_on",
        r"/healthz\?previous .* (\d)$",
        "onPress('[data-previous]', () => { navigator.sendBeacon('/healthz?previous', String(face())); });",
    ),
    "a beacon on the way to a change": Leak(
        "from_rolling_on",
        r"/healthz\?change .* (\d)$",
        "onPress('[data-change]', () => { navigator.sendBeacon('/healthz?change', String(face())); });",
    ),
    "a question that is stored when it is looked at": Leak(
        "kept", r"^local: .*'looked': '(\d)'", "onPress('[data-next]', () => { localStorage.setItem('looked', face()); });"
    ),
    "a later second attempt": Leak("milliseconds_until_sent", r"^1: .*", "onSubmit(() => { Math.random = () => face() / 2; });"),
    "another body at the second attempt": Leak(
        "bytes_sent",
        r"^1: .*",
        """const real = fetch; let attempts = 0;
        fetch = (address, options) => {
            if (options?.method === "POST" && attempts++) options.body.append('p', 'x'.repeat(face()));
            return real(address, options);
        };""",
    ),
}
LEAKS_OF_SIZE_AND_TIME = {
    "padding in the body": Leak("bytes_sent", r"^0: .*", "onSubmit(() => { send('p', 'x'.repeat(face())); });"),
    "a later submit": Leak(
        "milliseconds_until_sent",
        r"^0: .*",
        """let held = false;
        onSubmit((event) => {
            if (held) return;
            held = true;
            event.preventDefault();
            event.stopImmediatePropagation();
            setTimeout(() => form.requestSubmit(), face() > 3 ? 3000 : 0);
        });""",
    ),
}


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(questions=TWO_QUESTIONS, minimum_seconds=2)


def trace(new_page: Callable[..., Page], site: str, study: Study, *, subsample: str, face: int) -> Trace:
    token = token_at_questions(study, subsample=subsample)
    page = new_page()
    become(page.context, site, token)
    return trace_of(page.context, face=face, token=token)


@pytest.mark.parametrize(("subsample", "questions"), [("1", TWO_QUESTIONS), ("2", [TWO_QUESTIONS[0], PROBATION])], ids=["1", "2"])
def test_no_face_makes_a_difference_that_can_be_noticed_outside_the_page(
    new_page: Callable[..., Page],
    complaints: Complaints,
    site: str,
    transactional_db: None,
    subsample: str,
    questions: list[dict[str, Any]],
) -> None:
    """In the second study a background question is privatised in the browser: it has three answers, and a table of its own."""
    complaints.expected.append("503")
    study = recruiting_study(questions=questions, minimum_seconds=2)
    traces = [trace(new_page, site, study, subsample=subsample, face=face) for face in FACES]
    assert [request.split(" ", 1)[0] for request in traces[0].from_rolling_on if JOURNEY in request.split(" ")[1]] == [
        "POST",
        "POST",
        "GET",
    ]
    assert traces[0].kept["session"] == traces[0].kept["local"] == "{}"
    for other in traces[1:]:
        assert other == traces[0]


def test_the_two_designs_cannot_be_told_apart_by_what_is_sent(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study
) -> None:
    complaints.expected.append("503")
    assert not differences([trace(new_page, site, study, subsample=subsample, face=3) for subsample in ("1", "2")])


def test_neither_a_face_nor_what_an_arm_shows_makes_a_difference_that_can_be_noticed(
    new_page: Callable[..., Page], complaints: Complaints, site: str, transactional_db: None
) -> None:
    """Every kind of stimulus went before the die, each for another person with another face: nobody outside can tell any of it."""
    complaints.expected.append("503")
    study = study_of_many_arms(**arms_with(*OF_A_KIND), questions=TWO_QUESTIONS, minimum_seconds=2)
    traces = []
    for face, arm in zip(FACES, EVERY_ARM[1:], strict=True):
        token = token_at_questions(study, subsample="1", arm=arm["name"])
        page = new_page()
        become(page.context, site, token)
        traces.append(trace_of(page.context, face=face, token=token))
    assert not differences(traces)


def leaking_traces(browser: Browser, site: str, study: Study, change: Callable[[str], str]) -> list[Trace]:
    """Traces of the faces 1 and 6 on a page whose die was changed."""

    def changed_die(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=change(response.text()))

    traces = []
    for face in (1, 6):
        token = token_at_questions(study, subsample="1")
        context = browser.new_context(base_url=site, locale="en")
        try:
            context.route("**/js/die*.js", changed_die)
            become(context, site, token)
            traces.append(trace_of(context, face=face, token=token))
        finally:
            context.close()
    return traces


@pytest.mark.parametrize("leaks", [LEAKS, LEAKS_OF_SIZE_AND_TIME], ids=["what is sent and kept", "size and time"])
def test_a_leak_is_noticed(browser: Browser, site: str, study: Study, leaks: dict[str, Leak]) -> None:
    assert not unnoticed(leaking_traces(browser, site, study, lambda source: source + LEAK + scripts_of(leaks)), leaks)


def test_a_die_that_rolls_longer_for_some_faces_is_noticed(browser: Browser, site: str, study: Study) -> None:
    honest = "still ? 0 : ROLL_MILLISECONDS"

    def slower(source: str) -> str:
        assert honest in source
        return source.replace(honest, f"{honest} + 100 * face")

    assert "milliseconds_until_told" in differences(leaking_traces(browser, site, study, slower))


def test_a_harmless_change_of_the_die_is_not_taken_for_a_leak(browser: Browser, site: str, study: Study) -> None:
    traces = leaking_traces(browser, site, study, lambda source: source + LEAK + "afterRoll(() => { face(); });")
    assert not differences(traces)
    every = LEAKS | LEAKS_OF_SIZE_AND_TIME
    assert unnoticed(traces, every) == list(every)
