"""The lecture page in a real Chromium: which seconds count as watched, when Continue opens, and what happens when the connection drops."""

import re
import time
from collections.abc import Callable
from dataclasses import fields
from typing import Any
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser import lecture_site
from tests.browser.conftest import Complaints
from tests.browser.lecture_site import NEXT_PAGE, SECONDS, Desk

pytestmark = pytest.mark.urls("tests.browser.lecture_site")
LECTURE = "/s/lectures/"
FAST = 8.0  # Chromium counts every second that it plays, however fast


@pytest.fixture
def desk() -> Desk:
    """The recording server of this test, reset."""
    fresh = Desk()
    for each in fields(Desk):
        setattr(lecture_site.desk, each.name, getattr(fresh, each.name))
    return lecture_site.desk


def eventually(page: Page, script: str, expected: Callable[[Any], bool], *, seconds: float = 60) -> Any:
    """The result of `script` on the video, once it is as expected."""
    end = time.monotonic() + seconds
    while not expected(value := say(page, script)):
        assert time.monotonic() < end, f"still {value!r} after {seconds} seconds"
        page.wait_for_timeout(50)
    return value


def say(page: Page, script: str) -> Any:
    return page.locator("video").evaluate(f"video => {script}")


def play(page: Page, *, rate: float = FAST, start: float | None = None) -> None:
    if start is not None:
        say(page, f"video.currentTime = {start}")
    say(page, f"{{ video.muted = true; video.playbackRate = {rate}; return video.play(); }}")


def play_until(page: Page, seconds: float, *, start: float | None = None) -> None:
    """Play to this place, and pause there in the page: a slow machine would hear of the place when the video is long past it."""
    page.locator("video").evaluate(
        """(video, [start, end, rate]) => new Promise((paused, failed) => {
            const stop = () => { if (video.currentTime > end) video.pause(); };
            video.addEventListener("timeupdate", stop);
            video.addEventListener("pause", () => { video.removeEventListener("timeupdate", stop); paused(null); }, { once: true });
            if (start !== null) video.currentTime = start;
            Object.assign(video, { muted: true, playbackRate: rate });
            video.play().catch(failed);
        })""",
        [start, seconds, FAST],
    )


def all_is_reported(page: Page) -> Any:
    """A context that ends once the server has listened to the last tenth."""
    return page.expect_response(lambda response: "/progress/" in response.url and share_in(response.request) == 1, timeout=60_000)


def share_in(request: Request) -> float:
    """The watched share that the page reports by this request."""
    return float(parse_qs(request.post_data or "")["share"][0])


def proceed(page: Page) -> Any:
    return page.get_by_role("button", name="Continue", exact=True)


def test_continue_opens_when_the_required_share_has_been_watched(page: Page, desk: Desk) -> None:
    told: list[float] = []
    page.on("request", lambda request: told.append(share_in(request)) if "/progress/" in request.url else None)
    page.goto(LECTURE)
    status = page.get_by_role("status")
    expect(proceed(page)).to_be_disabled()
    expect(status).to_have_text("You have watched 0 of 10 parts; Continue opens at 8.")
    play(page, rate=2)  # time to look before it is over
    expect(status).to_have_text(re.compile("You have watched [1-7] of 10 parts; Continue opens at 8."))
    expect(proceed(page)).to_be_disabled()
    with all_is_reported(page):
        say(page, f"video.playbackRate = {FAST}")
        expect(proceed(page)).to_be_enabled()
        expect(status).to_have_text(re.compile(r"You have watched (8|9|10) of 10 parts\. You can continue\."))
        eventually(page, "video.ended", bool)
        expect(status).to_have_text("You have watched 10 of 10 parts. You can continue.")
    proceed(page).click()
    expect(page).to_have_title(re.compile(NEXT_PAGE))
    assert desk.submitted == [{"step": "video", "whose": "", "page": "0", "opened": desk.opened}]
    assert told == sorted(set(told)), "each tenth is reported once, and they rise"
    assert set(told) <= {tenths / 10 for tenths in range(1, 11)}
    assert told[-1] == 1
    assert max(desk.shares) == 1
    assert 206 in desk.statuses


def test_seeking_ahead_does_not_count_as_watching(page: Page, desk: Desk) -> None:
    page.goto(LECTURE)
    play(page, start=SECONDS - 2, rate=1)
    eventually(page, "video.ended", bool)
    expect(page.get_by_role("status")).to_have_text(re.compile("You have watched [01] of 10 parts; Continue opens at 8."))
    expect(proceed(page)).to_be_disabled()
    assert max(desk.shares, default=0) <= 0.1


def test_watching_a_part_twice_counts_once(page: Page, desk: Desk) -> None:
    page.goto(LECTURE)
    for _ in range(3):
        play_until(page, 9, start=0)
    assert int(page.get_by_role("status").inner_text().split()[3]) <= 6
    expect(proceed(page)).to_be_disabled()


def test_continue_is_open_at_once_when_watching_is_optional(page: Page, desk: Desk) -> None:
    desk.watch = "optional"
    page.goto(LECTURE)
    expect(proceed(page)).to_be_enabled()
    with all_is_reported(page):
        play(page)
        eventually(page, "video.ended", bool)
        expect(page.get_by_role("status")).to_have_text("You have watched 10 of 10 parts. You can continue.")
    assert max(desk.shares) == 1


def test_a_reload_keeps_what_was_watched_and_offers_to_resume(page: Page, desk: Desk) -> None:
    page.goto(LECTURE)
    expect(page.get_by_role("button", name="Resume at")).to_be_hidden()
    play_until(page, 10)
    stopped_at = say(page, "video.currentTime")
    before = page.get_by_role("status").inner_text()
    page.reload()
    expect(page.get_by_role("status")).to_have_text(before)
    page.get_by_role("button", name=f"Resume at 0:{int(stopped_at):02}").click()
    eventually(page, "[video.paused, video.currentTime]", lambda now: not now[0] and now[1] >= stopped_at)
    expect(page.get_by_role("button", name="Resume at")).to_be_hidden()
    play(page)
    expect(proceed(page)).to_be_enabled()
    with page.expect_navigation():
        proceed(page).click()
    assert page.evaluate("sessionStorage.length") == 0


def test_on_another_device_the_lecture_resumes_where_the_server_knows(page: Page, desk: Desk) -> None:
    desk.watched_share = 0.5
    page.goto(LECTURE)
    expect(page.get_by_role("status")).to_have_text("You have watched 5 of 10 parts; Continue opens at 8.")
    with page.expect_response("**/progress/"):
        page.get_by_role("button", name="Resume at 0:13").click()
        play(page)
    expect(proceed(page)).to_be_enabled()
    assert min(desk.shares) > 0.5  # a slow machine may leave tenths out, but never starts again


def test_earlier_watching_counts_when_the_page_opens(page: Page, desk: Desk) -> None:
    desk.watched_share = 0.8
    page.goto(LECTURE)
    expect(proceed(page)).to_be_enabled()
    assert desk.shares == []


@pytest.mark.parametrize("reports_lost", [4, 10])
def test_a_dropped_line_loses_no_progress(page: Page, desk: Desk, complaints: Complaints, reports_lost: int) -> None:
    complaints.expected.append("/progress/")
    sent: list[Request] = []

    def carry(route: Route, request: Request) -> None:
        sent.append(request)
        if len(sent) <= reports_lost and not desk.submitted:
            route.abort()
        else:
            route.continue_()

    page.route("**/progress/", carry)
    page.goto(LECTURE)
    play(page)
    eventually(page, "video.ended", bool)
    expect(page.get_by_role("status")).to_have_text("You have watched 10 of 10 parts. You can continue.")
    page.wait_for_timeout(200)
    reports_lost = 0
    proceed(page).click()
    expect(page).to_have_title(re.compile(NEXT_PAGE))
    assert max(desk.shares) == 1
    assert desk.submitted == [{"step": "video", "whose": "", "page": "0", "opened": desk.opened}]


def test_a_lecture_that_does_not_load_says_what_to_do_and_can_be_tried_again(page: Page, desk: Desk, complaints: Complaints) -> None:
    complaints.expected.append("/m/token")
    page.route(re.compile("/m/token(webm|mp4)"), lambda route: route.abort())
    page.goto(LECTURE)
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("The lecture does not play")
    expect(problem).to_contain_text("open your personal link in another browser")  # the page itself would begin anew there
    page.unroute(re.compile("/m/token(webm|mp4)"))
    page.get_by_role("button", name="Try again").click()
    eventually(page, "!video.paused && video.currentTime > 0", bool)
    expect(problem).to_be_hidden()


@pytest.mark.parametrize(("language", "label"), [("en", "English"), ("de", "Deutsch")])
def test_captions_are_on_in_the_language_of_the_page_and_c_switches_them(page: Page, desk: Desk, language: str, label: str) -> None:
    desk.language = language
    page.goto(LECTURE)
    showing = "[...video.textTracks].filter(track => track.mode === 'showing').map(track => track.label)"
    assert eventually(page, showing, bool) == [label]
    eventually(page, "[...video.textTracks].find(track => track.mode === 'showing').cues?.length", lambda cues: cues == 10)
    page.locator("video").focus()
    page.keyboard.press("c")
    assert say(page, showing) == []
    page.keyboard.press("c")
    assert say(page, showing) == [label]


def test_the_keys_that_the_page_names_work_on_the_video(page: Page, desk: Desk) -> None:
    page.goto(LECTURE)
    eventually(page, "video.readyState", lambda ready: ready >= 1)
    speed = page.get_by_label("Speed")
    page.locator("video").focus()
    for key, rate in [(">", "1.25"), (">", "1.5"), ("<", "1.25"), ("<", "1"), ("<", "0.75"), ("<", "0.75")]:
        page.keyboard.press(key)
        assert say(page, "video.playbackRate") == float(rate)
        expect(speed).to_have_value(rate)
    for key, position in [("ArrowRight", 5), ("ArrowRight", 10), ("ArrowLeft", 5), ("ArrowLeft", 0), ("ArrowLeft", 0)]:
        page.keyboard.press(key)
        eventually(page, "video.seeking ? -1 : video.currentTime", lambda now, position=position: now == pytest.approx(position))
    page.keyboard.press(" ")
    eventually(page, "video.paused", lambda paused: not paused)
    page.keyboard.press(" ")
    eventually(page, "video.paused", bool)
    speed.select_option("2")
    assert say(page, "video.playbackRate") == 2


def test_nothing_that_the_browser_gets_names_the_arm(page: Page, desk: Desk) -> None:
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("response", lambda response: seen.append(str(response.headers)))
    page.goto(LECTURE)
    play(page)
    eventually(page, "video.ended", bool)
    seen.append(page.content())
    assert any("/m/tokenwebm" in each for each in seen)
    assert not [each for each in seen if re.search("instructor|slides-only|treatment", each)]


def test_the_page_is_accessible_and_fits_a_phone(
    phone: Page, page: Page, desk: Desk, assert_accessible: Callable[[Page], None], assert_fits: Callable[[Page], None]
) -> None:
    for each in (phone, page):
        each.goto(LECTURE)
        expect(each.get_by_role("status")).to_be_visible()
        each.get_by_text("Read what is said and shown").click()
        assert_accessible(each)
        assert_fits(each)


def test_without_javascript_the_lecture_plays_and_continue_goes_to_the_server(new_page: Callable[..., Page], desk: Desk) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(LECTURE)
    expect(page.locator("noscript .notice")).to_be_visible()  # Playwright finds no text inside noscript
    expect(page.get_by_label("Speed")).to_be_hidden()
    proceed(page).click()
    expect(page).to_have_title(re.compile(NEXT_PAGE))
    assert desk.submitted == [{"step": "video", "whose": "", "page": "0", "opened": desk.opened}]
