"""The names in a circle stay in the page, in a real Chromium: nobody outside can notice who is named, or who of them is ticked.

The same check is run on pages that leak on purpose, and must notice each leak.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from surveys.journey import services as participation
from surveys.journey.services import Visit
from surveys.models import Participant, Study
from surveys.tokens import new_token
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, become, recruiting_study
from tests.browser.traces import (
    STEP_MILLISECONDS,
    Leak,
    Outage,
    cookies_of,
    described,
    differences,
    kept_by,
    requests_of,
    scripts_of,
    secrets_of,
    sent,
    unnoticed,
    wait_until_loaded,
)

CIRCLE = {"kind": "circle", "name": "team", "text": {"en": "Who do you learn with?", "de": "Mit wem lernst du?"}, "role": "sensitive"}


@dataclass(frozen=True)
class Circle:
    """Three friends, and two pairs of them who are friends, by their places."""

    names: tuple[str, str, str]
    pairs: tuple[tuple[int, int], tuple[int, int]] = ((0, 1), (1, 2))


CIRCLES = (
    Circle(("AB", "CD", "EF")),
    Circle(("Zoë", "Q", "李")),
    Circle(("anna", "anna", "a&b=<i>")),
    Circle(("AB", "CD", "EF"), pairs=((0, 1), (0, 2))),
)

# Possible damage by a careless or curious change. `name()` reads the first friend, `size()` the length of the name.
LEAK = """
const name = () => document.querySelector("[data-circle-friends] input").value;
const size = () => name().length;
const form = document.querySelector("form[data-kept-until-sent]");
const onName = (leak) => document.querySelector("[data-circle-friends]").addEventListener("input", leak);
const onSubmit = (leak) => form.addEventListener("submit", leak, { capture: true });
"""
LEAKS = {
    "an input with a name": Leak(
        "requests",
        r"&friend=([^&]*)",
        "onSubmit(() => { document.querySelector('[data-circle-friends] input').name = 'friend'; });",
    ),
    "a ticked pair with a name": Leak(
        "requests",
        r"&(pair-\d)",
        "onSubmit(() => { document.querySelectorAll('[data-circle-pairs] input').forEach((tick, i) => { tick.name = `pair-${i}`; }); });",
    ),
    "a hidden field": Leak(
        "requests",
        r"&n=(\d)",
        "onSubmit(() => { form.insertAdjacentHTML('beforeend', `<input type=hidden name=n value=${size()}>`); });",
    ),
    "the address of the form": Leak("requests", r"POST \S+\?(\d)", "onSubmit(() => { form.action += `?${size()}`; });"),
    "a picture whose address has the name": Leak(
        "requests", r"favicon\.svg\?(\S+)", "onName(() => { new Image().src = `/static/images/favicon.svg?${name()}`; });"
    ),
    "a beacon for each name": Leak(
        "requests", r"/healthz\?name .* (\S+)$", "onName(() => { navigator.sendBeacon('/healthz?name', name()); });"
    ),
    "a beacon for each change": Leak(
        "requests",
        r"/healthz\?change",
        "onName((event) => { if (event.target.value.length > 1) navigator.sendBeacon('/healthz?change', 'x'); });",
    ),
    "a header": Leak(
        "requests", r"'x-size', '(\d)'", "onName(() => { fetch('/healthz?header', { headers: { 'X-Size': String(size()) } }); });"
    ),
    "a cookie": Leak("cookies", r"'seen'.*'value', '(\d)'", "onName(() => { document.cookie = `seen=${size()}; path=/`; });"),
    "localStorage": Leak("kept", r"^local: .*", "onName(() => { localStorage.setItem('seen', name()); });"),
    "sessionStorage": Leak("kept", r"^session: .*", "onName(() => { sessionStorage.setItem('seen', name()); });"),
    "a database in the browser": Leak("kept", r"^databases: .*", "onName(() => { indexedDB.open(`seen-${size()}`); });"),
    "the name of the window": Leak("kept", r"^name: .*", "onName(() => { window.name = name(); });"),
    "the address of the page": Leak("kept_meanwhile", r"^address: .*", "onName(() => { history.replaceState(null, '', `#${size()}`); });"),
}
LEAKS_OF_SIZE_AND_TIME = {
    "padding in the body": Leak(
        "bytes_sent",
        r"^0: .*",
        "onSubmit(() => { form.insertAdjacentHTML('beforeend', `<input type=hidden name=p value=${'x'.repeat(size())}>`); });",
    ),
    "a later submit": Leak(
        "milliseconds_until_sent",
        r"^0: .*",
        """let held = false;
        onSubmit((event) => {
            if (held) return;
            held = true;
            event.preventDefault();
            event.stopImmediatePropagation();
            setTimeout(() => form.requestSubmit(), size() === 3 ? 3000 : 0);
        });""",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One participant's page of background questions, from opening it to the page after it."""

    requests: Sequence[str]
    """With all headers and bodies; those of the next page in any order."""
    bytes_sent: Sequence[int]
    cookies: Sequence[str]
    kept_meanwhile: dict[str, Any]
    """In the browser, with everything typed and nothing sent."""
    kept: dict[str, Any]
    milliseconds_until_sent: Sequence[int]


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(background=[CIRCLE])


def newcomer(context: BrowserContext, site: str, study: Study) -> str:
    """Somebody who has agreed; this browser is theirs."""
    token = new_token()
    participation.enrol(study, visit=Visit(token=token, language="en"))
    become(context, site, token)
    return token


def trace_of(context: BrowserContext, circle: Circle, *, token: str) -> Trace:
    """Name everybody, tick, correct, submit through an outage, and note everything."""
    page = context.new_page()
    page.add_init_script("Math.random = () => 0.4;")
    page.clock.install(time=0)
    outage = Outage(page, JOURNEY)
    page.goto(JOURNEY)
    wait_until_loaded(page)
    secrets, requests = secrets_of(page, token), requests_of(context)
    page.clock.pause_at(60)

    for place, name in enumerate(circle.names, start=1):
        page.get_by_label(f"Friend {place}", exact=True).fill(name)
        page.clock.run_for(STEP_MILLISECONDS)
    ticks = page.get_by_role("group", name="Which of them are friends with each other?").get_by_role("checkbox")
    places = ((0, 1), (0, 2), (1, 2))
    ticks.nth(2).check()
    ticks.nth(2).uncheck()
    for pair in circle.pairs:
        ticks.nth(places.index(pair)).check()
        page.clock.run_for(STEP_MILLISECONDS)
    page.get_by_label("Friend 4", exact=True).fill("X")
    page.get_by_label("Friend 4", exact=True).fill("")
    page.clock.run_for(STEP_MILLISECONDS)
    expect(page.get_by_text("Sent will be: 3 for the friends, 2 for the pairs.")).to_be_visible()
    meanwhile = kept_by(page, secrets)
    times = outage.submit("Continue")
    expect(page.locator("video")).to_be_visible()
    wait_until_loaded(page)
    # The arm's lecture, by an opaque address: chance draws it after the answers are stored.
    own = [request for request in requests if "/media/" not in request.url]
    trace = Trace(
        requests=described(own, secrets),
        bytes_sent=[len(request.post_data_buffer or b"") for request in sent(requests, JOURNEY)],
        cookies=cookies_of(context, secrets),
        kept_meanwhile=meanwhile,
        kept=kept_by(page, secrets),
        milliseconds_until_sent=times,
    )
    page.close()
    return trace


def test_no_name_and_no_choice_of_pairs_makes_a_difference_that_can_be_noticed_outside_the_page(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study
) -> None:
    complaints.expected.append("503")
    traces = []
    for circle in CIRCLES:
        context = new_page().context
        traces.append(trace_of(context, circle, token=newcomer(context, site, study)))
    bodies = [request for request in traces[0].requests if request.startswith("POST")]
    assert len(bodies) == 2
    assert bodies[0].endswith("csrfmiddlewaretoken=CSRF&step=background&whose=MARK&team.friends=3&team.pairs=2")
    assert traces[0].kept["local"] == traces[0].kept_meanwhile["session"] == "{}"
    for other in traces[1:]:
        assert other == traces[0]
    assert [one.background for one in Participant.objects.all()] == [{"team": {"friends": 3, "pairs": 2}}] * len(CIRCLES)


def leaking_traces(browser: Browser, site: str, study: Study, leak: str) -> list[Trace]:
    """Traces of two circles on a page whose script was changed."""

    def changed(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text() + LEAK + leak)

    traces = []
    for circle in (CIRCLES[3], CIRCLES[1]):
        context = browser.new_context(base_url=site, locale="en")
        try:
            context.route("**/js/circle*.js", changed)
            traces.append(trace_of(context, circle, token=newcomer(context, site, study)))
        finally:
            context.close()
    return traces


@pytest.mark.parametrize("leaks", [LEAKS, LEAKS_OF_SIZE_AND_TIME], ids=["what is sent and kept", "size and time"])
def test_a_leak_is_noticed(browser: Browser, site: str, study: Study, leaks: dict[str, Leak]) -> None:
    assert not unnoticed(leaking_traces(browser, site, study, scripts_of(leaks)), leaks)


def test_a_harmless_change_is_not_taken_for_a_leak(browser: Browser, site: str, study: Study) -> None:
    traces = leaking_traces(browser, site, study, "onName(() => { size(); });")
    assert not differences(traces)
    every = LEAKS | LEAKS_OF_SIZE_AND_TIME
    assert unnoticed(traces, every) == list(every)


def test_names_are_gone_after_a_reload_and_after_the_way_back(new_page: Callable[..., Page], site: str, study: Study) -> None:
    page = new_page()
    newcomer(page.context, site, study)
    for leave in (lambda: page.reload(), lambda: (page.goto(f"{JOURNEY}privacy/"), page.go_back())):
        page.goto(JOURNEY)
        page.get_by_label("Friend 1", exact=True).fill("AB")
        page.get_by_label("Friend 2", exact=True).fill("CD")
        leave()
        expect(page.get_by_label("Friend 1", exact=True)).to_have_value("")
        expect(page.get_by_text("AB and CD")).to_have_count(0)


def test_no_service_of_the_browser_is_told_the_names(new_page: Callable[..., Page], site: str, study: Study) -> None:
    """Spelling, completion and translation of pages are services of others in many browsers."""
    page = new_page()
    newcomer(page.context, site, study)
    page.goto(JOURNEY)
    for place, name in enumerate(("AB", "CD"), start=1):
        field = page.get_by_label(f"Friend {place}", exact=True)
        field.fill(name)
        for attribute, value in (("spellcheck", "false"), ("autocomplete", "off"), ("autocorrect", "off"), ("translate", "no")):
            expect(field).to_have_attribute(attribute, value)
        assert field.get_attribute("name") is None
    expect(page.get_by_text("AB and CD")).to_have_attribute("translate", "no")
