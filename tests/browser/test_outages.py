"""An outage asks nothing of a participant: the browser keeps the filled form and sends it again until the server has taken it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, connections
from playwright.sync_api import Page, Route, expect

from surveys.models import Participant, Response, Step, Study
from tests.browser.conftest import Complaints
from tests.browser.people import JOURNEY, TWO_QUESTIONS, become, recruiting_study, token_at_questions
from tests.browser.turning import answer_all, button

HALF_A_MINUTE = (503, "refused", 504, 429, 502)
"""Attempts that fail; with the pauses between them they take half a minute."""
KEPT = "Your answers are kept here and will be sent when the server answers."


@pytest.fixture
def study(transactional_db: None) -> Study:
    return recruiting_study(questions=TWO_QUESTIONS)


@pytest.fixture
def newcomer(new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study) -> Page:
    """A browser in which the die lies still, time is the test's own, and an outage may show in the console."""
    complaints.expected += ["Failed to load resource"]
    page = new_page(reduced_motion="reduce")
    page.clock.install()
    become(page.context, site, token_at_questions(study, subsample="1"))
    return page


def fail(page: Page, *failures: int | str) -> list[str]:
    """Let the next attempts to send a form fail in these ways; returns the list in which their contents will be noted."""
    sent: list[str] = []

    def answer(route: Route) -> None:
        if route.request.method != "POST":
            route.fallback()
            return
        sent.append(route.request.post_data or "")
        failure = failures[len(sent) - 1] if len(sent) <= len(failures) else None
        match failure:
            case int():
                route.fulfill(status=failure, headers={"Retry-After": "2"}, body="away")
            case "refused":
                route.abort("connectionrefused")
            case "the answer is lost":
                route.fetch(max_redirects=0)
                route.abort("connectionreset")
            case _:
                route.fallback()

    page.route(f"**{JOURNEY}", answer)
    return sent


def let_time_pass(page: Page, sent: list[str], *, attempts: int) -> int:
    """Until so many attempts were made; returns the seconds by the page's clock."""
    for seconds in range(300):  # a slow browser hears of a failure seconds later, by the page's clock
        if len(sent) >= attempts:
            return seconds
        page.clock.run_for(1000)
        page.wait_for_timeout(50)
    raise AssertionError(f"expected {attempts} attempts in 300 s, saw {len(sent)}")


def stop_the_clock(page: Page) -> None:
    """From now on the page's time passes when the test says so, however slow the machine is."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def test_answers_survive_half_a_minute_without_a_database_while_their_owner_does_nothing(newcomer: Page, study: Study) -> None:
    newcomer.goto(JOURNEY)
    answer_all(newcomer, number=2)
    sent = fail(newcomer, *HALF_A_MINUTE)
    stop_the_clock(newcomer)
    button(newcomer, "Submit answers").click()
    expect(newcomer.get_by_text(KEPT)).to_be_visible()
    assert newcomer.evaluate("JSON.stringify([localStorage, Object.keys(sessionStorage)])").count("answer") == 0
    assert let_time_pass(newcomer, sent, attempts=len(HALF_A_MINUTE) + 1) >= 25
    expect(newcomer.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert len(set(sent)) == 1
    assert Response.objects.filter(participant__study=study, reported_yes=True).count() == 2


@pytest.mark.usefixtures("postgresql")
def test_answers_survive_ten_seconds_without_postgresql_while_their_owner_does_nothing(newcomer: Page, study: Study) -> None:
    """The same with the real thing: the server finds no database, says so, and takes the answers once there is one again."""
    newcomer.goto(JOURNEY)
    answer_all(newcomer, number=2)
    statuses: list[int] = []
    newcomer.on("response", lambda response: statuses.append(response.status) if response.request.method == "POST" else None)
    with no_database():
        button(newcomer, "Submit answers").click()
        expect(newcomer.get_by_text(KEPT)).to_be_visible()
        pass_seconds(newcomer, 10)
    for _second in range(30):
        if newcomer.get_by_role("heading", level=1, name="Thank you").is_visible():
            break
        pass_seconds(newcomer, 1)
    expect(newcomer.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert statuses[-1] in (302, 303)
    assert set(statuses[:-1]) == {503}
    assert Response.objects.filter(participant__study=study, reported_yes=True).count() == 2


def pass_seconds(page: Page, seconds: int) -> None:
    """By the page's clock and by ours."""
    for _second in range(seconds):
        page.clock.run_for(1000)
        page.wait_for_timeout(1000)


@pytest.fixture(scope="module", autouse=True)
def connections_of_others() -> Iterator[None]:
    """The next module connects anew: PostgreSQL may have ended the connection that it would find."""
    yield
    connections.close_all()


@contextmanager
def no_database() -> Iterator[None]:
    """PostgreSQL ends all connections to the tests' database, and takes none during the block."""
    settings = connection.settings_dict
    name = settings["NAME"]
    connection.close()
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"], user=settings["USER"], dbname="postgres", autocommit=True
    ) as administrator:
        administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        try:
            administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())


def test_an_acknowledgement_that_is_lost_doubles_nothing(newcomer: Page, study: Study) -> None:
    newcomer.goto(JOURNEY)
    answer_all(newcomer, number=2)
    sent = fail(newcomer, "the answer is lost")
    button(newcomer, "Submit answers").click()
    let_time_pass(newcomer, sent, attempts=2)
    expect(newcomer.get_by_role("heading", level=1, name="Thank you")).to_be_visible()
    assert Response.objects.filter(participant__study=study).count() == 2


def test_without_the_keeping_the_answers_would_be_gone(newcomer: Page, study: Study) -> None:
    """The negative control: the same outage, and a form that the browser sends as it sends any form."""
    newcomer.goto(JOURNEY)
    newcomer.locator("#main form").evaluate("(form) => form.removeAttribute('data-kept-until-sent')")
    answer_all(newcomer, number=2)
    fail(newcomer, 503)
    button(newcomer, "Submit answers").click()
    expect(newcomer.get_by_text("away")).to_be_visible()
    newcomer.clock.run_for(60_000)
    assert not Response.objects.filter(participant__study=study).exists()


def test_what_was_typed_about_oneself_stays_and_is_sent_later(newcomer: Page, study: Study) -> None:
    Participant.objects.filter(study=study).update(step=Step.BACKGROUND)
    newcomer.goto(JOURNEY)
    newcomer.locator("#year").fill("2")
    sent = fail(newcomer, 503, "refused")
    button(newcomer, "Continue").click()
    expect(newcomer.get_by_text(KEPT)).to_be_visible()
    expect(newcomer.locator("#year")).to_have_value("2")
    let_time_pass(newcomer, sent, attempts=3)
    expect(newcomer.get_by_role("heading", level=1, name="Watch the lecture")).to_be_visible()
    assert Participant.objects.filter(study=study, background={"year": 2}).count() == 1


def test_a_page_without_answers_does_not_say_that_it_keeps_any(newcomer: Page) -> None:
    """Nothing was typed on the first page; the same button goes on when the server is back."""
    newcomer.context.clear_cookies()
    newcomer.goto(JOURNEY)
    sent = fail(newcomer, "refused")
    stop_the_clock(newcomer)
    button(newcomer, "Start").click()
    expect(newcomer.locator("[data-kept]")).to_have_text(
        "The server does not answer now. This page tries again until it does. Leave it open."
    )
    let_time_pass(newcomer, sent, attempts=2)
    expect(newcomer.get_by_role("heading", level=1, name="Do you agree to take part?")).to_be_visible()


def test_an_objection_of_the_server_is_no_outage(newcomer: Page, study: Study) -> None:
    Participant.objects.filter(study=study).update(step=Step.BACKGROUND)
    newcomer.goto(JOURNEY)
    newcomer.locator("#year").fill("99")
    button(newcomer, "Continue").click()
    expect(newcomer.get_by_role("alert")).to_contain_text("Enter a number from 1 to 8, not 99.")
    expect(newcomer.locator("#year")).to_have_value("99")


def test_closing_the_page_while_answers_wait_is_asked_about(newcomer: Page, study: Study) -> None:
    newcomer.goto(JOURNEY)
    answer_all(newcomer, number=2)
    fail(newcomer, 503)
    button(newcomer, "Submit answers").click()
    expect(newcomer.get_by_text(KEPT)).to_be_visible()
    with newcomer.expect_event("dialog") as asked:
        newcomer.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.accept()
