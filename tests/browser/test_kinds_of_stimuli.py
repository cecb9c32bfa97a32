"""Pictures, recordings, several pages and a task on another site, in a real Chromium: every screen, keyboard, paper, the builder."""

import gzip
import os
import re
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict
from playwright.sync_api import Page, Route, expect

from accounts.models import Role
from surveys.models import CounterKind, MediaFile, ShardedCounter, Study
from tests.browser.conftest import Complaints
from tests.browser.people import become
from tests.browser.staff import log_in
from tests.factories import PASSWORD, address_of, draft_study, person, recruiting_study, token_of
from tests.stimuli import IMAGE, arms_with, in_arm
from tests.unit.surveys.media.test_audio_files import sound

Check = Callable[[Page], None]
SCREENS = os.environ.get("STIMULI_SCREENS", "")


def png(width: int, height: int) -> bytes:
    """A picture of one colour."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    rows = b"".join(b"\x00" + b"\x30\x60\x90" * width for _ in range(height))
    parts = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, content) for name, content in parts)


def with_real_files(study: Study) -> Study:
    """The study, with pictures and recordings that a browser shows and plays."""
    hum = sound(seconds=4)
    for media in MediaFile.objects.filter(study=study):
        if media.media_type.startswith(("image/", "audio/")):
            content = png(800, 500) if media.media_type.startswith("image/") else hum
            Path(media.file.path).write_bytes(content)
    return study


def eventually(page: Page, element: str, script: str) -> None:
    """Wait until the script says yes of this element."""
    end = time.monotonic() + 60
    while not page.locator(element).evaluate(script):
        assert time.monotonic() < end, f"still not {script}"
        page.wait_for_timeout(50)


def look(page: Page, name: str) -> None:
    if SCREENS:
        page.screenshot(path=f"{SCREENS}/{name}.png", full_page=True)


@pytest.fixture
def study(transactional_db: None) -> Study:
    return with_real_files(recruiting_study(**arms_with("image", "audio", "pages", "task"), background=[], quiz=[]))


def page_in(new_page: Callable[..., Page], site: str, study: Study, arm: str, **options: Any) -> Page:
    page = new_page(**options)
    become(page.context, site, token_of(in_arm(study, arm)))
    page.goto(address_of(study))
    return page


def test_every_kind_fits_the_screen_and_serves_screen_readers(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study, assert_accessible: Check, assert_fits: Check
) -> None:
    for arm in ("arm-image", "arm-audio", "arm-pages", "arm-task"):
        page = page_in(new_page, site, study, arm)
        page.wait_for_load_state()
        expect(page).to_have_title("What we show you – Candor")
        if (details := page.locator("main details").first).count():
            details.locator("summary").click()
        for width in (1280, 390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert_accessible(page)
            assert_fits(page)
            look(page, f"{arm}-{width}")
        weight_of(page)
        page.emulate_media(media="print")
        expect(page.locator("main h1")).to_be_visible()
        page.close()


def weight_of(page: Page) -> None:
    """HTML, styles and scripts of the page, compressed, are at most 30 kB."""
    parts = "link[rel=stylesheet], link[rel=modulepreload], script[src]"
    loaded = "(parts) => [...document.querySelectorAll(parts)].map((one) => one.href ?? one.src)"
    addresses = [page.url, *page.evaluate(loaded, parts)]
    bodies = {address: page.request.get(address).body() for address in dict.fromkeys(addresses)}
    assert sum(len(gzip.compress(body)) for body in bodies.values()) < 30_000


def test_a_picture_is_loaded_from_this_site_and_has_words(new_page: Callable[..., Page], site: str, study: Study) -> None:
    page = page_in(new_page, site, study, "arm-image")
    picture = page.get_by_role("img", name=IMAGE["alternative"]["en"])
    expect(picture).to_be_visible()
    eventually(page, "main img", "picture => picture.naturalWidth === 800")
    assert re.fullmatch(rf"{address_of(study)}media/[0-9a-f-]{{36}}/", picture.get_attribute("src") or "")


def test_a_recording_is_played_by_keyboard_and_opens_the_way_on(new_page: Callable[..., Page], site: str, transactional_db: None) -> None:
    changes = arms_with("audio") | {"watching": {"mode": "required", "share": 0.8}}
    study = recruiting_study(**changes, background=[], quiz=[])
    with_real_files(study)
    page = page_in(new_page, site, study, "arm-audio")
    audio = page.locator("audio")
    expect(page.get_by_role("button", name="Continue", exact=True)).to_be_disabled()
    expect(page.get_by_role("status")).to_have_text("You have heard 0 of 10 parts; Continue opens at 8.")
    audio.focus()
    audio.press(">")
    assert audio.evaluate("audio => audio.playbackRate") == 1.25
    expect(page.get_by_label("Speed")).to_have_value("1.25")
    audio.press("Space")
    eventually(page, "audio", "audio => audio.currentTime > 0.2")
    expect(page.locator("audio")).to_have_attribute("aria-label", "Recording")


def test_somebody_goes_to_another_site_and_comes_back(
    new_page: Callable[..., Page], complaints: Complaints, site: str, study: Study
) -> None:
    complaints.expected.append("request to elsewhere: GET https://task.example.org/")
    page = page_in(new_page, site, study, "arm-task")
    asked: list[str] = []

    def elsewhere(route: Route) -> None:
        asked.append(route.request.headers.get("referer", ""))
        back = QueryDict(route.request.url.partition("?")[2])["back"]
        route.fulfill(content_type="text/html", body=f'<!doctype html><title>Cards</title><h1>Cards</h1><a href="{back}">Done</a>')

    page.context.route("https://task.example.org/**", elsewhere)
    page.get_by_role("link", name="Go to the task").press("Enter")
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_role("heading", level=1, name="Welcome back")).to_be_visible()
    look(page, "come-back")
    page.get_by_role("button", name="Continue").press("Enter")
    expect(page.get_by_role("button", name="Roll the die")).to_be_visible()
    assert asked == [""], "the other site is told no address but in the way back"
    page.go_back()
    assert not ShardedCounter.objects.filter(study=study, kind=CounterKind.TASK_NOT_DONE).exists()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_builder_shows_every_kind(
    new_page: Callable[..., Page], transactional_db: None, assert_accessible: Check, assert_fits: Check, width: int
) -> None:
    owner = person(Role.INVESTIGATOR)
    study = with_real_files(draft_study(owner=owner, **arms_with("image", "audio", "reading", "pages", "task")))
    page = new_page(viewport={"width": width, "height": 900})
    log_in(page, owner.username, PASSWORD, address=f"/studies/{study.slug}/build/arms/")
    places = ["", "arm-image/", "arm-audio/", "arm-reading/", "arm-task/", "arm-pages/", "arm-pages/first/", "arm-pages/third/"]
    for place in places:
        page.goto(f"/studies/{study.slug}/build/arms/{place}")
        assert_accessible(page)
        assert_fits(page)
        look(page, f"builder-{place.replace('/', '-')}{width}")
    page.goto(f"/studies/{study.slug}/build/arms/arm-task/")
    expect(page.get_by_label("Address of the task")).to_be_visible()
    expect(page.get_by_label("What the picture shows")).to_have_count(0)
    page.get_by_label("A picture", exact=True).check()
    expect(page.get_by_label("Address of the task")).to_be_hidden()
    page.goto(f"/studies/{study.slug}/build/arms/arm-pages/")
    page.get_by_role("button", name="Move down: page 1").press("Enter")
    expect(page.get_by_role("link", name="Page 1: A recording to hear")).to_be_visible()
    page.get_by_label("Another page after this").select_option("image")
    page.get_by_role("button", name="Add the page").click()
    expect(page.get_by_role("heading", level=1, name="pages, page 4")).to_be_visible()
    page.get_by_label("File: Picture").set_input_files({"name": "town.png", "mimeType": "image/png", "buffer": png(300, 200)})
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("The file was checked and is there.")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
