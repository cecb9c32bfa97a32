"""A lecture in an object store plays and seeks in a real Chromium, which asks our server alone; with direct links, the store."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from playwright.sync_api import Page, Response
from pytest_django import Settings

from config import content_security
from surveys.media.services import add_media_file
from surveys.media.stores import copies
from surveys.models import MediaFile, Study
from tests.browser.conftest import Complaints
from tests.browser.test_ledger_page import log_in_as
from tests.factories import LECTURES, draft_study
from tests.object_store import Store, object_store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with object_store(tmp_path_factory.mktemp("objects") / "store") as running:
        yield running


@pytest.fixture(params=["own", "direct"])
def links(request: pytest.FixtureRequest, server: Store, settings: Settings, tmp_path: Path) -> Iterator[str]:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    settings.MEDIA_BUCKET, at_store = server.settings(tmp_path.name, links=request.param)
    settings.STORAGES = {**settings.STORAGES, "default": at_store}
    yield request.param
    for thread in threading.enumerate():
        if thread.name == "copy of a stored file":
            thread.join(30)
    default_storage.close()  # type: ignore[attr-defined]


def lecture_in(study: Study) -> MediaFile:
    name = "with-instructor.webm"
    content = SimpleUploadedFile(name, (LECTURES / name).read_bytes())
    return add_media_file(study, name=name, content=content, actor=study.owner)


def test_a_lecture_plays_and_seeks(
    links: str, server: Store, monkeypatch: pytest.MonkeyPatch, new_page: Callable[..., Page], complaints: Complaints, site: str
) -> None:
    study = draft_study()
    media = lecture_in(study)
    copies.forget(media.sha256)  # as on a host to which it was not uploaded
    answers: list[Response] = []
    page = new_page()
    log_in_as(page, study.owner)
    if links == "direct":
        complaints.expected.append(server.endpoint)
        allowed = content_security.POLICY.replace("media-src 'self'", f"media-src 'self' {server.endpoint}")
        monkeypatch.setattr(content_security, "POLICY", allowed)
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"/studies/{study.slug}/")
    for round_ in ("through the server", "from the copy"):
        page.evaluate(
            """async source => {
                document.querySelector("#tried")?.remove();
                const video = document.createElement("video");
                video.id = "tried"; video.muted = true; video.preload = "metadata"; video.src = source;
                document.body.append(video);
                await new Promise((done, fail) => { video.onloadedmetadata = done; video.onerror = () => fail(video.error.message); });
                const seeked = new Promise(done => { video.onseeked = done; });
                video.currentTime = video.duration - 2;
                await seeked;
                await video.play();
                video.pause();
            }""",
            f"/studies/{study.slug}/preview/media/{media.pk}/?{round_.replace(' ', '-')}",
        )
        assert page.locator("#tried").evaluate("video => video.currentTime > video.duration - 2.5")
        if links == "own":
            end = time.monotonic() + 20
            while not copies.copy_of(media.sha256):
                assert time.monotonic() < end
                time.sleep(0.05)
    media_answers = [answer for answer in answers if str(media.pk) in answer.url or media.pk.hex in answer.url]
    assert 206 in {answer.status for answer in media_answers}
    origins = {answer.url.split("/", 3)[2] for answer in media_answers if answer.status == 206}
    assert origins == {site.partition("//")[2] if links == "own" else server.endpoint.partition("//")[2]}
