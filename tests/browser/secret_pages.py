"""Pages that compute for a student and tell nobody: everything that somebody outside could notice, and scripts that leak on purpose."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playwright.sync_api import Browser, BrowserContext, Page, Route

from tests.browser.traces import Leak, cookies_of, described, kept_by, requests_of, wait_until_loaded

HARMLESS = "onTick(() => { ticked(); });"
LEAK = """
const chosen = () => [...document.querySelectorAll("[data-choice]")].reduce((total, one) => total + 4 * Number(one.value), 0);
const ticked = () => document.querySelectorAll("[data-feedback] input:checked[data-right]").length + chosen();
const onTick = (leak) => document.addEventListener("change", leak);
"""
LEAKS = {
    "a beacon for each tick": Leak(
        "requests", r"/healthz\?tick .* (\d+)$", "onTick(() => { navigator.sendBeacon('/healthz?tick', ticked()); });"
    ),
    "a picture whose address has the score": Leak(
        "requests", r"favicon\.svg\?(\d+)", "onTick(() => { new Image().src = `/static/images/favicon.svg?${ticked()}`; });"
    ),
    "a header": Leak(
        "requests", r"'x-score', '(\d+)'", "onTick(() => { fetch('/healthz?header', { headers: { 'X-Score': String(ticked()) } }); });"
    ),
    "a request for good results alone": Leak("requests", r"/healthz\?good", "onTick(() => { if (ticked() > 3) fetch('/healthz?good'); });"),
    "a cookie": Leak("cookies", r"'seen'.*'value', '(\d+)'", "onTick(() => { document.cookie = `seen=${ticked()}; path=/`; });"),
    "localStorage": Leak("kept", r"^local: .*", "onTick(() => { localStorage.setItem('score', ticked()); });"),
    "sessionStorage": Leak("kept", r"^session: .*", "onTick(() => { sessionStorage.setItem('score', ticked()); });"),
    "a database in the browser": Leak("kept", r"^databases: .*", "onTick(() => { indexedDB.open(`score-${ticked()}`); });"),
    "the name of the window": Leak("kept", r"^name: .*", "onTick(() => { window.name = ticked(); });"),
    "the address of the page": Leak("kept", r"^address: .*#(\d+)", "onTick(() => { history.replaceState(null, '', `#${ticked()}`); });"),
    "a step in the history": Leak("kept", r"^pages: .*", "onTick(() => { if (ticked() > 3) history.pushState(null, '', '#'); });"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPage:
    """Where the page is, a pattern of its script's address, and a student who does things on it."""

    address: str
    script: str
    act: Callable[[Page, Sequence[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that somebody outside the page could notice, from the first tick on."""

    requests: Sequence[str]
    cookies: Sequence[str]
    kept: dict[str, str]


def trace_of(context: BrowserContext, secret: SecretPage, answers: Sequence[str]) -> Trace:
    """A student acts; note what can be seen from outside."""
    page = context.new_page()
    page.clock.install(time=0)
    page.goto(secret.address)
    wait_until_loaded(page)
    requests = requests_of(context)
    secret.act(page, answers)
    page.clock.run_for(60_000)
    kept = kept_by(page, {})
    trace = Trace(requests=described(requests, {}), cookies=cookies_of(context, {}), kept=kept)
    page.close()
    return trace


def assert_nothing_is_noticed(new_page: Callable[..., Page], secret: SecretPage, students: Sequence[Sequence[str]]) -> None:
    """All students leave the same trace, which is empty."""
    traces = [trace_of(new_page().context, secret, answers) for answers in students]
    assert traces[0].requests == [], "nothing is asked for after the page is loaded"
    assert traces[0].cookies == []
    assert traces[0].kept["local"] == traces[0].kept["session"] == "{}"
    for other in traces[1:]:
        assert other == traces[0]


def leaking_traces(browser: Browser, site: str, secret: SecretPage, leak: str, students: Sequence[Sequence[str]]) -> list[Trace]:
    """Traces of students on a page whose script was changed."""

    def changed(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=response.text() + LEAK + leak)

    traces = []
    for answers in students:
        context = browser.new_context(base_url=site, locale="en")
        try:
            context.route(secret.script, changed)
            traces.append(trace_of(context, secret, answers))
        finally:
            context.close()
    return traces
