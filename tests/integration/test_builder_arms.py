"""Arms on the builder's pages: their descriptions, and files that are uploaded, replaced and removed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from accounts.models import Role
from audit.models import Entry
from surveys.models import MediaFile, Study, StudyStatus
from surveys.questions.parts import Text
from surveys.studies.readiness import to_do
from surveys.studies.services import take_back
from tests.factories import LECTURES, draft_study, logged_in, page_of, person, study_in
from tests.integration.test_builder import address, definition_of, errors, inputs

pytestmark = pytest.mark.django_db
VTT = b"WEBVTT\n\n00:00.000 --> 00:02.000\nHello\n"


@pytest.fixture
def study() -> Study:
    return draft_study()


def upload(browser: Client, study: Study, kind: str, name: str, content: bytes, *, arm: str = "slides", language: str = "") -> HttpResponse:
    sent = {"action": "upload", "slot": kind, "language": language, "content": SimpleUploadedFile(name, content)}
    return browser.post(address("build_arm", study, arm), sent)


def current(study: Study) -> set[str]:
    return set(MediaFile.objects.filter(study=study, current=True).values_list("name", flat=True))


@pytest.mark.parametrize("page", [("build_arms",), ("build_arm", "slides")])
def test_saving_a_page_as_it_is_changes_nothing(browser: Client, study: Study, page: tuple[str, ...]) -> None:
    before = definition_of(study)
    where = address(page[0], study, *page[1:])
    assert browser.post(where, inputs(browser.get(where))).status_code == 302
    assert definition_of(study) == before


def test_control_and_watching_are_chosen_on_the_page_of_all_arms(browser: Client, study: Study) -> None:
    page = address("build_arms", study)
    sent = inputs(browser.get(page)) | {"control": "instructor", "mode": "required", "share": "62,5"}
    assert browser.post(page, sent).status_code == 302
    changed = definition_of(study)
    assert (changed.control, changed.watching.mode, changed.watching.share) == ("instructor", "required", 0.625)
    response = browser.post(page, sent | {"control": "nobody", "share": "120"})
    assert set(errors(response)) == {"control", "share"}


def test_an_arm_is_changed_and_its_mistakes_come_back(browser: Client, study: Study) -> None:
    page = address("build_arm", study, "slides")
    sent = inputs(browser.get(page)) | {"label.en": "Slides alone", "weight": "2", "quota": "80", "video.transcript.en": "Hello."}
    assert browser.post(page, sent).status_code == 302
    arm = definition_of(study).arm("slides")
    assert (arm.label.root["en"], arm.weight, arm.quota) == ("Slides alone", 2, 80)
    response = browser.post(page, sent | {"label.en": "", "label.de": "", "weight": "0", "quota": "many"})
    assert set(errors(response)) == {"label.en", "weight", "quota"}
    assert inputs(response)["quota"] == "many"


def test_an_arm_is_added_and_removed_and_one_always_remains(browser: Client, study: Study) -> None:
    page = address("build_arms", study)
    assert set(errors(browser.post(page, {"add": "1", "label.en": ""}))) == {"label.en"}
    assert browser.post(page, {"add": "1", "label.en": "Sound only", "label.de": "Nur Ton"}).status_code == 302
    assert definition_of(study).arm("sound_only").label == Text({"en": "Sound only", "de": "Nur Ton"})
    assert "The file sound_only.mp4 has not been uploaded." in [one.sentence for one in to_do(study)]
    assert browser.post(address("build_arm", study, "slides"), {"action": "remove"}).status_code == 302
    assert [arm.name for arm in definition_of(study).arms] == ["instructor", "sound_only"]
    assert definition_of(study).control == "instructor", "the control was removed"
    assert "slides-only.mp4" not in current(study)
    assert "captions-en.vtt" in current(study), "the other arm needs it"
    for name in ("instructor", "sound_only"):
        assert browser.post(address("build_arm", study, name), {"action": "remove"}).status_code == 302
        (left,) = definition_of(study).arms
        assert (left.name, left.video.sources) == ("sound_only", ()), "the only arm is a survey's; nothing is awaited that is not there"


def test_an_arm_is_copied_and_moved_by_buttons_that_keep_the_focus(browser: Client, study: Study) -> None:
    page = address("build_arms", study)

    def names() -> list[str]:
        return [arm.name for arm in definition_of(study).arms]

    answer = page_of(browser.post(page, {"duplicate": "slides"}, follow=True))
    assert names() == ["slides", "slides_2", "instructor"]
    assert "Copied: the copy is number 2 of 3." in answer.text_content()
    assert answer.xpath("//*[@autofocus]/@value") == ["slides_2"], "the keyboard is at the copy"
    original, copy = definition_of(study).arms[:2]
    label = Text({code: f"{words} (2)" for code, words in original.label.root.items()})
    assert copy == original.model_copy(update={"name": "slides_2", "label": label})
    answer = page_of(browser.post(page, {"move": "down:slides_2"}, follow=True))
    assert names() == ["slides", "instructor", "slides_2"]
    assert answer.xpath("//*[@autofocus]/@value") == ["up:slides_2"], "there is no further down"
    assert definition_of(study).control == "slides"
    for sent in ({"duplicate": "gone"}, {"move": "up:gone"}):
        assert browser.post(page, sent).status_code == 409
    assert len(names()) == 3


def test_a_copy_of_an_arm_shares_files_until_it_is_given_its_own(browser: Client, study: Study) -> None:
    video = LECTURES.joinpath("slides-only.webm").read_bytes()
    for _time in range(2):
        assert upload(browser, study, "video", "first.webm", video).status_code == 302
    browser.post(address("build_arms", study), {"duplicate": "slides"})
    shared = definition_of(study).arm("slides").video
    assert definition_of(study).arm("slides_2").video == shared
    assert upload(browser, study, "video", "second.webm", video).status_code == 302
    sources = definition_of(study).arm("slides").video.sources
    assert sources == (shared.sources[0], "slides.2.webm"), "the copy keeps what it shows"
    assert definition_of(study).arm("slides_2").video == shared
    assert set(sources) | set(shared.sources) <= current(study)
    browser.post(address("build_arm", study, "slides_2"), {"action": "remove"})
    assert "slides.webm" not in current(study)
    assert "slides.2.webm" in current(study)


def test_a_survey_becomes_an_experiment_by_a_copy_of_its_arm() -> None:
    study = draft_study(arms=[{"name": "all", "label": "All"}], control="all", languages=["en"])
    assert logged_in(study.owner).post(address("build_arms", study), {"duplicate": "all"}).status_code == 302
    assert [arm.video.sources for arm in definition_of(study).arms] == [("all.mp4",), ("all_2.mp4",)], "each awaits what it shows"


def test_a_file_is_uploaded_shown_replaced_and_removed(browser: Client, study: Study) -> None:
    video = LECTURES.joinpath("slides-only.webm").read_bytes()
    assert upload(browser, study, "video", "My lecture (final).webm", video).status_code == 302
    assert definition_of(study).arm("slides").video.sources == ("slides-only.mp4", "slides.webm"), "one of each container"
    assert "slides-only.webm" not in current(study)
    assert upload(browser, study, "captions", "c.vtt", VTT, language="de").status_code == 302
    assert definition_of(study).arm("slides").video.captions == {"en": "captions-en.vtt", "de": "slides-de.vtt"}
    shown = page_of(browser.get(address("build_arm", study, "slides")))
    source = shown.xpath('//video//source[@type="video/webm"]/@src')[0]
    assert shown.xpath("//video//track/@srclang") == ["en", "de"]
    assert b"".join(browser.get(source).streaming_content) == video
    assert logged_in(person(Role.INVESTIGATOR)).get(source).status_code == 404
    old = MediaFile.objects.get(study=study, name="slides.webm")
    assert upload(browser, study, "video", "again.webm", video).status_code == 302
    assert MediaFile.objects.get(study=study, name="slides.webm", current=True).pk != old.pk
    browser.post(address("build_arm", study, "slides"), {"action": "remove-file", "file": "slides.webm"})
    browser.post(address("build_arm", study, "slides"), {"action": "remove-file", "file": "slides-only.mp4"})
    assert definition_of(study).arm("slides").video.sources == ("slides.mp4",), "a place to fill"
    assert "The file slides.mp4 has not been uploaded." in [one.sentence for one in to_do(study)]
    assert Entry.objects.filter(action="study.media_removed").count() >= 3


def test_a_removed_file_is_gone_from_the_disk_unless_a_protocol_has_it(
    browser: Client, study: Study, committed: Callable[..., Any]
) -> None:
    poster = MediaFile.objects.get(study=study, name="slides-only.webp")
    with committed():
        browser.post(address("build_arm", study, "slides"), {"action": "remove-file", "file": poster.name})
    assert not Path(poster.file.path).exists()
    assert not MediaFile.objects.filter(pk=poster.pk).exists()
    reviewed = study_in(StudyStatus.APPROVED, slug="reviewed")
    take_back(reviewed, actor=reviewed.owner, reason="another poster")
    poster = MediaFile.objects.get(study=reviewed, name="slides-only.webp")
    with committed():
        logged_in(reviewed.owner).post(address("build_arm", reviewed, "slides"), {"action": "remove-file", "file": poster.name})
    assert Path(poster.file.path).exists()
    poster.refresh_from_db()
    assert not poster.current


def test_a_file_that_is_something_else_is_refused_at_its_place(browser: Client, study: Study) -> None:
    before = definition_of(study)
    response = upload(browser, study, "video", "lecture.mp4", b"not a video at all, only words")
    assert response.status_code == 422
    assert set(errors(response)) == {"content-video"}
    assert "is not an MP4 or WebM video" in response.content.decode()
    assert set(errors(upload(browser, study, "captions", "c.srt", VTT, language="en"))) == {"content-captions-en"}
    assert set(errors(browser.post(address("build_arm", study, "slides"), {"action": "upload", "slot": "poster"}))) == {"content-poster"}
    assert definition_of(study) == before


def test_files_of_a_frozen_study_stay() -> None:
    study = study_in(StudyStatus.IN_REVIEW)
    browser, before = logged_in(study.owner), current(study)
    assert upload(browser, study, "captions", "c.vtt", VTT, language="de").status_code == 409
    assert browser.post(address("build_arm", study, "slides"), {"action": "remove-file", "file": "slides-only.webp"}).status_code == 409
    assert browser.post(address("build_arm", study, "slides"), {"action": "remove"}).status_code == 409
    assert current(study) == before
    assert "data-upload" not in browser.get(address("build_arm", study, "slides")).content.decode()
